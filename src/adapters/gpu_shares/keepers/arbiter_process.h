// SPDX-License-Identifier: Apache-2.0
//
// Is the arbiter of this machine's GPUs there? It is started when it is needed first and outlives
// this server, as jobs do; another server for the same directory finds it again. Should it have
// died, its tenants are registered anew from what is written down of each.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "adapters/gpu_shares/keepers/terms_book.h"
#include "adapters/gpu_shares/terms/tenants.h"

namespace berth::gpu_shares {

class ArbiterProcess {
  public:
    // `options` are words for berth-arbiter, behind --dir.
    ArbiterProcess(std::string program, std::string directory, std::vector<std::string> options);

    // Errors: Unavailable when the arbiter can neither be reached nor started, or refuses.
    base::Status add(const Tenant& tenant);
    // ShareKeeper.
    base::Status narrow(const std::string& prefix, const std::map<std::string, std::string>& terms);
    void change(const std::string& prefix, const std::map<std::string, std::string>& terms);
    // What the arbiter knows of all tenants whose names begin so; empty when it is not there.
    std::string status(const std::string& prefix);
    std::string status_of_all();
    // Of all tenants that are in one and stay. Starts it when it has died while it has tenants:
    // without it their processes join nothing more, and who waits for memory waits for ever.
    std::string status_of_rotations();
    // What the tenant's processes hold beside its share, by GPU.
    void charge(const std::string& tenant, const std::map<std::string, base::Bytes>& held);
    // All tenants whose names begin so. Who is still there is tried again by later calls.
    void drop(const std::string& prefix);
    const TermsBook& book() const { return book_; }
    // When it has no tenants any more; whether that is so.
    bool stop_if_idle();

    std::string socket_of(const Tenant& tenant) const;

  private:
    base::Status start();
    void drop_leaving();
    void fit_rotations(const std::map<std::string, TenantTerms>& tenants);
    // Of the arbiter that is there; one that does not answer is woken, then ended.
    base::Result<std::string> tell(const std::string& order);
    // The same, and where there is none a new one is started.
    base::Result<std::string> ask(const std::string& order);

    std::string program_;
    std::string directory_;
    std::vector<std::string> options_;
    TermsBook book_;
    std::map<std::string, base::Bytes> rotations_;  // as the arbiter has them
    std::vector<std::string> leaving_;  // tenants whose processes were not all gone
    // A start that failed is not repeated at once: it may take seconds to fail again.
    std::optional<base::Error> start_failure_;
    std::chrono::steady_clock::time_point next_start_;
    pid_t pid_ = 0;  // when it is our child
};

}  // namespace berth::gpu_shares
