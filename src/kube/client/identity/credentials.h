// SPDX-License-Identifier: Apache-2.0
//
// What does a request carry to say who we are? The header Authorization, or nothing where a client
// certificate says it. A token in a file is read again as soon as the file is another one (a
// ServiceAccount's changes every hour); one that a program prints, when it is about to expire or
// the server no longer takes it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/client/identity/access.h"
#include "ports/clock.h"

namespace berth::kube::client {

// Runs a program to its end and answers with what it has printed. The answer may come at once.
class ProcessRunner {
  public:
    using Printed = std::function<void(base::Result<std::string>)>;

    virtual ~ProcessRunner() = default;
    virtual void run(const ExecCommand& command, Printed printed) = 0;
};

class Credentials {
  public:
    // `runner` may be null when there is no exec command. `date` is the time of the calendar: a
    // program says by it when its token expires.
    Credentials(const Access& access, ProcessRunner* runner, const ports::Clock& date);

    // The value of the header, empty for none. Called once; at once where nothing has to be run.
    using Ready = std::function<void(base::Result<std::string>)>;
    void authorize(Ready ready);
    // The server did not take it (401).
    void renew();

  private:
    void run();
    void finish(const base::Result<std::string>& header);
    base::Result<std::string> read_file();

    std::string token_;
    std::string token_file_;
    std::string file_mark_;  // which file the token is from
    std::optional<ExecCommand> exec_;
    ProcessRunner* runner_;
    const ports::Clock& date_;
    std::optional<base::TimePoint> expiry_;
    std::vector<Ready> waiting_;
    bool is_running_ = false;
};

// What an exec program prints. Errors: Invalid.
struct ExecCredential {
    std::string token;
    std::optional<base::TimePoint> expiry;
};
base::Result<ExecCredential> read_exec_credential(std::string_view text);

}  // namespace berth::kube::client
