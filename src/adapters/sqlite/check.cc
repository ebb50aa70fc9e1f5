// SPDX-License-Identifier: Apache-2.0
#include "adapters/sqlite/check.h"

#include <algorithm>
#include <filesystem>

#include "adapters/sqlite/log_end.h"
#include "adapters/sqlite/schema.h"
#include "adapters/sqlite/stored_events.h"
#include "codec/log/event_log.h"
#include "lifecycle/check.h"

namespace berth::adapters::sqlite {
namespace {

// Damage tends to come in heaps, and the first of it says what to do.
constexpr std::size_t kFindingsMax = 20;

std::string event_name(std::int64_t sequence) { return "event " + std::to_string(sequence); }

// What the order of jobs remembers may have been kept up to a later time than that of the event; a
// ledger may have begun after the log, with the first version that had one.
std::string text_of(model::Snapshot snapshot) {
    snapshot.order = {};
    snapshot.ledger = {};
    std::string text;
    codec::append_snapshot(text, snapshot);
    return text;
}

class Checker {
  public:
    explicit Checker(Database& database) : database_(database) {}

    base::Status run();
    LogCheck take() { return std::move(check_); }

  private:
    void check_pages();
    base::Status prepare();
    base::Status read_snapshots();
    void check_event(const StoredEvent& stored);
    void check_row(const StoredEvent& stored, const model::Event& event);
    void follow_chain(const StoredEvent& stored);
    void fold(const model::Event& event);
    void check_ended(const model::JobRecord& record);
    void check_snapshot();
    void check_counts();
    base::Status check_keys();
    void find(std::string what, std::string next = kRestore);

