// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/configuration.h"

#include <array>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>

#include "vgpu/device/slices.h"

namespace berth::vgpu::device {
namespace {

using Failure = tl::unexpected<std::string>;

struct Unit {
    std::string_view suffix;
    std::uint64_t factor;
};
constexpr std::array<Unit, 3> kUnits = {{{"KiB", 1024}, {"MiB", 1U << 20U}, {"GiB", 1U << 30U}}};

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

bool read_number(std::string_view text, std::uint64_t& value) {
    const auto* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    return error == std::errc{} && rest == end;
}

bool read_bytes(std::string_view text, std::uint64_t& bytes) {
    std::uint64_t factor = 1;
    for (const Unit& unit : kUnits) {
        if (!text.ends_with(unit.suffix)) continue;
        factor = unit.factor;
        text = trimmed(text.substr(0, text.size() - unit.suffix.size()));
    }
    if (!read_number(text, bytes) || bytes > (1ULL << 50U) / factor) return false;
    bytes *= factor;
    return true;
}

bool read_uuid(std::string_view text, unsigned char (&uuid)[16]) {
    if (text.starts_with("GPU-")) text.remove_prefix(4);
    std::size_t digits = 0;
    for (const char letter : text) {
        if (letter == '-') continue;
        unsigned int digit = 0;
        if (digits == 32 || std::from_chars(&letter, &letter + 1, digit, 16).ec != std::errc{})
            return false;
        uuid[digits / 2] = static_cast<unsigned char>(unsigned{uuid[digits / 2]} << 4U | digit);
        ++digits;
    }
    return digits == 32;
}

bool read_uuids(std::string_view text, Description& to) {
    std::size_t index = 0;
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (index == kGpusMax || !read_uuid(trimmed(text.substr(0, comma)), to.uuids[index]))
            return false;
        ++index;
        text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
    }
    return index > 0;
}

// A number from `least` to `most`, times `factor`.
struct Range {
    std::uint64_t least;
    std::uint64_t most;
    std::uint64_t factor = 1;
};

template <class T>
bool read_into(std::string_view text, T& to, Range range) {
    std::uint64_t value = 0;
    if (!read_number(text, value) || value < range.least || value > range.most) return false;
    to = static_cast<T>(value * range.factor);
    return true;
}

template <class T, std::size_t n>
bool read_word(std::string_view text, T& to,
               const std::array<std::pair<std::string_view, T>, n>& words) {
    for (const auto& [word, value] : words) {
        if (text != word) continue;
        to = value;
        return true;
    }
    return false;
}

bool read_name(std::string_view text, Description& to) {
    if (text.empty() || text.size() >= sizeof(to.name)) return false;
    std::memset(to.name, 0, sizeof(to.name));
    std::memcpy(to.name, text.data(), text.size());
    return true;
}

struct Key {
    std::string_view wants;
    std::function<bool(std::string_view, Configuration&)> read;
};

template <class Read>
Key key(std::string_view wants, Read read) {
    return {wants, [read](std::string_view text, Configuration& to) {
                return read(text, to.description);
            }};
}

constexpr std::array<std::pair<std::string_view, std::uint32_t>, 4> kDrivers = {
    {{"12.2", 12020U}, {"12.8", 12080U}, {"13.0", 13000U}, {"13.4", 13040U}}};
constexpr std::array<std::pair<std::string_view, Sharing>, 2> kSharings = {
    {{"slices", Sharing::Slices}, {"concurrent", Sharing::Concurrent}}};
constexpr std::array<std::pair<std::string_view, Time>, 2> kTimes = {
    {{"real", Time::Real}, {"virtual", Time::Virtual}}};
constexpr std::array<std::pair<std::string_view, CheckpointOutcome>, 4> kOutcomes = {
    {{"works", CheckpointOutcome::Works},
     {"fails", CheckpointOutcome::Fails},
     {"unsupported", CheckpointOutcome::Unsupported},
     {"out_of_memory", CheckpointOutcome::OutOfMemory}}};

const std::map<std::string_view, Key>& keys() {
    using Text = std::string_view;
    using D = Description;
    constexpr std::string_view kAmount = "an amount such as 80GiB";
    constexpr std::uint64_t kHourMs = 3'600'000;
    static const std::map<std::string_view, Key> all = {
        {"state",
         {"an absolute path",
          [](Text text, Configuration& to) {
              to.state_path = text;
              return text.starts_with('/');
          }}},
        {"cgroups",
         {"an absolute path",
          [](Text text, Configuration& to) {
              to.cgroups = text;
              return text.starts_with('/');
          }}},
        {"gpus", key("1 to 16", [](Text t, D& d) { return read_into(t, d.gpus, {1, 16}); })},
        {"sms", key("1 to 1024", [](Text t, D& d) { return read_into(t, d.sms, {1, 1024}); })},
        {"memory", key(kAmount, [](Text t, D& d) { return read_bytes(t, d.memory_bytes); })},
        {"reserved", key(kAmount, [](Text t, D& d) { return read_bytes(t, d.reserved_bytes); })},
        {"context", key(kAmount, [](Text t, D& d) { return read_bytes(t, d.context_bytes); })},
        {"contents", key(kAmount, [](Text t, D& d) { return read_bytes(t, d.contents_bytes); })},
        {"name", key("at most 63 letters", read_name)},
        {"uuids", key("UUIDs with commas between them", read_uuids)},
        {"mig", key("slices such as 0:3g.40gb, 0:1g.10gb", read_slices)},
        {"driver", key("12.2, 12.8, 13.0 or 13.4",
                       [](Text t, D& d) { return read_word(t, d.driver_version, kDrivers); })},
        {"release_delay_ms", key("0 to 3600000",
                                 [](Text t, D& d) {
                                     return read_into(t, d.release_delay_ns,
                                                      {0, kHourMs, 1'000'000});
                                 })},
        {"slice_us",
         key("10 to 1000000",
             [](Text t, D& d) { return read_into(t, d.slice_ns, {10, 1'000'000, 1000}); })},
        {"kernel_us",
         key("1 to 1000000",
             [](Text t, D& d) { return read_into(t, d.kernel_ns, {1, 1'000'000, 1000}); })},
        {"copy_gib_per_s", key("1 to 10000",
                               [](Text t, D& d) {
                                   return read_into(t, d.copy_bytes_per_s, {1, 10'000, 1U << 30U});
                               })},
        {"sharing", key("slices or concurrent",
                        [](Text t, D& d) { return read_word(t, d.sharing, kSharings); })},
        {"time", key("real or virtual", [](Text t, D& d) { return read_word(t, d.time, kTimes); })},
        {"checkpoint", key("works, fails, unsupported or out_of_memory",
                           [](Text t, D& d) { return read_word(t, d.checkpoint, kOutcomes); })},
    };
    return all;
}

std::string known_keys() {
    std::string text;
    for (const auto& [name, unused] : keys())
        text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

std::string in_quotes(std::string_view text) { return '"' + std::string(text) + '"'; }

tl::expected<void, std::string> read_pair(std::string_view pair, Configuration& to) {
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) return Failure(in_quotes(pair) + " is not `key = value`");
    const auto name = trimmed(pair.substr(0, equals));
    const auto value = trimmed(pair.substr(equals + 1));
    const auto found = keys().find(name);
    if (found == keys().end())
        return Failure("there is no key " + in_quotes(name) + "; there are " + known_keys());
    if (!found->second.read(value, to))
        return Failure("key " + in_quotes(name) + ": " + in_quotes(value) + " is not " +
                       std::string(found->second.wants));
    return {};
}

// UUIDs that differ and are the same in every run: of unit 3, 62657274-6800-4000-8000-...03.
void make_uuids(Description& description, std::uint32_t first) {
    constexpr unsigned char kBegin[] = {'b', 'e', 'r', 't', 'h', 0, 0x40, 0, 0x80};
    for (std::uint32_t unit = first; unit < units(description); ++unit) {
        std::memcpy(description.uuids[unit], kBegin, sizeof(kBegin));
        description.uuids[unit][15] = static_cast<unsigned char>(unit);
    }
}

tl::expected<void, std::string> complete(Configuration& configuration) {
    Description& description = configuration.description;
    if (configuration.state_path.empty())
        return Failure("there is no `state = /path`, the file that processes share");
    std::uint32_t uuids = 0;
    constexpr unsigned char kNone[16] = {};
    while (uuids < kGpusMax && std::memcmp(description.uuids[uuids], kNone, 16) != 0) ++uuids;
    if (uuids != 0 && uuids != description.gpus)
        return Failure("key \"uuids\": " + std::to_string(uuids) + " for " +
                       std::to_string(description.gpus) + " GPUs");
    if (const std::string problem = problem_with_slices(description); !problem.empty())
        return Failure("key \"mig\": " + problem);
    make_uuids(description, uuids);
    for (std::uint64_t* bytes : {&description.memory_bytes, &description.reserved_bytes,
                                 &description.context_bytes, &description.contents_bytes})
        *bytes = (*bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    if (description.reserved_bytes + description.context_bytes >= description.memory_bytes)
        return Failure("key \"memory\": no room beside \"reserved\" and one \"context\"");
    return {};
}

}  // namespace

tl::expected<Configuration, std::string> parse(std::string_view text) {
    Configuration configuration;
    while (!text.empty()) {
        const auto end = text.find_first_of(";\n");
        auto pair = text.substr(0, end);
        text = end == std::string_view::npos ? std::string_view{} : text.substr(end + 1);
        pair = trimmed(pair.substr(0, pair.find('#')));
        if (pair.empty()) continue;
        if (auto read = read_pair(pair, configuration); !read) return Failure(read.error());
    }
    if (auto done = complete(configuration); !done) return Failure(done.error());
    return configuration;
}

tl::expected<Configuration, std::string> from_environment() {
    const char* value = std::getenv("BERTH_SOFTWARE_GPU");
    if (value == nullptr || *value == '\0')
        return Failure("BERTH_SOFTWARE_GPU is not set; e.g. 'state = FILE; gpus = 2'");
    std::string text = value;
    if (text.front() == '/' || text.find('=') == std::string::npos) {
        std::ifstream file(text);
        if (!file) return Failure("BERTH_SOFTWARE_GPU: cannot read the file " + in_quotes(text));
        text.assign(std::istreambuf_iterator<char>(file), {});
    }
    auto configuration = parse(text);
    if (!configuration) return Failure("BERTH_SOFTWARE_GPU: " + configuration.error());
    return configuration;
}

std::string uuid_text(const unsigned char (&uuid)[16]) {
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
        char digits[3];
        std::snprintf(digits, sizeof(digits), "%02x", unsigned{uuid[i]});
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += digits;
    }
    return text;
}

std::string pci_bus_id(std::uint32_t gpu) {
    char text[32];
    std::snprintf(text, sizeof(text), "00000000:%02X:00.0", gpu + 3);
    return text;
}

}  // namespace berth::vgpu::device
