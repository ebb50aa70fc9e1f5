// SPDX-License-Identifier: Apache-2.0
//
// Where does the demo play? On a server of its own with simulated GPUs, in a temporary directory
// that is gone afterwards, whatever happens in between.
#pragma once

#include <memory>
#include <string>

#include "cli/command_line/context.h"
#include "cli/command_line/exit_code.h"

namespace berth::cli {

class DemoServer {
  public:
    // Starts `berth up` and returns when it is ready. Errors: what it said.
    static Outcome<std::unique_ptr<DemoServer>> start(const Context& outer,
                                                      const std::string& gpus);
    ~DemoServer();
    // Ends the server with all its jobs and removes the directory, once. Errors: it lives on, and
    // its directory stays.
    Success end();
    DemoServer(const DemoServer&) = delete;
    DemoServer& operator=(const DemoServer&) = delete;

    // The context of verbs that talk to it.
    const Context& context() const { return context_; }
    // The path of a program that is installed beside this one.
    std::string sibling(const std::string& program) const;

  private:
    DemoServer(const Context& outer, std::string directory);

    Context context_;
    std::string directory_;
};

}  // namespace berth::cli
