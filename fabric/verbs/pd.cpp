// SPDX-License-Identifier: BSD-3-Clause
#include "verbs/pd.hpp"

#include "verbs/api.hpp"
#include "verbs/context.hpp"

using namespace fabric::verbs;

FABRIC_API ibv_pd* ibv_alloc_pd(ibv_context* context) {
    static std::atomic<std::uint32_t> handles{0};
    auto* const pd = new Pd;
    pd->shown.context = context;
    pd->shown.handle = ++handles;
    Context::of(context).add_user();
    return &pd->shown;
}

FABRIC_API int ibv_dealloc_pd(ibv_pd* pd) {
    Pd& self = Pd::of(pd);
    if (self.birth.inherited())
        return 0;
    if (self.users.load() != 0)
        return EBUSY;
    Context& context = Context::of(pd->context);
    delete &self;
    context.drop_user();
    return 0;
}
