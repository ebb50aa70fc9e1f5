// SPDX-License-Identifier: Apache-2.0
//
// Do the targets hold for every input of the corpora, and for inputs made from them? Built with any
// compiler:
//
//   fuzz_replay CORPUS [RUNS] [TARGET...]
//
// CORPUS/TARGET.inputs holds a target's inputs, one a line, with the escapes \n \r \t \\ and \x41.
// Repeatable dice make RUNS more from them: changed, cut, joined. A target without a corpus is an
// error. A failing run writes its input to fuzz-failure-TARGET in the working directory.
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/rng.h"
#include "fuzz/entry.h"

namespace {

using berth::base::Rng;
using berth::fuzz::Target;

std::string failing_target;
std::string current;

// Writes the failing input. The process is about to end, so that a handler may do this.
void keep_input(int signal) {
    std::signal(signal, SIG_DFL);
    const std::string path = "fuzz-failure-" + failing_target;
    std::ofstream(path, std::ios::binary) << current;
    std::fprintf(stderr, "fuzz: the input is in %s\n", path.c_str());
    std::raise(signal);
}

void run(std::string input) {
    current = std::move(input);
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(current.data()), current.size());
}

char unescaped(std::string_view line, std::size_t& at) {
    switch (line[++at]) {
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        case 'x': {
            unsigned byte = 0;
            std::from_chars(line.data() + at + 1, line.data() + at + 3, byte, 16);
            at += 2;
            return static_cast<char>(byte);
        }
        default: return line[at];
    }
}

std::vector<std::string> inputs_in(const std::string& path) {
    std::vector<std::string> inputs;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::string& input = inputs.emplace_back();
        for (std::size_t at = 0; at < line.size(); ++at)
            input += line[at] == '\\' ? unescaped(line, at) : line[at];
    }
    return inputs;
}

// A few changes to one input, with parts of another.
std::string made_from(const std::vector<std::string>& inputs, Rng& dice) {
    std::string input = inputs[dice.index(inputs.size())];
    for (auto changes = 1 + dice.index(4); changes > 0; --changes) {
        const std::size_t at = dice.index(input.size() + 1);
        const std::size_t length = dice.index(std::min<std::size_t>(input.size() - at, 16) + 1);
        const std::string& other = inputs[dice.index(inputs.size())];
        switch (dice.index(5)) {
            case 0:
                if (at < input.size()) input[at] = static_cast<char>(dice.index(256));
                break;
            case 1: input.erase(at, length); break;
            case 2: input.insert(at, input.substr(at, length)); break;
            case 3: input.insert(at, 1, "0123456789-.,:={}[]\"'\n \0\xff"[dice.index(26)]); break;
            default: {
                const std::size_t from = dice.index(other.size() + 1);
                input.replace(at, length, other.substr(from, 1 + dice.index(32)));
            }
        }
    }
    input.resize(std::min(input.size(), berth::fuzz::kInputMax));
    return input;
}

}  // namespace

int main(int count, char** values) {
    const std::vector<std::string> words(values + 1, values + count);
    if (words.empty()) {
        std::fprintf(stderr, "usage: fuzz_replay CORPUS [RUNS] [TARGET...]\n");
        return 2;
    }
    long runs = 0;
    if (words.size() > 1) std::from_chars(words[1].data(), words[1].data() + words[1].size(), runs);
    std::signal(SIGABRT, keep_input);
    std::signal(SIGSEGV, keep_input);
    for (const Target& target : berth::fuzz::targets()) {
        const bool is_wanted = words.size() < 3 || std::find(words.begin() + 2, words.end(),
                                                             target.name) != words.end();
        if (!is_wanted) continue;
        failing_target = target.name;
        berth::fuzz::choose(target);
        const std::string path = words[0] + "/" + failing_target + ".inputs";
        const auto inputs = inputs_in(path);
        if (inputs.empty()) {
            std::fprintf(stderr, "fuzz: no inputs in %s\n", path.c_str());
            return 1;
        }
        for (const std::string& input : inputs) run(input);
        Rng dice(1);
        for (long made = 0; made < runs; ++made) run(made_from(inputs, dice));
        std::printf("%-16s %zu inputs, %ld made of them\n", failing_target.c_str(), inputs.size(),
                    runs);
        std::fflush(stdout);
    }
}
