// SPDX-License-Identifier: Apache-2.0
//
// What does the API server of the tests hold? Objects with uid and resourceVersion, snapshots that
// lists are read from page by page, and the events that watches are served from until compaction
// forgets them.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/rng.h"

namespace berth::tests::kube_api {

// One state of an object. Of other resources than pods and Jobs there is what `content_json` says.
struct Object {
    std::string resource;  // pods, jobs, nodes ...
    std::string name_space;
    std::string name;
    std::string uid;
    std::uint64_t version = 0;
    std::string node;       // of a pod
    std::string created = "2026-03-01T12:00:00Z";
    std::string placed = "2026-03-01T12:00:00Z";  // since it has it, or has not
    int gpus = 1;           // that a pod asks for
    int cpu = 4;            // that it requests
    std::string asks;       // for other resources: ,"rdma/hca":"1"
    std::string scheduler = "berth";  // whose the pod is
    std::string app = "train";  // its label app, and that of a Job's pods
    std::string owner;      // uid of the Job that makes the pod
    bool is_suspended = false;  // of a Job
    int parallelism = 4;
    int completions = 0;    // 0: until its controller says that it has ended
    int succeeded = 0;      // pods of it
    std::string end;        // of a Job: Complete, Failed
    std::string reason;     // why a pod waits
    std::string message;    // the same in words
    std::string content_json;   // "spec":{},"status":{}
    std::map<std::string, std::string> annotations;
    int content = 0;        // something that changes and is seen in a label
    std::string json;       // as the server writes it

    std::string key() const { return name_space + "/" + name; }
};
using Held = std::shared_ptr<const Object>;

struct Event {
    std::uint64_t version = 0;
    std::string type;
    Held object;
};

using Snapshot = std::vector<Held>;  // by key

class Store {
  public:
    explicit Store(std::uint64_t seed) : dice_(seed) {}

    // Called with each event, after it has happened.
    std::function<void(const Event&)> on_event;

    Held create(const std::string& resource, const std::string& name_space,
                const std::string& name);
    // The same, with what `object` says besides.
    Held create(Object object);
    // Null when it is not there.
    Held find(const std::string& resource, const std::string& key) const;
    Held change(const Object& now);
    void remove(const Held& object);

    std::uint64_t version() const { return version_; }
    std::uint64_t compacted() const { return compacted_; }
    const std::map<std::string, Held>& all(const std::string& resource) { return held_[resource]; }
    Snapshot snapshot(const std::string& resource);
    // Of one resource, behind `version`; the store still has them.
    std::vector<Event> events_since(const std::string& resource, std::uint64_t version) const;
    // Forgets all but the last `kept` events.
    void compact(std::size_t kept);
    // Another backup is put back: versions begin again below what clients have seen.
    void restore(std::uint64_t version);

  private:
    Held keep(Object object, const char* type);

    base::Rng dice_;
    std::map<std::string, std::map<std::string, Held>> held_;
    std::deque<Event> events_;
    std::uint64_t version_ = 1000;
    std::uint64_t compacted_ = 0;
};

}  // namespace berth::tests::kube_api
