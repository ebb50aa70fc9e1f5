// SPDX-License-Identifier: Apache-2.0
//
// Plays scenario files and says which of them the core decides differently:
//   scenario_suite [--update] [--at-least N] FILE|FOLDER...
// --update writes what was found into the files, for review as a difference of the repository.
// Of a document (*.md) every block fenced as ```scenario is played.
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "scenario/run.h"

namespace {

namespace fs = std::filesystem;

struct Options {
    bool update = false;
    std::size_t at_least = 1;
    std::vector<fs::path> places;
};

bool read_options(int argc, char** argv, Options& options) {
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--update") {
            options.update = true;
        } else if (word == "--at-least" && i + 1 < argc) {
            const std::string count = argv[++i];
            const char* end = count.data() + count.size();
            if (std::from_chars(count.data(), end, options.at_least).ptr != end) return false;
        } else if (!fs::exists(word)) {
            std::cerr << word << ": there is no such file or folder\n";
            return false;
        } else {
            options.places.emplace_back(word);
        }
    }
    return !options.places.empty();
}

std::vector<fs::path> scenario_files(const Options& options) {
    std::vector<fs::path> files;
    for (const fs::path& place : options.places) {
        if (!fs::is_directory(place)) {
            files.push_back(place);
            continue;
        }
        for (const auto& entry : fs::recursive_directory_iterator(place)) {
            if (entry.path().extension() == ".scn") files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    return files;
}

std::string read(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// A case without a word of why it is there teaches nothing.
bool opens_with_comment(const std::string& text) { return text.starts_with("# "); }

bool passes(const fs::path& file, const std::string& text, bool update) {
    if (!opens_with_comment(text)) {
        std::cout << file.string() << ": opens without a comment that says what it shows\n";
        return false;
    }
    const auto outcome = berth::scenario::run(text);
    if (!outcome) {
        std::cout << file.string() << ": " << outcome.error().message << '\n';
        return false;
    }
    if (outcome->passed) return true;
    std::cout << file.string() << '\n' << outcome->difference;
    if (update) std::ofstream(file, std::ios::binary) << outcome->updated;
    return update;
}

std::vector<std::string> blocks_of(const std::string& document) {
    constexpr std::string_view kFence = "\n```scenario\n";
    std::vector<std::string> blocks;
    for (auto at = document.find(kFence); at != std::string::npos;
         at = document.find(kFence, at + 1)) {
        const auto first = at + kFence.size();
        blocks.push_back(document.substr(first, document.find("\n```\n", first) + 1 - first));
    }
    return blocks;
}

bool passes(const fs::path& file, bool update) {
    const std::string text = read(file);
    if (file.extension() != ".md") return passes(file, text, update);
    const std::vector<std::string> blocks = blocks_of(text);
    if (blocks.empty()) std::cout << file.string() << ": holds no block fenced as ```scenario\n";
    return !blocks.empty() && std::ranges::all_of(blocks, [&](const std::string& block) {
        return passes(file, block, false);
    });
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    if (!read_options(argc, argv, options)) {
        std::cerr << "usage: scenario_suite [--update] [--at-least N] FILE|FOLDER...\n";
        return 2;
    }
    const std::vector<fs::path> files = scenario_files(options);
    std::size_t failed = 0;
    for (const fs::path& file : files) failed += passes(file, options.update) ? 0 : 1;
    std::cout << files.size() << " scenarios, " << failed << " failed\n";
    if (files.size() < options.at_least) {
        std::cout << "wanted at least " << options.at_least << '\n';
        return 1;
    }
    return failed == 0 ? 0 : 1;
}
