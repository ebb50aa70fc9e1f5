// SPDX-License-Identifier: Apache-2.0
#include "cli/context.h"

#include <pwd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace berth::cli {
namespace {

// Of the whole process, as standard output is.
int print_error = 0;

// The number of the error that kept it from being written, or 0.
int write_all(int descriptor, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return errno;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return 0;
}

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

// http://HOST[:PORT][/]
Outcome<ServerAddress> parse_url(const std::string& url) {
    const std::string_view wanted = "BERTH_URL: wanted http://HOST:PORT, found \"";
    constexpr std::string_view kScheme = "http://";
    if (!url.starts_with(kScheme)) return bad_usage(std::string(wanted) + url + "\"");
    std::string place = url.substr(kScheme.size());
    if (const std::size_t slash = place.find('/'); slash != std::string::npos) {
        if (slash + 1 != place.size()) return bad_usage(std::string(wanted) + url + "\"");
        place.resize(slash);
    }
    ServerAddress address;
    address.port = "7421";
    const std::size_t bracket = place.find(']');
    const std::size_t colon = place.find(':', bracket == std::string::npos ? 0 : bracket);
    if (colon != std::string::npos) address.port = place.substr(colon + 1);
    address.host = place.substr(0, colon);
    if (bracket != std::string::npos) address.host = place.substr(1, bracket - 1);
    if (address.host.empty() || address.port.empty()) {
        return bad_usage(std::string(wanted) + url + "\"");
    }
    address.token = environment("BERTH_TOKEN");
    return address;
}

}  // namespace

void print(std::string_view text) {
    if (print_error == 0) print_error = write_all(STDOUT_FILENO, text);
}

Success all_printed() {
    if (print_error == 0) return {};
    return refuse(kServerUnreachable,
                  std::string("cannot write to standard output: ") + std::strerror(print_error));
}

void print_notice(std::string_view text) { write_all(STDERR_FILENO, text); }

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
        Outcome<ServerAddress> address = parse_url(url);
        if (!address) return tl::unexpected(address.error());
        context.address = *address;
    } else {
        context.address.socket = context.data_dir + "/berth.sock";
    }
    return {};
}

}  // namespace berth::cli
