// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/terms/rotations.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <string_view>

namespace berth::gpu_shares {
namespace {

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
// What a rotation is called in the files of an earlier server, whose jobs may still run.
constexpr std::string_view kEarlierWord = "lane";

// What the tenant's limit takes of that GPU: behind "UUID:" in "gpus=UUID:40960M,...".
std::int64_t mebibytes_of(const std::string& order, const std::string& uuid) {
    const auto at = order.find(uuid + ":");
    if (at == std::string::npos) return 0;
    std::int64_t value = 0;
    const char* first = order.data() + at + uuid.size() + 1;
    std::from_chars(first, order.data() + order.size(), value);
    return value;
}

}  // namespace

std::vector<std::string> rotation_orders(const std::map<std::string, TenantTerms>& tenants,
                                         std::map<std::string, base::Bytes>& before) {
    std::map<std::string, std::vector<std::string>> members;
    std::map<std::string, std::int64_t> left;
    for (const auto& [name, terms] : tenants) {
        if (terms.rotation.empty()) continue;
        members[terms.rotation].push_back(name);
        left[terms.rotation] = terms.memory.value / kMebibyte;
    }
    for (auto& [rotation, mebibytes] : left) {
        for (const auto& [name, terms] : tenants) {
            if (terms.rotation.empty()) mebibytes -= mebibytes_of(terms.order, rotation);
        }
        mebibytes = std::max(mebibytes, std::int64_t{1});
    }
    std::vector<std::string> orders;
    for (const auto& [rotation, mebibytes] : left) {
        const base::Bytes memory{mebibytes * kMebibyte};
        const auto known = before.find(rotation);
        if (known != before.end() && known->second == memory) continue;
        before[rotation] = memory;
        const std::string amount = " memory=" + std::to_string(mebibytes) + "M";
        // First the rotation when it grows, first its tenants when it shrinks.
        orders.push_back("rotation " + rotation + amount);
        for (const std::string& name : members[rotation]) orders.push_back("set " + name + amount);
        orders.push_back("rotation " + rotation + amount);
    }
    return orders;
}

std::string written(const TenantTerms& terms) {
    std::string text = terms.order + "\n";
    if (!terms.node.empty()) text += "node " + terms.node + "\n";
    if (terms.may_leave) text += "may_leave\n";
    if (!terms.rotation.empty())
        text += "rotation " + terms.rotation + " " + std::to_string(terms.memory.value) + "\n";
    return text;
}

TenantTerms read_terms(const std::string& text) {
    TenantTerms terms;
    std::istringstream lines(text);
    std::getline(lines, terms.order);
    const std::string earlier = " " + std::string(kEarlierWord) + "=";
    if (const auto at = terms.order.find(earlier); at != std::string::npos)
        terms.order.replace(at, earlier.size(), " rotation=");
    for (std::string word; lines >> word;) {
        if (word == "node") lines >> terms.node;
        if (word == "may_leave") terms.may_leave = true;
        if (word == "rotation" || word == kEarlierWord)
            lines >> terms.rotation >> terms.memory.value;
    }
    return terms;
}

}  // namespace berth::gpu_shares
