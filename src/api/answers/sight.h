// SPDX-License-Identifier: Apache-2.0
//
// Which cluster does an answer look at? The one there is, or, where the request says ?at=, the one
// that was at that moment. Answers that may look at both ask here, and are the same code for both.
// What no event says is not known of a moment that is past: what GPUs and the machine were measured
// to do, and what was expected to come.
#pragma once

#include <memory>
#include <optional>

#include "api/answers/site.h"

namespace berth::api {

class Sight {
  public:
    Sight(Site& site) : site_(&site) {}  // NOLINT(google-explicit-constructor): the one there is
    Sight(Site& site, const Call& call) : site_(&site), moment_(call.moment) {}

    Site& site() const { return *site_; }
    bool is_past() const { return moment_ != nullptr; }
    const lifecycle::State& state() const;
    const model::Policy& policy() const;
    model::TimePoint now() const;
    // As control::Controller says it of now.
    std::optional<model::Verdict> why(model::JobId job) const;
    std::optional<model::OrderAccount> order_account(model::JobId job) const;
    // The job, live or ended. Errors: NotFound.
    base::Result<model::JobRecord> record_of(model::JobId job) const;

  private:
    Site* site_;
    std::shared_ptr<Moment> moment_;  // null: now
};

}  // namespace berth::api
