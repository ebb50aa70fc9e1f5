// SPDX-License-Identifier: Apache-2.0
//
// Does the core still decide what it decided? Writes down what it decides in random lives and in
// scenarios, and compares that with what another version wrote:
//   plans [--first SEED] [--seeds N] [--words] [--to FILE] [SCENARIO_OR_FOLDER...]
//   plans --against FILE [--verdicts]
// A line for each life has a hash of all its plans and wake-ups and one of its verdicts; --words
// adds the life itself (recorded_life.h). Against a file with words the first decision that differs
// is recorded as both made it; verdicts are compared only on demand.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "recorded_life.h"

namespace {

using namespace berth;
namespace fs = std::filesystem;

constexpr std::string_view kSeed = "seed ";
constexpr std::string_view kIndent = "  ";
constexpr std::size_t kNamesShown = 10;

struct Options {
    std::uint64_t first = 1;
    std::uint64_t seeds = 1000;
    bool words = false;
    bool verdicts = false;
    std::string to;
    std::string against;
    std::vector<std::string> places;  // scenario files, or folders of them
};

// A life as one line says it, and with words, where they are there.
struct Written {
    std::string name;  // "seed 17", or the path of a scenario
    std::string plans;
    std::string verdicts;
    std::vector<std::string> words;
};

std::string hex(std::uint64_t number) {
    std::ostringstream text;
    text << std::hex << number;
    return text.str();
}

Written written(const std::string& name, const std::vector<proof::Step>& life) {
    std::uint64_t plans = base::kHashOfNothing;
    std::uint64_t verdicts = base::kHashOfNothing;
    Written life_written{name, {}, {}, {}};
    const auto add = [&](std::uint64_t& hash, const std::string& line) {
        hash = base::hash("\n", base::hash(line, hash));
        life_written.words.push_back(line);
    };
    for (const proof::Step& step : life) {
        add(plans, step.line);
        for (const std::string& line : step.plan) add(plans, line);
        for (const std::string& line : step.verdicts) add(verdicts, line);
    }
    life_written.plans = hex(plans);
    life_written.verdicts = hex(verdicts);
    return life_written;
}

Written play(const std::string& name) {
    if (!name.starts_with(kSeed)) return written(name, proof::life_of_scenario(name));
    std::uint64_t seed = 0;
    std::from_chars(name.data() + kSeed.size(), name.data() + name.size(), seed);
    return written(name, proof::life_of_seed(seed));
}

std::vector<std::string> lives(const Options& options) {
    std::vector<std::string> names;
    for (std::uint64_t seed = options.first; seed < options.first + options.seeds; ++seed) {
        names.push_back(std::string(kSeed) + std::to_string(seed));
    }
    std::vector<std::string> files;
    for (const std::string& place : options.places) {
        if (!fs::is_directory(place)) files.push_back(place);
        if (!fs::is_directory(place)) continue;
        for (const auto& entry : fs::recursive_directory_iterator(place)) {
            if (entry.path().extension() == ".scn") files.push_back(entry.path().string());
        }
    }
    std::ranges::sort(files);
    names.insert(names.end(), files.begin(), files.end());
    return names;
}

void write(const Options& options, std::ostream& out) {
    for (const std::string& name : lives(options)) {
        const Written life = play(name);
        out << life.name << " plans " << life.plans << " verdicts " << life.verdicts << '\n';
        if (!options.words) continue;
        for (const std::string& line : life.words) out << kIndent << line << '\n';
    }
}

// The next life in the file; without a name at its end.
Written next(std::istream& in) {
    Written life;
    std::string line;
    if (!std::getline(in, line)) return life;
    const auto plans = line.find(" plans ");
    const auto verdicts = line.find(" verdicts ");
    if (plans == std::string::npos || verdicts == std::string::npos) return life;
    life.name = line.substr(0, plans);
    life.plans = line.substr(plans + 7, verdicts - plans - 7);
    life.verdicts = line.substr(verdicts + 10);
    while (in.peek() == kIndent.front() && std::getline(in, line)) {
        life.words.push_back(line.substr(kIndent.size()));
    }
    return life;
}

bool is_event(const std::string& word) { return !word.starts_with('>') && !word.starts_with('#'); }

// The line that happens at or before `at`, and what it led to.
std::string decision_at(const std::vector<std::string>& words, std::size_t at) {
    if (at >= words.size()) return "    (nothing)\n";
    while (at > 0 && !is_event(words[at])) --at;
    std::string text = "    " + words[at] + "\n";
    for (++at; at < words.size() && !is_event(words[at]); ++at) text += "    " + words[at] + "\n";
    return text;
}

// Where they first differ, in words.
void tell_difference(const Written& theirs, const Written& ours, bool with_verdicts) {
    std::cout << theirs.name << " differs\n";
    if (theirs.words.empty()) {
        std::cout << "  in words: let the other version write with --words\n";
        return;
    }
    const auto compared = [&](const std::vector<std::string>& words) {
        std::vector<std::string> left;
        std::ranges::copy_if(words, std::back_inserter(left), [&](const std::string& word) {
            return with_verdicts || !word.starts_with("> wait ");
        });
        return left;
    };
    const auto before = compared(theirs.words);
    const auto now = compared(ours.words);
    const auto differ = std::ranges::mismatch(before, now);
    const auto at = static_cast<std::size_t>(differ.in1 - before.begin());
    const auto happened = std::count_if(before.begin(), differ.in1, is_event);
    std::cout << "  line " << happened << " of its life; before\n"
              << decision_at(before, at) << "  now\n"
              << decision_at(now, at);
}

bool compare(const Options& options) {
    std::ifstream in(options.against);
    std::size_t compared = 0;
    std::size_t missing = 0;
    std::vector<std::string> differing;
    for (Written theirs = next(in); !theirs.name.empty(); theirs = next(in)) {
        if (!theirs.name.starts_with(kSeed) && !fs::exists(theirs.name)) {
            ++missing;
            continue;
        }
        ++compared;
        const Written ours = play(theirs.name);
        const bool are_same =
            ours.plans == theirs.plans && (!options.verdicts || ours.verdicts == theirs.verdicts);
        if (are_same) continue;
        if (differing.empty()) tell_difference(theirs, ours, options.verdicts);
        differing.push_back(theirs.name);
    }
    for (std::size_t i = 1; i < std::min(differing.size(), kNamesShown); ++i) {
        std::cout << differing[i] << " differs\n";
    }
    std::cout << compared << " lives compared, " << missing << " scenarios are not here, "
              << differing.size() << " differ\n";
    return compared > 0 && differing.empty();
}

bool read_options(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view word = argv[i];
        if (word == "--words") options.words = true;
        if (word == "--verdicts") options.verdicts = true;
        if (!word.starts_with('-')) options.places.emplace_back(word);
        if (word == "--words" || word == "--verdicts" || !word.starts_with('-')) continue;
        if (i + 1 == argc) return false;
        const std::string_view value = argv[++i];
        const char* end = value.data() + value.size();
        if (word == "--to") {
            options.to = value;
        } else if (word == "--against") {
            options.against = value;
        } else if (word == "--seeds" || word == "--first") {
            std::uint64_t& number = word == "--seeds" ? options.seeds : options.first;
            if (std::from_chars(value.data(), end, number).ptr != end) return false;
        } else {
            return false;
        }
    }
    return true;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!read_options(argc, argv, options)) {
        std::cerr << "usage: plans [--first SEED] [--seeds N] [--words] [--to FILE] "
                     "[SCENARIO_OR_FOLDER...]\n"
                     "       plans --against FILE [--verdicts]\n";
        return 2;
    }
    if (!options.against.empty()) return compare(options) ? 0 : 1;
    if (options.to.empty()) {
        write(options, std::cout);
        return 0;
    }
    std::ofstream out(options.to);
    write(options, out);
    return out.good() ? 0 : 1;
}
