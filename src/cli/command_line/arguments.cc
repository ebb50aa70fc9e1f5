// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/arguments.h"

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "base/quantity.h"
#include "codec/words/words.h"

namespace berth::cli {
namespace {

constexpr Flag kCommonFlags[] = {
    {'h', "help", "", "show this help"},
    {0, "data", "DIR", "data directory of the server (BERTH_DATA)", Completes::Files},
    {0, "color", "WHEN", "color: auto, always or never (NO_COLOR)", Completes::Choices,
     "auto|always|never"},
    {0, "ascii", "", "ASCII characters only"},
};

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

const Flag* find_by_name(const Verb& verb, std::string_view name) {
    for (const auto flags : {verb.flags, std::span<const Flag>(kCommonFlags)}) {
        for (const Flag& flag : flags) {
            if (flag.name == name) return &flag;
            if (!flag.formerly.empty() && flag.formerly == name) return &flag;
        }
    }
    return nullptr;
}

const Flag* find_by_letter(const Verb& verb, char letter) {
    for (const auto flags : {verb.flags, std::span<const Flag>(kCommonFlags)}) {
        for (const Flag& flag : flags) {
            if (flag.letter == letter) return &flag;
        }
    }
    return nullptr;
}

std::vector<std::string> fields_of(const Flag& flag) {
    std::vector<std::string> fields;
    for (const std::string_view field : split_words(flag.fields, ' ')) fields.emplace_back(field);
    if (fields.empty()) {
        std::ranges::replace(fields.emplace_back(flag.name), '-', '_');
    }
    return fields;
}

// "body:1" and "flags:1" are places in a text that was made of the flags.
bool is_place(std::string_view part) { return part == "body:1" || part == "flags:1"; }

std::string unknown_flag(const Verb& verb, std::string_view typed) {
    std::vector<std::string_view> known;
    for (const auto flags : {verb.flags, std::span<const Flag>(kCommonFlags)}) {
        for (const Flag& flag : flags) known.push_back(flag.name);
    }
    const std::size_t dashes = std::min(typed.find_first_not_of('-'), typed.size());
    const auto meant = codec::nearest(typed.substr(dashes), known);
    return "unknown flag " + in_quotes(typed) +
           (meant ? "; did you mean \"--" + std::string(*meant) + "\"?" : "");
}

}  // namespace

// Walks once over the words; the first thing wrong ends the walk.
class Splitter {
  public:
    Splitter(const Verb& verb, std::span<const std::string> typed) : verb_(verb), typed_(typed) {}

    Outcome<Arguments> split() {
        result_.verb = &verb_;
        for (; next_ < typed_.size() && !result_.has_command; ++next_) {
            const std::string& word = typed_[next_];
            Success step;
            if (word == "--") {
                take_command(next_ + 1);
            } else if (word.starts_with("--")) {
                step = take_long(word);
            } else if (word.size() > 1 && word[0] == '-') {
                step = take_letters(word);
            } else if (verb_.tail == CommandTail::FromFirstWord) {
                take_command(next_);
            } else {
                result_.words.push_back(word);
            }
            if (!step) return tl::unexpected(step.error());
        }
        return result_.has("help") ? Outcome<Arguments>(result_) : check_words();
    }

  private:
    std::string help_command() const { return "berth help " + std::string(verb_.name); }

    void take_command(std::size_t first) {
        result_.has_command = true;
        result_.command.assign(typed_.begin() + static_cast<std::ptrdiff_t>(first), typed_.end());
    }

    Success take_long(const std::string& word) {
        const std::size_t equals = word.find('=');
        const std::string_view name =
            std::string_view(word).substr(2, equals == std::string::npos ? equals : equals - 2);
        const Flag* flag = find_by_name(verb_, name);
        if (!flag) return bad_usage(unknown_flag(verb_, word.substr(0, equals)), help_command());
        if (equals == std::string::npos) return take(*flag, word, nullptr);
        if (flag->value.empty())
            return bad_usage(in_quotes(word.substr(0, equals)) + " takes no value", help_command());
        const std::string value = word.substr(equals + 1);
        return take(*flag, word, &value);
    }

    Success take_letters(const std::string& word) {
        for (std::size_t place = 1; place < word.size(); ++place) {
            const Flag* flag = find_by_letter(verb_, word[place]);
            if (!flag) return bad_usage(unknown_flag(verb_, word), help_command());
            if (flag->value.empty() || place + 1 == word.size()) {
                if (Success step = take(*flag, word, nullptr); !step) return step;
                continue;
            }
            const std::size_t start = word[place + 1] == '=' ? place + 2 : place + 1;
            const std::string value = word.substr(start);
            return take(*flag, word, &value);
        }
        return {};
    }

