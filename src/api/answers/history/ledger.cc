// SPDX-License-Identifier: Apache-2.0
//
// Where did the GPU time go? ?from=DATE&to=DATE&by=project|user|job|gpu|pool|day, as JSON or, with
// ?form=csv, as a table. Days are whole ones, UTC, both included. In GPU seconds, exact. By job:
// what each had in its whole life that lives, or ended on one of these days. Whatever it is by, it
// begins with the sentences and savings of all GPUs.
#include <algorithm>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/text/json_writer.h"
#include "codec/words/timestamp.h"
#include "ledger/sentences.h"

namespace berth::api {
namespace {

using model::GpuUse;

constexpr std::int64_t kDaysShown = 7;
constexpr base::Duration kOldEnough{10'000};  // of what is only named beside an amount

struct LedgerQuery {
    ledger::Days days;
    std::string by;
    bool is_csv = false;
};

struct LedgerSpan {
    model::LedgerBook book;
    ledger::Days days;
    std::int64_t today = 0;  // since the epoch, as days are
};

struct LedgerAnswer {
    LedgerQuery query;
    ledger::Report report;
    bool has_cost = false;
    std::vector<ledger::Sentence> sentences = {};
    ledger::Savings savings = {};
};

std::string_view name_of(GpuUse use) { return model::kGpuUseNames[static_cast<std::size_t>(use)]; }

// Thousandths of GPU milliseconds as seconds of whole GPUs: "3600.25".
std::string seconds(std::int64_t milli_gpu_ms) {
    constexpr std::int64_t kSecond = 1'000'000;
    std::string digits = std::to_string(kSecond + milli_gpu_ms % kSecond).substr(1);
    digits.erase(digits.find_last_not_of('0') + 1);
    return std::to_string(milli_gpu_ms / kSecond) + (digits.empty() ? "" : "." + digits);
}

base::Result<std::int64_t> day_in(const Call& call, std::string_view name, std::int64_t fallback) {
    const std::string text = call.text(name);
    if (text.empty()) return fallback;
    BERTH_TRY(time, codec::parse_time(text + "T00:00:00Z"));
    return lifecycle::day_of(time);
}

base::Result<LedgerQuery> read_query(const Call& call, base::TimePoint now) {
    LedgerQuery query;
    BERTH_TRY(last, day_in(call, "to", lifecycle::day_of(now)));
    BERTH_TRY(first, day_in(call, "from", last - kDaysShown + 1));
    query.days = {first, last};
    if (first > last) {
        return base::invalid("from: wanted a date that is not after to=" + ledger::date_of(last) +
                             ", found \"" + ledger::date_of(first) + "\"");
    }
    query.by = call.request.find("by") ? call.text("by") : "project";
    query.is_csv = call.text("form") == "csv";
    return query;
}

// Of jobs that live, and those of `ended` that ended on these days.
std::vector<ledger::JobAccount> accounts_of_jobs(const lifecycle::State& state,
                                                 const LedgerSpan& span,
                                                 const std::vector<model::JobRecord>& ended) {
    std::vector<ledger::JobAccount> accounts;
    const auto add = [&](const model::JobRecord& job, const model::GpuTimes& times,
                         std::int64_t last) {
        if (times.sum() == 0) return;
        const bool is_whole =
            lifecycle::day_of(job.created) >= span.days.first && last <= span.days.last;
        accounts.push_back({&job, times, is_whole});
    };
    for (const model::JobTime& job : span.book.jobs) {
        add(state.jobs.at(job.job), job.times, span.today);
    }
    for (const model::JobRecord& job : ended) {
        const std::int64_t day = lifecycle::day_of(job.finished.value_or(job.created));
        if (day >= span.days.first && day <= span.days.last) add(job, job.milli_gpu_ms, day);
    }
    return accounts;
}

ledger::Report report_jobs(const std::vector<ledger::JobAccount>& accounts) {
    ledger::Report report;
    for (const ledger::JobAccount& account : accounts) {
        const model::JobRecord& job = *account.job;
        report.entries.push_back(
            {std::to_string(job.id.value) + " " + job.spec.name, account.times, 0});
        report.total.times += account.times;
    }
    return report;
}

void write_entry(codec::JsonWriter& json, const LedgerAnswer& answer, const ledger::Entry& entry) {
    json.begin_object();
    json.key("name").string(entry.name);
    json.key("gpu_seconds").begin_object();
    for (const GpuUse use : model::kGpuUses) {
        json.key(name_of(use)).raw(seconds(entry.times[use]));
    }
    json.end_object();
    json.key("sum").raw(seconds(entry.times.sum()));
    if (answer.has_cost) json.key("cost").raw(base::format_thousandths(entry.cost));
    json.end_object();
}

void write_saving(codec::JsonWriter& json, const ledger::Saving& saving, std::int64_t a_week) {
    json.begin_object();
    json.key("use").string(name_of(saving.use));
    json.key("gpu_seconds").raw(seconds(saving.gpu_time));
    json.key("gpu_seconds_a_week").raw(seconds(a_week));
    json.key("act").string(saving.act);
    json.key("command").string(saving.command);
    json.key("job");
    if (saving.job.is_valid()) {
        json.raw(std::to_string(saving.job.value));
    } else {
        json.null();
    }
    json.key("name").string(saving.name);
    json.key("others").raw(std::to_string(saving.others));
    json.key("project").string(saving.project);
    json.key("user").string(saving.user);
    json.key("pool").string(saving.pool);
    json.end_object();
}

void write_savings(codec::JsonWriter& json, const LedgerAnswer& answer,
                   const model::LedgerBook& book) {
    const auto a_week = [&](std::int64_t gpu_time) {
        return ledger::in_a_week(gpu_time, book, answer.query.days);
    };
    json.key("sentences").begin_array();
    for (const ledger::Sentence& sentence : answer.sentences) {
        json.begin_object();
        json.key("about").string(ledger::kAboutNames[static_cast<std::size_t>(sentence.about)]);
        json.key("text").string(sentence.text);
        json.end_object();
    }
    json.end_array();
    json.key("wasted").raw(seconds(answer.savings.wasted));
    json.key("savings").begin_array();
    for (const ledger::Saving& saving : answer.savings.most) {
        write_saving(json, saving, a_week(saving.gpu_time));
    }
    json.end_array();
    json.key("other_savings_a_week").raw(seconds(a_week(answer.savings.others)));
}

std::string json_of(const LedgerAnswer& answer, const model::LedgerBook& book) {
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    json.key("from").string(ledger::date_of(answer.query.days.first));
    json.key("to").string(ledger::date_of(answer.query.days.last));
    json.key("by").string(answer.query.by);
    write_savings(json, answer, book);
    json.key("rows").begin_array();
    for (const ledger::Entry& entry : answer.report.entries) write_entry(json, answer, entry);
    json.end_array();
    json.key("total");
    write_entry(json, answer, answer.report.total);
    // Of all there were; what jobs had is a part of it.
    if (answer.query.by != "job") {
        json.key("capacity").raw(seconds(answer.report.total.times.capacity));
    }
    json.key("unpriced").begin_array();
    for (const std::string& gpu : answer.report.unpriced) json.string(gpu);
    json.end_array();
    json.end_object();
    return body;
}

// RFC 4180, where a quote is doubled. A name that a spreadsheet would work out is text there.
std::string csv_field(const std::string& name) {
    const bool is_formula =
        !name.empty() && std::string_view("=+-@").find(name.front()) != std::string_view::npos;
    const std::string text = is_formula ? "'" + name : name;
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char letter : text) quoted += letter == '"' ? "\"\"" : std::string(1, letter);
    return quoted + "\"";
}

std::string csv_of(const LedgerAnswer& answer) {
    std::string text = answer.query.by;
    for (const GpuUse use : model::kGpuUses) text += "," + std::string(name_of(use));
    text += answer.has_cost ? ",sum,cost\n" : ",sum\n";
    for (const ledger::Entry& entry : answer.report.entries) {
        text += csv_field(entry.name);
        for (const GpuUse use : model::kGpuUses) text += "," + seconds(entry.times[use]);
        text += "," + seconds(entry.times.sum());
        if (answer.has_cost) text += "," + base::format_thousandths(entry.cost);
        text += "\n";
    }
    return text;
}

}  // namespace

void get_ledger(Site& site, Call call) {
    const lifecycle::State& state = site.controller.state();
    const base::TimePoint now = std::max(site.clock.now(), state.time);
    const auto query = read_query(call, now);
    if (!query) return call.respond(problem(query.error()));
    const LedgerSpan span{state.ledger.book(now), query->days, lifecycle::day_of(now)};
    const model::GpuPrices& prices = site.controller.policy().gpu_prices;
    const bool is_by_job = query->by == "job";
    LedgerAnswer answer{*query, {}, !prices.empty() && !is_by_job};
    const auto ended = site.ended.newest(now, is_by_job ? base::Duration{0} : kOldEnough);
    if (!ended) return call.respond(problem(ended.error()));
    const auto jobs = accounts_of_jobs(state, span, **ended);
    if (is_by_job) {
        answer.report = report_jobs(jobs);
    } else {
        const auto by = std::ranges::find(ledger::kByNames, query->by) - ledger::kByNames.begin();
        answer.report = ledger::report(span.book, span.days, static_cast<ledger::By>(by), prices);
    }
    if (!query->is_csv) {
        answer.savings = ledger::savings(span.book, span.days, jobs);
        answer.sentences = ledger::sentences(ledger::times_of(span.book, span.days), answer.savings,
                                             span.days, span.today);
        return call.respond(json_response(json_of(answer, span.book)));
    }
    Response response;
    response.body = csv_of(answer);
    response.content_type = "text/csv; charset=utf-8";
    call.respond(std::move(response));
}

}  // namespace berth::api
