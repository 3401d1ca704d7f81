// SPDX-License-Identifier: BSD-3-Clause
// Command lines of the drivers: --name VALUE pairs, each option any number of times, then words.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace driver {

class Options {
public:
    // Gives up with the list of known options on anything else. What follows "--" or the first word
    // without dashes is rest().
    Options(int argc, char** argv, const std::vector<std::string>& known);

    const std::vector<std::string>& all(const std::string& name) const;
    std::string one(const std::string& name, std::string_view otherwise) const;
    int number(const std::string& name, int otherwise) const;
    const std::vector<std::string>& rest() const { return rest_; }

private:
    std::map<std::string, std::vector<std::string>> values_;
    std::vector<std::string> rest_;
};

// The words that start a program on the software device; none where the environment's
// RPMA_TEST_LAUNCHER is "none", which is how the same tests run on the machine's own device.
std::vector<std::string> launcher_words(const std::string& launcher);

// RPMA_TEST_ADDRESS or 127.0.0.1.
std::string test_address();

// Programs run in a directory of their own, so a path is made absolute; a bare name is looked up in
// PATH.
std::string program_path(const std::string& path);

std::vector<std::string> split_words(const std::string& text);
void append(std::vector<std::string>& words, const std::vector<std::string>& more);

}  // namespace driver
