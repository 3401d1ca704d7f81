// SPDX-License-Identifier: BSD-3-Clause
#include "driver/options.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "driver/report.hpp"

namespace driver {

Options::Options(int argc, char** argv, const std::vector<std::string>& known) {
    int index = 1;
    for (; index < argc && std::string_view(argv[index]).starts_with("--"); index += 2) {
        const std::string name = argv[index] + 2;
        if (name.empty()) {
            ++index;
            break;
        }
        if (std::find(known.begin(), known.end(), name) == known.end() || index + 1 >= argc) {
            errno = EINVAL;
            give_up("option --%s", name.c_str());
        }
        values_[name].emplace_back(argv[index + 1]);
    }
    rest_.assign(argv + std::min(index, argc), argv + argc);
}

const std::vector<std::string>& Options::all(const std::string& name) const {
    static const std::vector<std::string> none;
    const auto found = values_.find(name);
    return found == values_.end() ? none : found->second;
}

std::string Options::one(const std::string& name, std::string_view otherwise) const {
    const std::vector<std::string>& values = all(name);
    return values.empty() ? std::string(otherwise) : values.back();
}

int Options::number(const std::string& name, int otherwise) const {
    const std::vector<std::string>& values = all(name);
    return values.empty() ? otherwise
                          : static_cast<int>(std::strtol(values.back().c_str(), nullptr, 10));
}

std::vector<std::string> launcher_words(const std::string& launcher) {
    const char* choice = std::getenv("RPMA_TEST_LAUNCHER");
    if (launcher.empty() || (choice != nullptr && std::string_view(choice) == "none")) {
        return {};
    }
    return {program_path(launcher), "run", "--"};
}

std::string test_address() {
    const char* address = std::getenv("RPMA_TEST_ADDRESS");
    return address == nullptr ? "127.0.0.1" : address;
}

std::string program_path(const std::string& path) {
    return path.find('/') == std::string::npos ? path : std::filesystem::absolute(path).string();
}

std::vector<std::string> split_words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) {
        words.push_back(word);
    }
    return words;
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
}

}  // namespace driver
