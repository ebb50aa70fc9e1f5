// SPDX-License-Identifier: Apache-2.0
#include "supervision/status_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>

namespace berth::supervision {
namespace {

constexpr std::int64_t kStatBlock = 512;
constexpr std::int64_t kRoomTaken = 4096;
constexpr std::int64_t kLineMax = 2048;

// Takes the next word off `line`.
std::string_view next_word(std::string_view& line) {
    const std::size_t end = line.find(' ');
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
    return word;
}

bool take_number(std::string_view& line, int& number) {
    const std::string_view word = next_word(line);
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    return error == std::errc{} && end == word.data() + word.size();
}

}  // namespace

std::string log_line(std::string_view incarnation) {
    return "log " + std::string(incarnation) + '\n';
}

std::string shortened(std::string_view text, std::size_t most) {
    if (text.size() <= most) return std::string(text);
    return std::string(text.substr(0, most)) + "...";
}

base::Status take_room(int file) {
    struct stat about{};
    if (::fstat(file, &about) != 0) return {};
    if (about.st_blocks * kStatBlock - about.st_size >= kLineMax) return {};
    if (::fallocate(file, FALLOC_FL_KEEP_SIZE, about.st_size, kRoomTaken) == 0) return {};
    if (errno != ENOSPC && errno != EDQUOT) return {};
    return base::fail(base::ErrorCode::Exhausted, "no room for a status file");
}

std::string starting_line(std::string_view boot, int pid) {
    return "starting " + std::string(boot) + ' ' + std::to_string(pid) + '\n';
}

std::string exit_line(const ExitReport& report) {
    std::string line = "exit " + std::to_string(report.exit_code) + ' ' +
                       std::to_string(report.signal) + (report.stop_asked ? " 1" : " 0") +
                       (report.killed ? " 1 " : " 0 ") + shortened(report.detail, kDetailMax);
    for (char& letter : line) {
        if (letter == '\n' || letter == '\r') letter = ' ';
    }
    return line + '\n';
}

std::optional<ExitReport> parse_exit_line(std::string_view line) {
    if (line.ends_with('\n')) line.remove_suffix(1);
    if (next_word(line) != "exit") return std::nullopt;
    ExitReport report;
    int stop_asked = 0;
    int killed = 0;
    if (!take_number(line, report.exit_code) || !take_number(line, report.signal) ||
        !take_number(line, stop_asked) || !take_number(line, killed))
        return std::nullopt;
    report.stop_asked = stop_asked != 0;
    report.killed = killed != 0;
    report.detail = line;
    return report;
}

StatusReading parse_status(std::string_view text) {
    StatusReading reading;
    while (true) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) return reading;
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (std::optional<ExitReport> exit = parse_exit_line(line)) {
            reading.exit = std::move(exit);
            continue;
        }
        const std::string_view word = next_word(line);
        if (word == "starting") {
            reading.started = true;
            reading.boot = next_word(line);
            if (!take_number(line, reading.supervisor)) reading.supervisor = 0;
        } else if (word == "log" && reading.log.empty()) {
            reading.log = next_word(line);
        } else if (word == "running") {
            reading.running = true;
        }
    }
}

}  // namespace berth::supervision
