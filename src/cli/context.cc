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

std::string home_dir() {
    if (const std::string home = environment("HOME"); !home.empty()) return home;
    const passwd* user = ::getpwuid(::getuid());
    return user ? user->pw_dir : "/";
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
    if (!failure.remedy.empty()) {
        text += "\n  " + context.err.paint(Tone::Faint, "try") + "  " + printable(failure.remedy);
    }
    print_notice(text + "\n");
    return failure.exit_code;
}

std::string command_line(const Context& context, std::string_view verb_and_words) {
    std::string line = "berth " + std::string(verb_and_words);
    if (!context.is_default_data_dir) line += " --data " + context.data_dir;
    return line;
}

std::string default_data_dir() {
    if (const std::string dir = environment("BERTH_DATA"); !dir.empty()) return absolute(dir);
    const std::string data_home = environment("XDG_DATA_HOME");
    return absolute((data_home.starts_with("/") ? data_home : home_dir() + "/.local/share") +
                    "/berth");
}

Success find_server(Context& context, std::string_view data_flag) {
    context.is_default_data_dir = data_flag.empty();
    context.data_dir = data_flag.empty() ? default_data_dir() : absolute(std::string(data_flag));
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
