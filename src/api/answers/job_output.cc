// SPDX-License-Identifier: Apache-2.0
//
// What did a job write, and where can a client attach to it?
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "api/http/problem.h"
#include "codec/text/json_writer.h"
#include "codec/words/words.h"

namespace berth::api {
namespace {

constexpr std::int64_t kPieceBytesMax = 1024 * 1024;

struct LogPlace {
    ports::AttemptId attempt;
    std::string path;
    std::int64_t offset = 0;
};

struct Piece {
    std::string bytes;
    std::int64_t next = 0;
    bool is_end = false;
};

// What the file has from `offset` on, without a gap that was cut out of it; nothing when there is
// no such file yet.
Piece read_file(const std::string& path, std::int64_t offset) {
    Piece piece{{}, offset, true};
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) return piece;
    struct stat status{};
    if (::fstat(file, &status) == 0 && status.st_size > offset) {
        const off_t data = std::max<off_t>(::lseek(file, offset, SEEK_DATA), offset);
        const off_t gap = ::lseek(file, data, SEEK_HOLE);
        const off_t end = gap > data ? gap : status.st_size;
        piece.bytes.resize(
            static_cast<std::size_t>(std::min<std::int64_t>(end - data, kPieceBytesMax)));
        const ssize_t size = ::pread(file, piece.bytes.data(), piece.bytes.size(), data);
        piece.bytes.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
        piece.next = data + std::ssize(piece.bytes);
        piece.is_end = piece.next >= status.st_size;
    }
    ::close(file);
    return piece;
}

std::int64_t size_of(const std::string& path) {
    struct stat status{};
    return ::stat(path.c_str(), &status) == 0 ? status.st_size : 0;
}

// Whether nothing more will be written to the attempt's log.
bool is_over(Site& site, ports::AttemptId attempt) {
    const auto& live = site.controller.state().jobs;
    const auto found = live.find(attempt.job);
    if (found == live.end() || found->second.attempts > attempt.attempt) return true;
    const bool has_begun = found->second.attempts > 0;
    return has_begun && found->second.tasks.empty();
}

Piece read_piece(Site& site, const LogPlace& place) {
    // Asked before the file is read: what was written until then is in it.
    const bool was_over = is_over(site, place.attempt);
    Piece piece = read_file(place.path, place.offset);
    piece.is_end &= was_over;
    return piece;
}

void respond_with_piece(const Respond& respond, Piece piece) {
    Response response;
    response.content_type = "application/octet-stream";
    response.headers.emplace_back("Berth-Offset", std::to_string(piece.next));
    response.headers.emplace_back("Berth-End", piece.is_end ? "true" : "false");
    response.body = std::move(piece.bytes);
    respond(std::move(response));
}

base::Result<LogPlace> log_place(Site& site, const Call& call) {
    BERTH_TRY(job, call.job());
    BERTH_TRY(view, view_of(site, job));
    BERTH_TRY(attempt, call.number("attempt", view.attempts));
    BERTH_TRY(task, call.number("task", 0));
    BERTH_TRY(offset, call.number("offset", 0));
    BERTH_TRY(tail, call.number("tail", -1));  // bytes of its end, in place of an offset
    if (attempt > view.attempts || (attempt == 0 && view.attempts > 0)) {
        return base::fail(base::ErrorCode::NotFound,
                          "job " + std::to_string(job.value) + " has had " +
                              std::to_string(view.attempts) + " attempts, not " +
                              std::to_string(attempt));
    }
    if (task >= view.spec.tasks_max) {
        return base::fail(base::ErrorCode::NotFound, "job " + std::to_string(job.value) + " has " +
                                                         std::to_string(view.spec.tasks_max) +
                                                         " tasks, from 0");
    }
    const ports::AttemptId id{job, static_cast<int>(attempt)};
    std::string path =
        site.log_path(id, static_cast<int>(task), site.controller.state().incarnations);
    if (!path.empty() && tail >= 0) offset = std::max<std::int64_t>(size_of(path) - tail, 0);
    if (!path.empty()) return LogPlace{id, std::move(path), offset};
    return base::fail(base::ErrorCode::NotFound,
                      "what job " + std::to_string(job.value) +
                          " printed is not here: the files of that number are of another event "
                          "log, which was replaced by a backup");
}

}  // namespace

void get_log(Site& site, Call call) {
    const auto place = log_place(site, call);
    const auto wait = call.wait();
    if (!place) return call.respond(problem(place.error()));
    if (!wait) return call.respond(problem(wait.error()));
    Piece piece = read_piece(site, *place);
    const bool parks =
        wait->count() > 0 && piece.bytes.empty() && !piece.is_end && !site.waiting.is_full();
    if (!parks) return respond_with_piece(call.respond, std::move(piece));
    site.waiting.park_for_ticks(site.clock.now() + *wait, call.request.client,
                                [&site, place = *place, respond = call.respond](bool is_last) {
                                    Piece next = read_piece(site, place);
                                    if (next.bytes.empty() && !next.is_end && !is_last)
                                        return false;
                                    respond_with_piece(respond, std::move(next));
                                    return true;
                                });
}

void get_attach(Site& site, Call call) {
    const auto job = call.job();
    if (!job) return call.respond(problem(job.error()));
    const auto view = view_of(site, *job);
    if (!view) return call.respond(problem(view.error(), "berth ls -a"));
    const ports::AttemptId attempt{*job, view->attempts};
    const bool has_processes =
        view->state == model::JobState::Starting || view->state == model::JobState::Running ||
        view->state == model::JobState::Pausing || view->state == model::JobState::Cancelling;
    const std::string address = has_processes ? site.attach_address(attempt) : std::string();
    if (address.empty()) {
        return call.respond(problem(409, "job " + std::to_string(job->value) + " is " +
                                             std::string(codec::word(view->state)) +
                                             " and has no processes to attach to"));
    }
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    json.key("socket").string(address);
    json.key("attempt").number(attempt.attempt);
    json.end_object();
    call.respond(json_response(std::move(body)));
}

}  // namespace berth::api
