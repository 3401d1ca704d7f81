// SPDX-License-Identifier: BSD-3-Clause
#include "status.hpp"

#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "err.hpp"
#include "public.hpp"

namespace rpma {

Status Status::failure(int code, const char* format, ...) {
    Status status;
    status.code_ = code;
    va_list args;
    va_start(args, format);
    std::vsnprintf(status.text_, kTextSize, format, args);
    va_end(args);
    return status;
}

Status Status::system(int code, int err, const char* format, ...) {
    Status status;
    status.code_ = code;
    status.errno_ = err;
    va_list args;
    va_start(args, format);
    std::vsnprintf(status.text_, kTextSize, format, args);
    va_end(args);
    char reason[kErrnoTextSize];
    status.append(": %s", errno_text(err, reason));
    return status;
}

Status Status::out_of_memory() {
    return failure(RPMA_E_NOMEM, "out of memory");
}

void Status::append(const char* format, ...) {
    const std::size_t used = std::strlen(text_);
    va_list args;
    va_start(args, format);
    std::vsnprintf(text_ + used, kTextSize - used, format, args);
    va_end(args);
}

void Status::keep_first(const Status& other) {
    if (ok()) {
        *this = other;
    }
}

}  // namespace rpma
