// SPDX-License-Identifier: Apache-2.0
#include "api/past/span_desk.h"

#include <algorithm>
#include <utility>

#include "api/map/gzip.h"
#include "codec/api/timeline_json.h"
#include "overview/timeline_sentence.h"

namespace berth::api {
namespace {

// The end that is expected first, among jobs that run.
std::optional<overview::NextEnd> next_end(const SpanQuestion& question,
                                          const timeline::Lives& lives) {
    std::optional<overview::NextEnd> next;
    for (const auto& [job, expected] : question.expected) {
        if (expected.spans.size() != 1 || !expected.spans[0].to.expected) continue;
        const model::Band& when = expected.spans[0].to;
        if (next && *next->when.expected <= *when.expected) continue;
        const std::string name = lives.name_of(job);
        next = {name.substr(name.rfind('/') + 1), when};
    }
    return next;
}

std::string answer(const SpanQuestion& question, const timeline::Lives& lives) {
    model::ClusterTimeline page = lives.page(question.asked);
    page.now = question.now;
    for (model::JobSpans& job : page.items) {
        const auto expected = question.expected.find({job.id});
        if (expected == question.expected.end() || model::is_final(job.state)) continue;
        job.expected = expected->second.spans;
        job.evidence = expected->second.evidence;
    }
    page.sentence = overview::timeline_sentence(page, next_end(question, lives));
    codec::NameSource names;
    names.date_shift = question.date_shift;
    names.job = [&](model::JobId job) { return lives.name_of(job); };
    names.node = [&](model::NodeId node) {
        const auto& known = *question.node_names;
        return node.index() < known.size() ? known[node.index()] : std::string();
    };
    std::string text = codec::spans_json(page, names);
    return question.is_small ? gzipped(text) : text;
}

}  // namespace

// Goes to the other thread and comes back.
struct SpanDesk::Reading {
    ports::OpenLog open_log;
    std::int64_t read_to = 0;
    timeline::Lives lives;
    std::unique_ptr<ports::LogReader> log = {};  // opened and used over there alone

    // Of this turn.
    std::vector<std::shared_ptr<SpanQuestion>> asked = {};
    std::vector<std::string> answers = {};
    base::Status status = {};
    bool is_complete = false;

    base::Status read_on() {
        if (!log) {
            BERTH_TRY(opened, open_log());
            log = std::move(opened);
        }
        std::int64_t read = 0;
        BERTH_TRY_VOID(log->read_events(read_to, kPartOfLog, [&](const model::Event& event) {
            lives.read(event);
            read_to = event.sequence;
            ++read;
        }));
        is_complete = read < kPartOfLog;
        return {};
    }
    void turn() {
        is_complete = false;
        answers.clear();
        status = read_on();
        if (!status || !is_complete) return;
        for (const auto& question : asked) answers.push_back(answer(*question, lives));
    }
};

void SpanDesk::ask(SpanQuestion question, Done done) {
    waiting_.push_back({std::make_shared<SpanQuestion>(std::move(question)), std::move(done)});
    if (!is_away_) begin();
}

void SpanDesk::begin() {
    if (!reading_) {
        const std::int64_t first =
            std::max<std::int64_t>(waiting_.front().question->last - kLogLookedAt, 0);
        reading_ = std::make_shared<Reading>(open_log_, first, timeline::Lives(first > 0));
    }
    reading_->asked.clear();
    for (const Waiting& waiting : waiting_) reading_->asked.push_back(waiting.question);
    is_away_ = true;
    if (background_([reading = reading_] { reading->turn(); }, [this] { finish(); })) return;
    is_away_ = false;
    const base::Error error{base::ErrorCode::Exhausted, "too many questions wait for an answer"};
    for (const Waiting& waiting : std::exchange(waiting_, {})) {
        waiting.done(tl::unexpected(error));
    }
}

void SpanDesk::finish() {
    is_away_ = false;
    const std::size_t asked = reading_->asked.size();
    if (reading_->status && !reading_->is_complete) return begin();
    // Who asked while it was away waits for the next turn.
    std::vector<Waiting> answered(
        std::make_move_iterator(waiting_.begin()),
        std::make_move_iterator(waiting_.begin() + static_cast<std::ptrdiff_t>(asked)));
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(asked));
    const base::Status status = reading_->status;
    std::vector<std::string> answers = std::move(reading_->answers);
    // What was read stays; a log that could not be read is opened anew.
    if (!status) reading_->log.reset();
    if (!waiting_.empty()) begin();
    for (std::size_t i = 0; i < answered.size(); ++i) {
        if (status) {
            answered[i].done(std::move(answers[i]));
        } else {
            answered[i].done(tl::unexpected(status.error()));
        }
    }
}

}  // namespace berth::api
