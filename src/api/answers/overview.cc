// SPDX-License-Identifier: Apache-2.0
//
// How do things stand for who asks, or for ?user=NAME.
#include "api/answers/job_views.h"
#include "api/answers/routes.h"
#include "base/quantity.h"
#include "codec/text/json_writer.h"
#include "overview/sentences.h"

namespace berth::api {
namespace {

void write_gpus(codec::JsonWriter& json, const overview::GpuCounts& gpus) {
    json.key("gpus").begin_object();
    json.key("total").raw(base::format(gpus.total));
    json.key("used").raw(base::format(gpus.used));
    json.key("starting").raw(base::format(gpus.starting));
    json.key("leaving").raw(base::format(gpus.leaving));
    json.key("idle").raw(base::format(gpus.idle));
    json.key("idle_together").number(gpus.idle_together);
    json.key("not_ready").raw(base::format(gpus.not_ready));
    json.end_object();
}

void write_jobs(codec::JsonWriter& json, std::string_view name, const overview::JobCounts& jobs) {
    json.key(name).begin_object();
    json.key("running").number(jobs.running);
    json.key("waiting").number(jobs.waiting);
    json.key("paused").number(jobs.paused);
    json.key("on_hold").number(jobs.on_hold);
    json.key("leaving").number(jobs.leaving);
    json.end_object();
}

void write_projects(codec::JsonWriter& json, const std::vector<overview::ProjectUse>& projects) {
    json.key("projects").begin_array();
    for (const overview::ProjectUse& project : projects) {
        json.begin_object();
        json.key("name").string(project.name);
        json.key("quota").raw(base::format(project.quota));
        json.key("used").raw(base::format(project.used));
        json.key("wanted").raw(base::format(project.wanted));
        json.key("above_quota").raw(base::format(project.borrowed));
        json.key("unused_quota").raw(base::format(project.unused));
        json.end_object();
    }
    json.end_array();
}

}  // namespace

std::string overview_json(const overview::Overview& seen, const std::string& user) {
    std::string body;
    codec::JsonWriter json(body);
    json.begin_object();
    json.key("user").string(user);
    json.key("sentences").begin_array();
    for (const overview::Sentence& sentence : overview::sentences(seen, user)) {
        json.begin_object();
        json.key("about").string(overview::kAboutNames[static_cast<std::size_t>(sentence.about)]);
        json.key("text").string(sentence.text);
        json.end_object();
    }
    json.end_array();
    write_gpus(json, seen.gpus);
    write_jobs(json, "own_jobs", seen.jobs_of(user));
    write_jobs(json, "jobs", seen.jobs);
    json.key("wanted").raw(base::format(seen.wanted));
    write_projects(json, seen.projects);
    json.end_object();
    return body;
}

void get_overview(Site& site, Call call) {
    const std::string user = call.request.find("user") ? call.text("user") : call.request.user;
    const lifecycle::State& state = site.controller.state();
    std::string body = overview_json(overview::overview_of(state), user);
    add_member(body, "sequence", std::to_string(state.sequence));
    call.respond(json_response(std::move(body)));
}

}  // namespace berth::api
