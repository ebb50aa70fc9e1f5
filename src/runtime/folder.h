// SPDX-License-Identifier: Apache-2.0
//
// Is this folder ours, and ours alone? Sockets, logs and memory of a server lie in folders that no
// other user can change, or could have prepared: a folder with a known name in a world-writable
// place may be another user's, or a link to root's files.
// A Folder is open: what is checked is what is used, whatever its name leads to later.
#pragma once

#include <sys/stat.h>

#include <string>

#include "base/result.h"
#include "runtime/descriptor.h"

namespace berth::runtime {

enum class Openness {
    Private,  // mode 0700: no other user can look into it; made so where others could only look
    Passable,  // others may pass through it to what they may use; they can change nothing
    Readable,  // made as a private one; what others may read of one that was there stays so
};

class Folder {
  public:
    // Makes the folder, mode 0700 or 0711 whatever the umask, when it is not there. The folder
    // above it must exist, and no other user may be able to replace what lies in it. Errors:
    // Forbidden (it is a link, another user's, or open to others), Unavailable.
    static base::Result<Folder> make(const std::string& path, Openness openness);
    // Where a server keeps its log, its token and what it runs: with the folders above it, and with
    // nothing of another user's in it.
    static base::Result<Folder> make_data_folder(const std::string& path);
    // The same as make(), below this one.
    base::Result<Folder> make_below(const std::string& name, Openness openness) const;

    const std::string& path() const { return path_; }
    int fd() const { return fd_.get(); }
    // Follows no link.
    base::Result<Descriptor> open_file(const std::string& name, int flags, mode_t mode) const;
    // Whether each file and link in it is ours or root's: another user may have been able to put
    // one there before the folder was closed. Errors: Forbidden.
    base::Status check_owners() const;
    // What was there is gone then, and so is nothing else.
    void remove_file(const std::string& name) const;

  private:
    Folder(std::string path, Descriptor fd) : path_(std::move(path)), fd_(std::move(fd)) {}

    std::string path_;
    Descriptor fd_;
};

}  // namespace berth::runtime
