// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/terms_book.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace berth::gpu_shares {

namespace fs = std::filesystem;

TermsBook::TermsBook(std::string folder) : folder_(std::move(folder)) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(folder_, none)) {
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        tenants_[entry.path().filename().string()] = read_terms(text.str());
    }
}

void TermsBook::put(const std::string& name, TenantTerms terms) {
    // Beside the folder, and moved when it is whole: half of it would be read as other terms.
    const std::string fresh = folder_ + ".new";
    std::ofstream file(fresh, std::ios::trunc);
    file << written(terms);
    file.close();
    std::error_code failed;
    if (file) fs::rename(fresh, folder_ + '/' + name, failed);
    tenants_[name] = std::move(terms);
}

void TermsBook::erase(const std::string& name) {
    std::error_code ignored;
    fs::remove(folder_ + '/' + name, ignored);
    tenants_.erase(name);
}

std::map<std::string, TenantTerms> TermsBook::of(const std::string& prefix) const {
    std::map<std::string, TenantTerms> found;
    const std::string first = prefix + ".";
    for (auto at = tenants_.lower_bound(first); at != tenants_.end(); ++at) {
        if (!at->first.starts_with(first)) break;
        found.insert(*at);
    }
    return found;
}

std::set<std::string> TermsBook::nodes_of_dependents() const {
    std::set<std::string> nodes;
    for (const auto& [name, terms] : tenants_)
        if (terms.may_leave) nodes.insert(terms.node);
    return nodes;
}

std::string TermsBook::node_of(const std::string& prefix) const {
    const auto found = of(prefix);
    return found.empty() ? "" : found.begin()->second.node;
}

}  // namespace berth::gpu_shares