    Database& database_;
    LogCheck check_;
    Statement select_finished_;
    std::map<std::int64_t, std::string> snapshots_;  // payloads
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> keys_;  // job, time in ms
    std::int64_t keys_kept_from_ms_ = INT64_MIN;
    CommitHash hash_;
    Hash previous_{};
    std::int64_t commit_begin_ = 1;
    bool is_whole_ = true;  // so far, so that its state follows from the events
    // Earlier versions did not all see the same in the same events: what they wrote down beside
    // them is not compared.
    bool is_of_this_version_ = false;
    std::size_t left_out_ = 0;
};

void Checker::find(std::string what, std::string next) {
    if (check_.findings.size() < kFindingsMax) {
        check_.findings.push_back({std::move(what), std::move(next)});
    } else {
        ++left_out_;
    }
}

base::Status Checker::run() {
    // One state, whatever a server writes meanwhile.
    BERTH_TRY_VOID(database_.execute("BEGIN"));
    check_pages();
    base::Status status = prepare();
    if (status) {
        status = read_stored_events(database_, [&](const StoredEvent& stored) {
            check_event(stored);
            return base::Status{};
        });
    }
    if (status) status = check_keys();
    if (!status) find("the log cannot be read to its end: " + status.error().message);
    if (status) check_counts();
    if (left_out_ > 0) {
        check_.findings.push_back({"and " + std::to_string(left_out_) + " more", kRestore});
    }
    return database_.execute("COMMIT");
}

void Checker::check_pages() {
    auto select = database_.prepare("PRAGMA integrity_check(10)");
    if (!select) return find("the file cannot be read: " + select.error().message);
    while (true) {
        const auto has_row = select->step();
        if (!has_row) return find("the file cannot be read: " + has_row.error().message);
        if (!*has_row) return;
        if (select->text(0) != "ok") find("the file is damaged: " + std::string(select->text(0)));
    }
}

base::Status Checker::prepare() {
    BERTH_TRY(select, database_.prepare("SELECT payload, project FROM finished WHERE job = ?"));
    select_finished_ = std::move(select);
    return read_snapshots();
}

base::Status Checker::read_snapshots() {
    BERTH_TRY(select, database_.prepare("SELECT sequence, payload, time FROM snapshots"));
    while (true) {
        BERTH_TRY(has_row, select.step());
        if (!has_row) return {};
        snapshots_.emplace(select.integer(0), std::string(select.text(1)));
        keys_kept_from_ms_ =
            std::max(keys_kept_from_ms_, select.integer(2) - ports::kKeyKept.count());
    }
}

void Checker::check_event(const StoredEvent& stored) {
    const std::int64_t wanted = check_.end.sequence + 1;
    if (stored.sequence != wanted) {
        is_whole_ = false;
        find(stored.sequence == wanted + 1
                 ? event_name(wanted) + " is missing"
                 : "events " + std::to_string(wanted) + " to " +
                       std::to_string(stored.sequence - 1) + " are missing");
    }
    follow_chain(stored);
    const auto event = codec::parse_event(stored.payload);
    check_.end.sequence = stored.sequence;
    if (!event) {
        is_whole_ = false;
        return find(event_name(stored.sequence) + " cannot be read: " + event.error().message);
    }
    if (stored.sequence == 1) {
        const auto* begun = std::get_if<model::LogBegun>(&event->body);
        is_of_this_version_ = begun != nullptr && begun->order.has_value();
    }
    check_row(stored, *event);
    note(check_.end, *event);
    if (const auto known = model::key_of(event->body); !known.key.empty()) {
        keys_[std::string(known.key)] = {known.job.value, stored.time_ms};
    }
    check_.end.sequence = stored.sequence;
    if (is_whole_) fold(*event);
}

// The columns repeat what the payload says.
void Checker::check_row(const StoredEvent& stored, const model::Event& event) {
    const model::JobId job = codec::job_of(event.body);
    const std::optional<std::int64_t> wanted =
        job.is_valid() ? std::optional(job.value) : std::nullopt;
    if (event.sequence == stored.sequence && base::to_ms(event.time) == stored.time_ms &&
        wanted == stored.job && codec::event_type(event.body) == stored.type) {
        return;
    }
    is_whole_ = is_whole_ && event.sequence == stored.sequence;
    find(event_name(stored.sequence) + " differs from its own row");
}

void Checker::follow_chain(const StoredEvent& stored) {
    add_to(hash_, stored);
    if (!stored.chain) return;
    const Hash wanted = hash_.after(previous_);
    if (*stored.chain != bytes_of(wanted)) {
        const bool is_one = stored.sequence == commit_begin_;
        find("the checksum of " +
             (is_one ? event_name(stored.sequence)
                     : "events " + std::to_string(commit_begin_) + " to " +
                           std::to_string(stored.sequence)) +
             " is wrong: one of them, or the command of a job they submit, was changed or lost");
    }
    ++check_.commits;
    // Each further difference is one of its own.
    previous_ = wanted;
    if (stored.chain->size() == previous_.size()) {
        std::ranges::copy(*stored.chain, previous_.begin());
    }
    hash_ = CommitHash();
    commit_begin_ = stored.sequence + 1;
}

void Checker::fold(const model::Event& event) {
    auto ended = lifecycle::replay(check_.state, event);
    if (!ended) {
        is_whole_ = false;
        return find(event_name(event.sequence) +
                    " is impossible after those before: " + ended.error().message);
    }
    if (*ended) check_ended(**ended);
    if (is_of_this_version_) check_snapshot();
}

void Checker::check_ended(const model::JobRecord& record) {
    check_.ended[record.id] = {record.state, record.exit_code, record.attempts, record.incarnation};
    const std::string job = "job " + std::to_string(record.id.value);
    const auto has_row = select_finished_.bind(1, record.id.value).step();
    const auto stored = has_row && *has_row ? codec::parse_finished(select_finished_.text(0))
                                            : base::Result<codec::FinishedJob>{};
    std::string wanted;
    std::string found;
    codec::append_finished(wanted, record);
    if (stored) codec::append_finished(found, stored->record);
    if (!has_row || !*has_row) {
        find(job + " has ended by the events, and is not among the finished jobs");
    } else if (!stored) {
        find(job + " cannot be read among the finished jobs: " + stored.error().message);
    } else if (is_of_this_version_ &&
               (found != wanted || select_finished_.text(1) != record.spec.project)) {
        find(job + " is another one among the finished jobs than by the events");
    }
    select_finished_.reset();
}

void Checker::check_snapshot() {
    const auto found = snapshots_.find(check_.state.sequence);
    if (found == snapshots_.end()) return;
    auto stored = codec::parse_snapshot(found->second);
    if (!stored || text_of(std::move(*stored)) != text_of(lifecycle::snapshot(check_.state))) {
        find("the snapshot at " + event_name(check_.state.sequence) +
             " differs from what follows from the events");
    }
    snapshots_.erase(found);
}

// Before, keys stood beside the events alone.
base::Status Checker::check_keys() {
    std::map<std::string, std::pair<std::int64_t, std::int64_t>> stored;
    BERTH_TRY(select, database_.prepare("SELECT key, job, time FROM keys"));
    while (true) {
        BERTH_TRY(has_row, select.step());
        if (!has_row) break;
        stored[std::string(select.text(0))] = {select.integer(1), select.integer(2)};
    }
    if (!is_of_this_version_ || !is_whole_) return {};
    for (const auto& [key, job] : keys_) {
        const auto found = stored.find(key);
        const bool is_kept = found != stored.end() && found->second == job;
        if (found != stored.end()) stored.erase(found);
        if (is_kept || job.second < keys_kept_from_ms_) continue;
        find("the key of job " + std::to_string(job.first) +
             " is not among the keys, and its owner could run it twice");
    }
    for (const auto& [key, job] : stored) {
        find("there is a key of job " + std::to_string(job.first) + " that no event names");
    }
    return {};
}

void Checker::check_counts() {
    if (commit_begin_ <= check_.end.sequence) {
        find("the checksum of the last commit is missing: events from " +
             std::to_string(commit_begin_) + " on are not vouched for");
    }
    if (!is_whole_) return;
    for (const auto& [sequence, payload] : snapshots_) {
        if (sequence <= check_.end.sequence) continue;
        find("there is a snapshot at " + event_name(sequence) + ", and the log ends at " +
             event_name(check_.end.sequence));
    }
    const auto finished = database_.integer("SELECT count(*) FROM finished");
    if (finished && *finished != std::ssize(check_.ended)) {
        find(std::to_string(*finished) + " finished jobs are written down, and " +
             std::to_string(check_.ended.size()) + " have ended by the events");
    }
}

}  // namespace

base::Result<LogCheck> check_log(const std::string& path) {
    BERTH_TRY(database, Database::open_to_read(path));
    if (const auto version = check_version(database, path); !version) {
        // Also where nothing can be read the log is what fails, not Berth.
        return base::fail(base::ErrorCode::Conflict, version.error().message);
    }
    Checker checker(database);
    BERTH_TRY_VOID(checker.run());
    return checker.take();
}

base::Result<LogCheck> check_directory(const std::string& directory, base::JobId highest_used) {
    const std::string path = directory + "/berth.db";
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored)) {
        return base::fail(base::ErrorCode::NotFound, "there is no log \"" + path + "\"");
    }
    // Read first: the log is never behind it.
    const auto high = HighMarkFile::read(directory);
    BERTH_TRY(check, check_log(path));
    check.is_restored = high && *high && (*high)->is_restored;
    if (!high) {
        check.findings.push_back({high.error().message, kRestore});
    } else if (!check.is_restored) {
        const base::Status standing = check_standing(check.end, *high, highest_used, path);
        if (!standing) check.findings.push_back({standing.error().message, kRestore});
    }
    return std::move(check);
}

}  // namespace berth::adapters::sqlite
