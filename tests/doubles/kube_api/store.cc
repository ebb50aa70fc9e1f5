// SPDX-License-Identifier: Apache-2.0
#include "doubles/kube_api/store.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "codec/text/json_writer.h"

namespace berth::tests::kube_api {
namespace {

std::string uid_of(base::Rng& dice) {
    char text[40];
    const std::uint64_t high = dice.next();
    const std::uint64_t low = dice.next();
    std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx",
                  static_cast<unsigned>(high >> 32), static_cast<unsigned>(high >> 16 & 0xffff),
                  static_cast<unsigned>(high & 0xffff), static_cast<unsigned>(low >> 48),
                  static_cast<unsigned long long>(low & 0xffff'ffff'ffffULL));
    return text;
}

std::string quoted(const std::string& text) {
    std::string json;
    codec::append_json_string(json, text);
    return json;
}

std::string annotations_of(const Object& object) {
    std::string text;
    for (const auto& [key, value] : object.annotations) {
        text += (text.empty() ? "" : ",") + quoted(key) + ":" + quoted(value);
    }
    return "{" + text + "}";
}

// About as long as a real one: two fifths are managedFields.
std::string metadata_of(const Object& object) {
    static const std::string kManaged =
        R"("managedFields":[{"manager":"kube-controller-manager","operation":"Update",)"
        R"("apiVersion":"v1","time":"2026-03-01T12:00:00Z","fieldsType":"FieldsV1","fieldsV1":)"
        R"({"f:metadata":{"f:generateName":{},"f:labels":{".":{},"f:app":{},"f:content":{}},)"
        R"("f:ownerReferences":{".":{},)"
        R"("k:{\"uid\":\"7c9e6679-7425-40de-944b-e07fc1f90ae7\"}":{}}},)"
        R"("f:spec":{"f:containers":{"k:{\"name\":\"main\"}":{".":{},"f:image":{},"f:name":{},)"
        R"("f:resources":{".":{},"f:limits":{".":{},"f:nvidia.com/gpu":{}},"f:requests":{".":{},)"
        R"("f:cpu":{},"f:memory":{},"f:nvidia.com/gpu":{}}}}},"f:enableServiceLinks":{},)"
        R"("f:restartPolicy":{},"f:schedulerName":{},"f:securityContext":{}}}}])";
    const std::string owner =
        object.owner.empty()
            ? ""
            : R"("ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"job","uid":)" +
                  quoted(object.owner) + R"(,"controller":true}],)";
    return R"("metadata":{"name":)" + quoted(object.name) + R"(,"namespace":)" +
           quoted(object.name_space) + R"(,"uid":)" + quoted(object.uid) +
           R"(,"resourceVersion":)" + quoted(std::to_string(object.version)) +
           R"(,"creationTimestamp":)" + quoted(object.created) + R"(,"labels":{"app":)" +
           quoted(object.app) + R"(,"content":)" + quoted(std::to_string(object.content)) +
           R"(},"annotations":)" + annotations_of(object) + "," + owner + kManaged + "}";
}

// Of a pod, or of a Job's template: without what ends it.
std::string spec_of(const Object& object) {
    return R"("spec":{"volumes":[{"name":"kube-api-access-x7k2p","projected":{"sources":[)"
           R"({"serviceAccountToken":{"expirationSeconds":3607,"path":"token"}}]}}],"containers":)"
           R"([{"name":"main","image":"registry.example/train:1","resources":{"limits":)"
           R"({"nvidia.com/gpu":")" +
           std::to_string(object.gpus) + R"("},"requests":{"cpu":")" + std::to_string(object.cpu) +
           R"(","memory":"16Gi","nvidia.com/gpu":")" + std::to_string(object.gpus) + "\"" +
           object.asks +
           R"(}},)"
           R"("terminationMessagePath":"/dev/termination-log","imagePullPolicy":"IfNotPresent"}],)"
           R"("restartPolicy":"Never","terminationGracePeriodSeconds":30,"dnsPolicy":)"
           R"("ClusterFirst","schedulerName":)" +
           quoted(object.scheduler) +
           R"(,"tolerations":[{"key":)"
           R"("node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
           R"("tolerationSeconds":300}],"priority":0)";
}