    Success take(const Flag& flag, std::string_view typed, const std::string* value) {
        std::string text;
        if (value) {
            text = *value;
        } else if (!flag.value.empty()) {
            if (next_ + 1 >= typed_.size() || typed_[next_ + 1] == "--") {
                return bad_usage(in_quotes(typed) + " wants a value: " + std::string(flag.value),
                                 help_command());
            }
            text = typed_[++next_];
        }
        if (!flag.choices.empty()) {
            const std::vector<std::string_view> choices = split_words(flag.choices, '|');
            if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
                return bad_usage("--" + std::string(flag.name) + ": wanted " +
                                 codec::listed(choices) + ", found " + in_quotes(text) +
                                 codec::did_you_mean(text, choices));
            }
        }
        result_.flags_.emplace_back(flag.name, std::move(text));
        return {};
    }

    // "JOB", of the synopsis "JOB... [--wait]".
    std::string argument_at(int place) const {
        for (std::string_view word : split_words(verb_.synopsis, ' ')) {
            if (word.starts_with('[') || word.starts_with('-') || place-- > 0) continue;
            return std::string(word.substr(0, word.find("...")));
        }
        return "ARGUMENT";
    }

    Outcome<Arguments> check_words() {
        const std::string usage =
            "berth " + std::string(verb_.name) + " " + std::string(verb_.synopsis);
        const int count = static_cast<int>(result_.words.size());
        if (result_.has_command && verb_.tail == CommandTail::None) {
            return bad_usage("no command is expected after \"--\"", usage);
        }
        if (count < verb_.words_min)
            return bad_usage("missing argument: " + argument_at(count), usage);
        if (verb_.words_max >= 0 && count > verb_.words_max) {
            return bad_usage(
                "unexpected argument: " +
                    in_quotes(result_.words[static_cast<std::size_t>(verb_.words_max)]),
                usage);
        }
        return result_;
    }

    const Verb& verb_;
    std::span<const std::string> typed_;
    std::size_t next_ = 0;
    Arguments result_;
};

std::span<const Flag> common_flags() { return kCommonFlags; }

Outcome<Arguments> parse_arguments(const Verb& verb, std::span<const std::string> typed) {
    return Splitter(verb, typed).split();
}

bool Arguments::has(std::string_view flag) const {
    BERTH_CHECK(find_by_name(*verb, flag), "a verb asks only for flags it declares");
    return std::any_of(flags_.begin(), flags_.end(),
                       [&](const auto& given) { return given.first == flag; });
}

std::string Arguments::text(std::string_view flag, std::string_view fallback) const {
    BERTH_CHECK(find_by_name(*verb, flag), "a verb asks only for flags it declares");
    for (auto given = flags_.rbegin(); given != flags_.rend(); ++given) {
        if (given->first == flag) return given->second;
    }
    return std::string(fallback);
}

std::vector<std::string> Arguments::all(std::string_view flag) const {
    std::vector<std::string> values;
    for (const auto& [name, value] : flags_) {
        if (name == flag) values.push_back(value);
    }
    return values;
}

Outcome<base::Duration> Arguments::duration(std::string_view flag, base::Duration fallback) const {
    if (!has(flag)) return fallback;
    const std::string given = text(flag);
    const auto parsed = base::parse_duration(given);
    if (!parsed) {
        return bad_usage("--" + std::string(flag) + ": wanted a time such as 90s or 1h30m, found " +
                         in_quotes(given));
    }
    return *parsed;
}

Outcome<std::int64_t> Arguments::number(std::string_view flag, std::int64_t fallback) const {
    if (!has(flag)) return fallback;
    const std::string given = text(flag);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
    if (error != std::errc() || end != given.data() + given.size()) {
        return bad_usage("--" + std::string(flag) + ": wanted a whole number, found " +
                         in_quotes(given));
    }
    return number;
}

std::string Arguments::field(std::string_view flag) const {
    const Flag* const found = find_by_name(*verb, flag);
    BERTH_CHECK(found, "a verb asks only for flags it declares");
    return fields_of(*found).front();
}

std::string Arguments::in_flags(std::string_view error) const {
    constexpr std::string_view kEnd = ": ";
    std::string subject;
    std::string_view rest = error;
    for (;;) {
        const bool is_subject = rest.find('"') < rest.find(kEnd);
        const std::size_t end = is_subject ? rest.find("\": ") + 1 : rest.find(kEnd);
        if (end == rest.npos || (is_subject && end == 0)) return std::string(error);
        const std::string_view part = rest.substr(0, end);
        rest.remove_prefix(end + kEnd.size());
        if (is_subject) subject += std::string(part) + std::string(kEnd);
        if (is_subject || is_place(part)) continue;
        const std::string flags = flags_of(part.substr(part.rfind('.') + 1));
        return flags.empty() ? std::string(error)
                             : subject + flags + std::string(kEnd) + std::string(rest);
    }
}

std::string Arguments::flags_of(std::string_view field) const {
    std::string flags;
    for (const Flag& flag : verb->flags) {
        if (!has(flag.name) || std::ranges::count(fields_of(flag), field) == 0) continue;
        flags += (flags.empty() ? "--" : " or --") + std::string(flag.name);
    }
    return flags;
}

std::vector<std::string_view> split_words(std::string_view text, char separator) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        if (end > 0) words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

}  // namespace berth::cli
