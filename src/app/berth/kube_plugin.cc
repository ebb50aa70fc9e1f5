// SPDX-License-Identifier: Apache-2.0
#include "app/berth/kube_plugin.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace berth::app {
namespace {

constexpr std::string_view kPlugin = "kubectl-berth";
constexpr std::array<std::string_view, 3> kHelp{"help", "--help", "-h"};

char kHelpWord[] = "help";
char kKubeWord[] = "kube";

bool asks_for_help(const std::vector<char*>& words) {
    return words.size() == 1 || std::ranges::find(kHelp, std::string_view(words[1])) != kHelp.end();
}

}  // namespace

std::vector<char*> as_typed_to_berth(std::vector<char*> words) {
    const std::string_view path = words.empty() ? std::string_view() : words.front();
    if (path.substr(path.rfind('/') + 1) != kPlugin) return words;
    if (!asks_for_help(words)) {
        words.insert(words.begin() + 1, kKubeWord);
        return words;
    }
    if (words.size() > 1) words.erase(words.begin() + 1);
    words.insert(words.begin() + 1, {kHelpWord, kKubeWord});
    return words;
}

}  // namespace berth::app
