// SPDX-License-Identifier: Apache-2.0
//
// How is a job handed in once, although the answer may get lost? By a key under which it is asked
// again: the server answers with the job that it took before, if it did.

#include <chrono>
#include <thread>

#include "cli/client/client.h"
#include "cli/terminal/time_text.h"
#include "codec/api/json_api.h"
#include "codec/text/json.h"
#include "runtime/random_name.h"

namespace berth::cli {
namespace {

constexpr base::Duration kAskAgainFor{20'000};
constexpr std::chrono::milliseconds kPause{500};

// Whether the server, if it heard the request, may have taken the job.
bool may_have_taken(const base::Result<HttpResponse>& response, bool was_sent) {
    if (!response) return was_sent;
    return response->status == 503 && !response->is_turned_away() &&
           codec::parse_problem(response->body).code == base::ErrorCode::Unavailable;
}

}  // namespace

Outcome<JobAnswer> Client::submit(const model::Submission& submission) {
    std::string key = submission.key;
    if (key.empty()) {
        const auto random = runtime::random_name(16);
        if (!random) return tl::unexpected(Failure::from(random.error()));
        key = "cli-" + *random;
    }
    const HttpRequest request{.method = "POST",
                              .target = "/api/v1/jobs",
                              .body = codec::submission_json(submission),
                              .headers = {{"Idempotency-Key", key}}};
    const base::TimePoint give_up = clock_now() + kAskAgainFor;
    bool may_be_taken = false;
    for (;;) {
        auto response = connection_.send(request, patience_);
        if (response) take_notice(*response);
        if (response && response->status < 300) return read_job(std::move(response->body));
        may_be_taken |= may_have_taken(response, connection_.has_sent());
        Failure failure = response ? refused(*response) : no_answer(response.error());
        // Until it is settled by an answer of another kind.
        const bool is_settled = failure.exit_code != kServerUnreachable;
        const bool may_be_heard = response && response->is_turned_away();
        if (is_settled || !(may_be_taken || may_be_heard)) return tl::unexpected(failure);
        if (clock_now() >= give_up) {
            if (!may_be_taken) return tl::unexpected(failure);
            failure.cause += "; the job may have been submitted";
            failure.hint = "berth ls, or submit the same again with --key " + key;
            return tl::unexpected(std::move(failure));
        }
        std::this_thread::sleep_for(kPause);
    }
}

}  // namespace berth::cli
