// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line/context.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace berth::cli {
namespace {

std::string environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

// Empty where there is none.
std::string data_home() {
    if (const std::string home = environment("XDG_DATA_HOME"); home.starts_with("/")) return home;
    if (const std::string home = environment("HOME"); !home.empty()) return home + "/.local/share";
    const passwd* user = ::getpwuid(::getuid());
    return user ? std::string(user->pw_dir) + "/.local/share" : "";
}

std::string absolute(const std::string& path) {
    std::error_code error;
    const auto full = std::filesystem::absolute(path, error);
    // A link may lead to a larger disk: what is judged and used is the folder there.
    const auto real = std::filesystem::weakly_canonical(full, error);
    std::string text = error ? full.lexically_normal().string() : real.string();
    while (text.size() > 1 && text.back() == '/') text.pop_back();
    return text;
}

std::string data_dir(const std::string& flag) {
    if (!flag.empty()) return absolute(flag);
    if (const std::string data = environment("BERTH_DATA"); !data.empty()) return absolute(data);
    const std::string home = data_home();
    return home.empty() ? "" : absolute(home + "/berth");
}

}  // namespace

int report(const Context& context, const Failure& failure) {
    std::string text = context.err.paint(Tone::Bad, "berth:") + " " + printable(failure.cause);
    if (!failure.hint.empty()) {
        text += "\n  " + context.err.paint(Tone::Faint, "try") + "  " + printable(failure.hint);
    }
    print_notice(text + "\n");
    return failure.exit_code;
}

std::string command_line(const Context& context, std::string_view verb_and_words) {
    std::string line = "berth " + std::string(verb_and_words);
    if (!context.is_default_data_dir) line += " --data " + context.data_dir;
    return line;
}

Failure no_home() {
    return {kBadUsage,
            "there is no home folder: HOME is not set, and the system does not know user " +
                std::to_string(::getuid()) + "; name the data directory with --data or BERTH_DATA",
            ""};
}

Success find_server(Context& context, std::string_view data_flag) {
    context.is_default_data_dir = data_flag.empty();
    context.data_dir = data_dir(std::string(data_flag));
    const std::string url = environment("BERTH_URL");
    if (data_flag.empty() && !url.empty()) {
        Outcome<ServerAddress> address = parse_address(url, environment("BERTH_TOKEN"));
        if (!address) return tl::unexpected(address.error());
        context.address = *address;
    } else {
        context.address.socket = context.data_dir + "/berth.sock";
    }
    return {};
}

}  // namespace berth::cli
