// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/shown/events.h"

#include <chrono>
#include <utility>

#include "codec/text/json_writer.h"
#include "kube/client/writes.h"

namespace berth::kube::scheduler {
namespace {

constexpr base::Duration kEventsTick = std::chrono::milliseconds(200);
constexpr int kEventsPerTick = 10;
constexpr std::size_t kEventsBusy = 16;
// What more is to be said than that is not.
constexpr std::size_t kWaitingMost = 2'000;
constexpr std::size_t kSaidMost = 10'000;
constexpr std::size_t kNoteBytesMax = 1'024;  // the server's

std::string event_of(const Subject& about, std::string_view reason, std::string_view note,
                     base::TimePoint now) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    json.key("metadata");
    json.begin_object();
    json.key("generateName").string("berth-");
    json.key("namespace").string(about.name_space);
    json.end_object();
    json.key("eventTime").string(client::micro_time(now));
    json.key("reportingController").string("berth.dev/scheduler");
    json.key("reportingInstance").string("berth");
    json.key("action").string("Schedule");
    json.key("type").string("Normal");
    json.key("reason").string(reason);
    json.key("note").string(note.substr(0, kNoteBytesMax));
    json.key("regarding");
    json.begin_object();
    json.key("apiVersion").string(about.api_version);
    json.key("kind").string(about.kind);
    json.key("namespace").string(about.name_space);
    json.key("name").string(about.name);
    json.key("uid").string(objects::format(about.uid));
    json.end_object();
    json.end_object();
    return text;
}

}  // namespace

void Events::say(const Subject& about, std::string_view reason, std::string_view note) {
    if (waiting_.size() == kWaitingMost) return;
    waiting_.push_back({client::Method::Post,
                        "/apis/events.k8s.io/v1/namespaces/" + about.name_space + "/events",
                        event_of(about, reason, note, clock_.now())});
    if (!timer_.is_running()) timer_.start(kEventsTick, [this] { send_some(); });
}

void Events::say_once(const Subject& about, std::string_view reason, std::string_view note) {
    if (said_.size() == kSaidMost) said_.clear();
    if (said_.insert(about.uid).second) say(about, reason, note);
}

void Events::send_some() {
    for (int left = kEventsPerTick; left > 0 && !waiting_.empty(); --left) {
        if (requests_.under_way() > kEventsBusy) break;
        requests_.send(std::move(waiting_.front()), [](const client::Outcome&) {});
        waiting_.pop_front();
    }
    if (!waiting_.empty()) timer_.start(kEventsTick, [this] { send_some(); });
}

}  // namespace berth::kube::scheduler
