// SPDX-License-Identifier: BSD-3-Clause
// The one error type of the library: a code of the C API, an errno value and a sentence. The core
// returns it; the C boundary turns it into the code and one log line (see api.hpp).
#pragma once

#include <cstddef>

namespace rpma {

class [[nodiscard]] Status {
public:
    /// Success.
    Status() = default;
    /// A failure described by the library itself. code: an RPMA_E_* value.
    static Status failure(int code, const char* format, ...) __attribute__((format(printf, 2, 3)));
    /// A failure with an errno value; the text of err is appended. err 0: no reason was given.
    static Status system(int code, int err, const char* format, ...)
        __attribute__((format(printf, 3, 4)));
    static Status out_of_memory();

    [[nodiscard]] bool ok() const { return code_ == 0; }
    [[nodiscard]] int code() const { return code_; }
    /// errno value behind the failure, 0 if there is none.
    [[nodiscard]] int error_number() const { return errno_; }
    [[nodiscard]] const char* text() const { return text_; }
    /// Appends to the sentence, for a hint at what the user can do.
    void append(const char* format, ...) __attribute__((format(printf, 2, 3)));
    /// Takes over other's failure unless there is one already: the first error is the one told.
    void keep_first(const Status& other);

private:
    static constexpr std::size_t kTextSize = 960;

    int code_ = 0;
    int errno_ = 0;
    char text_[kTextSize] = "";
};

}  // namespace rpma
