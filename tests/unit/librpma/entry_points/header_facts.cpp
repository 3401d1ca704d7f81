// SPDX-License-Identifier: BSD-3-Clause
#include "header_facts.hpp"

#include <cctype>
#include <fstream>
#include <sstream>

namespace entry_points {

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

bool contains(const std::string& text, const char* part) {
    return text.find(part) != std::string::npos;
}

/// The texts behind each @tag of a comment, without line breaks and stars.
std::vector<std::string> tags(const std::string& comment) {
    std::vector<std::string> found;
    std::istringstream lines(comment);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = line.find_first_not_of(" *");
        const std::string text = begin == std::string::npos ? "" : line.substr(begin);
        if (!text.empty() && text[0] == '@') {
            found.push_back(text);
        } else if (!found.empty()) {
            found.back() += " " + text;
        }
    }
    return found;
}

void add_error(const std::string& tag, Function& function) {
    const std::string code = tag.substr(7, tag.find(':') - 7);
    function.errors.insert(code);
    if (contains(tag, "never returned")) {
        function.never.insert(code);
    }
}

/// Whether the text of a parameter allows NULL. What an output may become is another matter.
bool may_be_null(const std::string& tag) {
    const bool output = contains(tag, "[out]") || contains(tag, "[in,out]");
    return contains(tag, "may be NULL") || contains(tag, "RPMA_LOG_USE_DEFAULT_FUNCTION") ||
           (!output && (contains(tag, "or NULL") || contains(tag, "NULL for")));
}

std::string name_of(const std::string& parameter) {
    const std::string name = parameter.substr(0, parameter.find('['));
    std::size_t begin = name.size();
    while (begin > 0 && is_word(name[begin - 1])) {
        --begin;
    }
    return name.substr(begin);
}

void add_pointers(const std::string& parameters, const std::vector<std::string>& texts,
                  Function& function) {
    std::istringstream stream(parameters);
    for (std::string parameter; std::getline(stream, parameter, ',');) {
        if (!contains(parameter, "*") && !contains(parameter, "[")) {
            continue;
        }
        const std::string name = name_of(parameter);
        bool optional = false;
        for (const std::string& text : texts) {
            if (contains(text, (" " + name + " ").c_str()) && text.rfind("@param", 0) == 0) {
                optional = may_be_null(text);
                break;
            }
        }
        if (!optional) {
            function.pointers.push_back(name);
        }
    }
}

}  // namespace

std::vector<Function> read_header(const std::string& path) {
    std::ifstream file(path);
    std::stringstream whole;
    whole << file.rdbuf();
    const std::string text = whole.str();
    std::vector<Function> functions;
    for (std::size_t at = 0; (at = text.find("\n/**\n", at)) != std::string::npos;) {
        const std::size_t end = text.find("*/\n", at);
        const std::size_t stop = text.find(';', end);
        const std::string comment = text.substr(at, end - at);
        const std::string prototype = text.substr(end + 3, stop - end - 3);
        const std::size_t bracket = prototype.find('(');
        at = end;
        if (!contains(comment, "@brief") || bracket == std::string::npos) {
            continue;
        }
        Function function;
        function.name = name_of(prototype.substr(0, bracket));
        const std::vector<std::string> texts = tags(comment);
        for (const std::string& tag : texts) {
            if (tag.rfind("@error ", 0) == 0) {
                add_error(tag, function);
            } else if (tag.rfind("@threads ", 0) == 0) {
                function.threads = tag.substr(9);
            }
        }
        add_pointers(prototype.substr(bracket + 1, prototype.rfind(')') - bracket - 1), texts,
                     function);
        functions.push_back(function);
    }
    return functions;
}

}  // namespace entry_points
