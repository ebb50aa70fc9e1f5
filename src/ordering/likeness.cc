// SPDX-License-Identifier: Apache-2.0
#include "ordering/likeness.h"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/hash.h"

namespace berth::ordering {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr std::size_t kLongHex = 6;  // shorter ones are words, such as "face"

char lower(char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
}

// "Train-17-3fa2b9c" -> "train-#-#"
std::string stem(std::string_view text) {
    std::string from(text);
    std::ranges::transform(from, from.begin(), lower);
    std::string stem;
    for (std::size_t at = 0; at < from.size();) {
        const std::size_t hex = std::min(from.find_first_not_of(kHexDigits, at), from.size());
        const std::size_t end = std::min(from.find_first_not_of(kDigits, at), from.size());
        const std::string_view run = std::string_view(from).substr(at, hex - at);
        const bool is_long_hex =
            run.size() >= kLongHex && run.find_first_of(kDigits) != std::string_view::npos;
        if (is_long_hex || end > at) {
            stem += '#';
            at = is_long_hex ? hex : end;
        } else {
            stem += from[at++];
        }
    }
    return stem;
}

std::vector<std::string_view> words_of(std::string_view command) {
    constexpr std::string_view kBetween = " \t\n'\";&|()";
    std::vector<std::string_view> words;
    for (std::size_t at = 0; (at = command.find_first_not_of(kBetween, at)) < command.size();) {
        const std::size_t end = std::min(command.find_first_of(kBetween, at), command.size());
        words.push_back(command.substr(at, end - at));
        at = end;
    }
    return words;
}

bool is_option(std::string_view word) { return word.starts_with('-'); }

// "/data/src/train.py" -> "train.py"
std::string_view base_name(std::string_view path) {
    const std::size_t slash = path.find_last_of('/');
    return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_script(std::string_view word) {
    constexpr std::string_view kEndings[] = {".py", ".sh", ".jl", ".r", ".lua", ".pl", ".js"};
    const auto ends_so = [&](std::string_view ending) { return word.ends_with(ending); };
    return !is_option(word) && word.find('=') == std::string_view::npos &&
           std::ranges::any_of(kEndings, ends_so);
}

// What a command runs, such as "python train.py" or "berth-trainer".
std::string program(std::string_view command) {
    std::vector<std::string_view> words = words_of(command);
    const auto sets_variable = [](std::string_view word) {
        return word == "env" || (!is_option(word) && word.find('=') != std::string_view::npos);
    };
    words.erase(words.begin(), std::ranges::find_if_not(words, sets_variable));
    if (words.empty()) return {};
    std::string program(base_name(words[0]));
    const auto script = std::ranges::find_if(words.begin() + 1, words.end(), is_script);
    if (script != words.end()) return program + " " + std::string(base_name(*script));
    const auto module = std::ranges::find(words, "-m");
    if (module != words.end() && module + 1 != words.end()) {
        return program + " " + std::string(module[1]);
    }
    if (words.size() > 1 && !is_option(words[1])) program += " " + std::string(words[1]);
    return program;
}

// Texts that are cut elsewhere are others. 0 says that nothing is known.
std::uint64_t hash(std::initializer_list<std::string_view> texts) {
    std::uint64_t hash = base::kHashOfNothing;
    for (bool is_first = true; const std::string_view text : texts) {
        if (!is_first) hash = base::hash(0, hash);
        is_first = false;
        hash = base::hash(text, hash);
    }
    return hash == 0 ? 1 : hash;
}

}  // namespace

std::string stem_of_name(std::string_view name) { return stem(name); }

std::string stem_of_command(std::string_view command) { return stem(program(command)); }

Likenesses likenesses_of(std::string_view project, std::string_view user, std::string_view name,
                         std::string_view command) {
    const std::string called = stem(name);
    const std::string runs = stem(program(command));
    return {hash({project, user}), called.empty() ? 0 : hash({project, user, called}),
            runs.empty() ? 0 : hash({project, "", "", runs})};
}

}  // namespace berth::ordering
