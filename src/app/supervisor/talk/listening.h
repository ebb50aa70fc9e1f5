// SPDX-License-Identifier: Apache-2.0
//
// Where is an attempt reached when its server has gone? At a socket in the runtime folder. It costs
// a file, so that only who has lost its server, or is to be attached to, listens.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "runtime/folder.h"
#include "supervision/descriptor.h"

namespace berth::supervisor {

class Listening {
  public:
    Listening(std::string folder, std::string name)
        : path_(std::move(folder)), name_(std::move(name)) {}

    // Whether it listens now. Where it cannot, as on a full disk, it is worth another try.
    bool open();
    bool is_open() const { return socket_.is_open(); }
    // Whether the socket is still in its place: a user may tidy up the folder.
    bool is_there() const;
    // Takes the socket out of the folder.
    void close();
    int fd() const { return socket_.get(); }

  private:
    std::string path_;
    std::string name_;
    std::optional<runtime::Folder> folder_;
    supervision::Descriptor socket_;
    ino_t file_ = 0;
};

}  // namespace berth::supervisor
