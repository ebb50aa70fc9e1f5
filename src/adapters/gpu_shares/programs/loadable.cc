// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/programs/loadable.h"

#include <filesystem>

namespace berth::gpu_shares {
namespace {

// '$' begins what the loader replaces.
constexpr const char* kCutsLists = " \t\n:;$";

}  // namespace

base::Result<std::string> loadable(const std::string& folder, const std::string& link) {
    const std::size_t cut = folder.find_first_of(kCutsLists);
    if (cut == std::string::npos) return folder;
    if (link.find_first_of(kCutsLists) != std::string::npos) {
        return base::invalid("the loader cuts lists of libraries at '" + folder.substr(cut, 1) +
                             "', which the path \"" + folder +
                             "\" has, and the data directory has such a character too; choose "
                             "another one (berth up --data)");
    }
    std::error_code error;
    if (std::filesystem::read_symlink(link, error) == folder) return link;
    std::filesystem::remove(link, error);
    std::filesystem::create_directory_symlink(folder, link, error);
    if (!error) return link;
    return base::fail(base::ErrorCode::Unavailable,
                      "cannot make \"" + link + "\": " + error.message());
}

}  // namespace berth::gpu_shares
