// SPDX-License-Identifier: Apache-2.0
#include "kube/client/identity/kubeconfig_files.h"

#include <string_view>

namespace berth::kube::client {
namespace {

std::vector<std::string> split_paths(std::string_view variable) {
    std::vector<std::string> paths;
    while (!variable.empty()) {
        const std::size_t end = variable.find(':');
        if (end != 0) paths.emplace_back(variable.substr(0, end));
        if (end == std::string_view::npos) break;
        variable.remove_prefix(end + 1);
    }
    return paths;
}

}  // namespace

base::Result<std::vector<Kubeconfig>> find_kubeconfigs(const KubeconfigPlaces& places) {
    std::vector<Kubeconfig> files;
    if (!places.flag.empty()) {
        BERTH_TRY(text, read_small_file(places.flag));
        files.push_back({places.flag, std::move(text)});
        return files;
    }
    std::vector<std::string> paths = split_paths(places.variable);
    if (paths.empty() && !places.home.empty()) paths.push_back(places.home + "/.kube/config");
    std::string looked;
    for (const std::string& path : paths) {
        looked += (looked.empty() ? "" : ", ") + path;
        auto text = read_small_file(path);
        if (text) {
            files.push_back({path, std::move(*text)});
        } else if (text.error().code != base::ErrorCode::NotFound) {
            return tl::unexpected(text.error());
        }
    }
    if (!files.empty()) return files;
    return base::fail(base::ErrorCode::NotFound, "no kubeconfig at " +
                                                     (looked.empty() ? "~/.kube/config" : looked) +
                                                     "; --kubeconfig or KUBECONFIG names one");
}

}  // namespace berth::kube::client