std::string pod_of(const Object& pod) {
    std::string spec = spec_of(pod);
    if (!pod.node.empty()) spec += R"(,"nodeName":)" + quoted(pod.node);
    const std::string condition =
        pod.node.empty() ? R"("False","reason":)" + quoted(pod.reason) : std::string(R"("True")");
    return R"({"kind":"Pod","apiVersion":"v1",)" + metadata_of(pod) + "," + spec +
           R"(},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":)" +
           condition + R"(,"lastTransitionTime":)" + quoted(pod.placed) +
           R"(}],"qosClass":"Burstable"}})";
}

std::string job_of(const Object& job) {
    const std::string end =
        job.end.empty() ? "" : R"({"type":)" + quoted(job.end) + R"(,"status":"True"})";
    return R"({"kind":"Job","apiVersion":"batch/v1",)" + metadata_of(job) +
           R"(,"spec":{"parallelism":)" + std::to_string(job.parallelism) +
           (job.completions > 0 ? R"(,"completions":)" + std::to_string(job.completions) : "") +
           R"(,"suspend":)" + (job.is_suspended ? "true" : "false") +
           R"(,"template":{"metadata":{"labels":{"app":)" + quoted(job.app) + "}}," + spec_of(job) +
           R"(}}},"status":{"succeeded":)" + std::to_string(job.succeeded) + R"(,"conditions":[)" +
           end + "]}}";
}

std::string text_of(const Object& object) {
    if (object.resource == "pods") return pod_of(object);
    if (object.resource == "jobs") return job_of(object);
    return "{" + metadata_of(object) + (object.content_json.empty() ? "" : ",") +
           object.content_json + "}";
}

}  // namespace

Held Store::keep(Object object, const char* type) {
    object.version = ++version_;
    object.json = text_of(object);
    const auto held = std::make_shared<const Object>(std::move(object));
    events_.push_back({version_, type, held});
    if (on_event) on_event(events_.back());
    return held;
}

Held Store::create(const std::string& resource, const std::string& name_space,
                   const std::string& name) {
    Object object;
    object.resource = resource;
    object.name_space = name_space;
    object.name = name;
    return create(std::move(object));
}

Held Store::create(Object object) {
    object.uid = uid_of(dice_);
    Held& place = held_[object.resource][object.key()];
    if (place) return nullptr;
    // A watcher that hears of it finds it there.
    place = std::make_shared<const Object>(object);
    const Held made = keep(std::move(object), "ADDED");
    return held_[made->resource][made->key()] = made;
}

Held Store::find(const std::string& resource, const std::string& key) const {
    const auto all = held_.find(resource);
    if (all == held_.end()) return nullptr;
    const auto found = all->second.find(key);
    return found != all->second.end() ? found->second : nullptr;
}

Held Store::change(const Object& now) {
    const Held changed = keep(now, "MODIFIED");
    return held_[now.resource][changed->key()] = changed;
}

void Store::remove(const Held& object) {
    held_[object->resource].erase(object->key());
    keep(*object, "DELETED");
}

Snapshot Store::snapshot(const std::string& resource) {
    Snapshot all;
    for (const auto& [key, object] : held_[resource]) all.push_back(object);
    return all;
}

std::vector<Event> Store::events_since(const std::string& resource, std::uint64_t version) const {
    std::vector<Event> found;
    const auto from = std::ranges::upper_bound(events_, version, {}, &Event::version);
    for (auto at = from; at != events_.end(); ++at) {
        if (at->object->resource == resource) found.push_back(*at);
    }
    return found;
}

void Store::compact(std::size_t kept) {
    while (events_.size() > kept) {
        compacted_ = events_.front().version;
        events_.pop_front();
    }
}

void Store::restore(std::uint64_t version) {
    events_.clear();
    version_ = version;
    compacted_ = version;
    for (auto& [resource, all] : held_) {
        for (auto& [key, object] : all) {
            Object back = *object;
            back.version = version_;
            back.json = text_of(back);
            object = std::make_shared<const Object>(std::move(back));
        }
    }
}

}  // namespace berth::tests::kube_api
