// SPDX-License-Identifier: Apache-2.0
//
// How does a program of ours run beside the server, and what does it say? It is a child that ends
// with its standard input, so with this server at the latest, and says in its first line "ready"
// with what it can do, or "unable" and why not.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "supervision/descriptor.h"

namespace berth::gpu_shares {

struct ChildOrder {
    std::vector<std::string> words;  // its path first
    std::vector<std::string> environment = {};  // before this process's own of the same names
    bool tells_errors = false;  // its standard error is read with its output, else is as ours
};

class Child {
  public:
    Child() = default;
    // Errors: Unavailable, when the program cannot be run.
    static base::Result<Child> start(const ChildOrder& order);

    // False before start() and once it has ended.
    bool is_living();
    // What is behind "ready" in the line that begins so. Errors: Unavailable, with its reason, with
    // how it ended, or when it says nothing for that time.
    base::Result<std::string> answer(int patience_ms);
    // What it has said since it was last asked for, without waiting.
    std::string news();
    // Ends it at once, and waits until it has.
    void kill();

  private:
    std::string how_it_ended(const std::string& last_words);

    std::string program_;
    pid_t pid_ = -1;
    supervision::Descriptor input_;
    supervision::Descriptor output_;
};

}  // namespace berth::gpu_shares
