// SPDX-License-Identifier: Apache-2.0
#include "control/command_text.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

namespace berth::control {
namespace {

constexpr std::size_t kTextBytesMax = 200;
constexpr std::size_t kNameBytesMax = 40;

constexpr std::string_view kPlain =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./=:,+@%^";

bool is_shell_script(std::span<const std::string> command) {
    return command.size() == 3 && command[1] == "-c" && command[0].ends_with("sh");
}

std::string in_quotes(const std::string& word) {
    if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
    std::string text = "'";
    for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
}

// Cuts at a character of UTF-8.
void shorten(std::string& text, std::size_t size) {
    if (text.size() <= size) return;
    std::size_t end = size - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text.resize(end);
    text += "...";
}

std::string_view base_name(std::string_view path) {
    return path.substr(path.rfind('/') + 1);  // npos + 1 = 0
}

// Programs that run what their first word without a dash names.
bool runs_a_script(std::string_view program) {
    static constexpr std::array<std::string_view, 9> kRunners{
        "sh", "bash", "env", "torchrun", "accelerate", "deepspeed", "srun", "time", "nohup"};
    return program.starts_with("python") || std::ranges::find(kRunners, program) != kRunners.end();
}

std::vector<std::string> words_of(std::span<const std::string> command) {
    if (!is_shell_script(command)) return {command.begin(), command.end()};
    std::vector<std::string> words;
    const std::string_view script = command[2];
    for (std::size_t at = 0; at < script.size();) {
        const std::size_t begin = script.find_first_not_of(" \t\n", at);
        if (begin == std::string_view::npos) break;
        const std::size_t end = std::min(script.find_first_of(" \t\n;&|", begin), script.size());
        words.emplace_back(script.substr(begin, end - begin));
        at = end + 1;
    }
    return words;
}

}  // namespace

std::string command_text(std::span<const std::string> command) {
    std::string text;
    if (is_shell_script(command)) {
        text = command[2];
    } else {
        for (const std::string& word : command) {
            if (!text.empty()) text += ' ';
            text += in_quotes(word);
            if (text.size() > 2 * kTextBytesMax) break;
        }
    }
    std::ranges::replace_if(text, [](unsigned char c) { return c < 32 || c == 127; }, ' ');
    shorten(text, kTextBytesMax);
    return text;
}

std::string name_from(std::span<const std::string> command) {
    const std::vector<std::string> words = words_of(command);
    std::string name = "job";
    for (const std::string& word : words) {
        if (word == "-c" && name != "job") break;  // what follows is no file
        if (word.empty() || word.front() == '-' || word.find('=') != std::string::npos) continue;
        name = base_name(word);
        if (!runs_a_script(name)) break;
    }
    const std::size_t dot = name.rfind('.');
    if (dot != std::string::npos && dot > 0) name.resize(dot);
    std::ranges::replace_if(
        name, [](char c) { return kPlain.substr(0, 65).find(c) == std::string_view::npos; }, '-');
    shorten(name, kNameBytesMax);
    if (name.find_first_not_of("-.") == std::string::npos) return "job";
    return name;
}

}  // namespace berth::control
