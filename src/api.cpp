// SPDX-License-Identifier: BSD-3-Clause
#include "api.hpp"

#include <cerrno>

#include "err.hpp"

namespace rpma {

int refuse_null(std::initializer_list<NamedPointer> arguments, Where where, Origin origin) {
    for (const NamedPointer& argument : arguments) {
        if (argument.pointer == nullptr) {
            log_line(where, origin, RPMA_LOG_LEVEL_ERROR, "%s must not be NULL", argument.name);
            return RPMA_E_INVAL;
        }
    }
    return 0;
}

int finish(const Status& status, Where where, Origin origin) {
    if (status.ok()) {
        return 0;
    }
    if (status.code() != RPMA_E_NO_EVENT) {
        log_line(where, origin, RPMA_LOG_LEVEL_ERROR, "%s%s", status.text(),
                 advice_for(status.error_number()));
    }
    if (status.error_number() != 0) {
        errno = status.error_number();
    }
    return status.code();
}

}  // namespace rpma
