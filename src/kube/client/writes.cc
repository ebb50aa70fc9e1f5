// SPDX-License-Identifier: Apache-2.0
#include "kube/client/writes.h"

#include "base/percent.h"
#include "codec/text/json_writer.h"
#include "codec/words/timestamp.h"

namespace berth::kube::client {
namespace {

// The server gives up no later than we do, so what is unknown is not done much later.
constexpr std::string_view kTimeout = "?timeout=4s";

std::string path_of(const PodName& pod, std::string_view part) {
    return "/api/v1/namespaces/" + base::percent_encoded(pod.name_space) + "/pods/" +
           base::percent_encoded(pod.name) + std::string(part);
}

class Body {
  public:
    Body() : json(text) { json.begin_object(); }

    void field(std::string_view name, std::string_view value) {
        json.key(name);
        json.string(value);
    }
    void number(std::string_view name, std::int64_t value) {
        json.key(name);
        json.number(value);
    }
    void open(std::string_view name) {
        json.key(name);
        json.begin_object();
    }
    void close() { json.end_object(); }
    void kind(std::string_view api_version, std::string_view name) {
        field("apiVersion", api_version);
        field("kind", name);
    }
    void annotations(const Annotations& all) {
        if (all.empty()) return;
        open("annotations");
        for (const auto& [key, value] : all) {
            json.text_key(key);
            json.string(value);
        }
        close();
    }
    void identity(const PodName& pod) {
        field("name", pod.name);
        field("namespace", pod.name_space);
    }
    std::string take() {
        json.end_object();
        return std::move(text);
    }

    std::string text;
    codec::JsonWriter json;
};

void read_pod_meta(codec::JsonReader& reader, std::string& uid) {
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "uid") {
            uid = reader.read_text();
        } else {
            reader.skip();
        }
    }
}

void read_pod_spec(codec::JsonReader& reader, std::string& node) {
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "nodeName") {
            node = reader.read_text();
        } else {
            reader.skip();
        }
    }
}

void read_lease_spec(codec::JsonReader& reader, Lease& lease) {
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (reader.peek() == codec::JsonReader::Type::Null) {
            reader.read_null();
        } else if (key == "holderIdentity") {
            lease.holder = reader.read_text();
        } else if (key == "leaseDurationSeconds") {
            lease.duration_s = reader.read_int();
        } else if (key == "acquireTime") {
            lease.acquired = reader.read_text();
        } else if (key == "renewTime") {
            lease.renewed = reader.read_text();
        } else if (key == "leaseTransitions") {
            lease.transitions = reader.read_int();
        } else {
            reader.skip();
        }
    }
}

void read_lease_meta(codec::JsonReader& reader, Lease& lease) {
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "name") {
            lease.name = reader.read_text();
        } else if (key == "namespace") {
            lease.name_space = reader.read_text();
        } else if (key == "resourceVersion") {
            lease.version = reader.read_text();
        } else {
            reader.skip();
        }
    }
}

std::string leases_path(const Lease& lease) {
    return "/apis/coordination.k8s.io/v1/namespaces/" + base::percent_encoded(lease.name_space) +
           "/leases";
}

}  // namespace

Request bind(const PodName& pod, std::string_view node, const Annotations& annotations) {
    Body body;
    body.kind("v1", "Binding");
    body.open("metadata");
    body.identity(pod);
    body.field("uid", pod.uid);
    body.annotations(annotations);
    body.close();
    body.open("target");
    body.kind("v1", "Node");
    body.field("name", node);
    body.close();
    return {Method::Post, path_of(pod, "/binding").append(kTimeout), body.take()};
}

Request read_pod(const PodName& pod) { return {Method::Get, path_of(pod, "")}; }

BindFate read_bind(const Outcome& read, const PodName& pod, std::string_view node) {
    if (read.kind == Outcome::Kind::Refused && read.code == 404) return BindFate::Gone;
    if (!read.is_done()) return BindFate::Unclear;
    std::string uid;
    std::string on;
    codec::JsonReader reader(read.body);
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "metadata") {
            read_pod_meta(reader, uid);
        } else if (key == "spec") {
            read_pod_spec(reader, on);
        } else {
            reader.skip();
        }
    }
    if (reader.is_failed() || uid.empty()) return BindFate::Unclear;
    if (uid != pod.uid) return BindFate::Gone;
    if (on.empty()) return BindFate::NotBound;
    return on == node ? BindFate::Bound : BindFate::Elsewhere;
}

Request tell_wait(const PodName& pod, const WaitReason& why) {
    Body body;
    body.open("metadata");
    body.field("uid", pod.uid);
    body.close();
    body.open("status");
    body.json.key("conditions");
    body.json.begin_array();
    body.json.begin_object();
    body.field("type", "PodScheduled");
    body.field("status", "False");
    body.field("reason", why.reason);
    body.field("message", why.message);
    body.field("lastTransitionTime", why.since);
    body.json.end_object();
    body.json.end_array();
    body.close();
    return {Method::Patch, path_of(pod, "/status").append(kTimeout), body.take(),
            "application/strategic-merge-patch+json"};
}

Request merge_patch(const ObjectName& object, std::string_view fields,
                    const Annotations& annotations) {
    Body body;
    body.open("metadata");
    body.field("uid", object.uid);
    if (!object.version.empty()) body.field("resourceVersion", object.version);
    body.annotations(annotations);
    body.close();
    std::string text = body.take();
    // {"metadata": ...} and {fields} become one object.
    if (fields.size() > 2) {
        text.pop_back();
        text += ",";
        text += fields.substr(1);
    }
    return {Method::Patch, object.path + std::string(kTimeout), std::move(text),
            "application/merge-patch+json"};
}

Request apply(const std::string& path, std::string whole, Apply how) {
    std::string target = path + std::string(kTimeout);
    // A field that the server does not know is our mistake, not to be passed over.
    target += "&fieldManager=berth&force=true&fieldValidation=Strict";
    if (how == Apply::Try) target += "&dryRun=All";
    return {Method::Patch, std::move(target), std::move(whole), "application/apply-patch+yaml"};
}

Request remove_object(const ObjectName& object) {
    Body body;
    body.kind("v1", "DeleteOptions");
    body.field("propagationPolicy", "Background");
    if (!object.uid.empty() || !object.version.empty()) {
        body.open("preconditions");
        if (!object.uid.empty()) body.field("uid", object.uid);
        if (!object.version.empty()) body.field("resourceVersion", object.version);
        body.close();
    }
    return {Method::Delete, object.path + std::string(kTimeout), body.take()};
}

Request remove_pod(const PodName& pod, std::string_view version,
                   std::optional<std::int64_t> grace_s) {
    Body body;
    body.kind("v1", "DeleteOptions");
    body.open("preconditions");
    body.field("uid", pod.uid);
    if (!version.empty()) body.field("resourceVersion", version);
    body.close();
    if (grace_s) body.number("gracePeriodSeconds", *grace_s);
    return {Method::Delete, path_of(pod, "").append(kTimeout), body.take()};
}

Request take_finalizer(const PodName& pod, std::string_view finalizer) {
    std::string text = "{\"metadata\":{\"uid\":";
    codec::append_json_string(text, pod.uid);
    text += ",\"$deleteFromPrimitiveList/finalizers\":[";
    codec::append_json_string(text, finalizer);
    text += "]}}";
    return {Method::Patch, path_of(pod, "").append(kTimeout), std::move(text),
            "application/strategic-merge-patch+json"};
}

Request remove_within_budget(const PodName& pod) {
    Body body;
    body.kind("policy/v1", "Eviction");
    body.open("metadata");
    body.identity(pod);
    body.close();
    body.open("deleteOptions");
    body.open("preconditions");
    body.field("uid", pod.uid);
    body.close();
    body.close();
    return {Method::Post, path_of(pod, "/eviction").append(kTimeout), body.take()};
}

std::string micro_time(base::TimePoint time) {
    std::string text = codec::format_time(time);
    text.insert(text.size() - 1, "000");
    return text;
}

Request read_lease(const Lease& lease) {
    return {.target = leases_path(lease) + "/" + base::percent_encoded(lease.name),
            .goes_first = true};
}

Request write_lease(const Lease& lease) {
    Body body;
    body.kind("coordination.k8s.io/v1", "Lease");
    body.open("metadata");
    body.field("name", lease.name);
    body.field("namespace", lease.name_space);
    if (!lease.version.empty()) body.field("resourceVersion", lease.version);
    body.close();
    body.open("spec");
    body.field("holderIdentity", lease.holder);
    body.number("leaseDurationSeconds", lease.duration_s);
    if (!lease.acquired.empty()) body.field("acquireTime", lease.acquired);
    if (!lease.renewed.empty()) body.field("renewTime", lease.renewed);
    body.number("leaseTransitions", lease.transitions);
    body.close();
    const bool is_new = lease.version.empty();
    std::string target = leases_path(lease);
    if (!is_new) target += "/" + base::percent_encoded(lease.name);
    return {.method = is_new ? Method::Post : Method::Put,
            .target = target.append(kTimeout),
            .body = body.take(),
            .goes_first = true};
}

base::Result<Lease> parse_lease(std::string_view text) {
    Lease lease;
    codec::JsonReader reader(text);
    std::string_view key;
    for (reader.begin_object(); reader.next_key(key);) {
        if (key == "metadata") {
            read_lease_meta(reader, lease);
        } else if (key == "spec") {
            read_lease_spec(reader, lease);
        } else {
            reader.skip();
        }
    }
    reader.finish();
    if (lease.name.empty() || lease.version.empty()) reader.fail("wanted a Lease");
    if (reader.is_failed()) return base::invalid("a Lease cannot be read: " + reader.error());
    return lease;
}

}  // namespace berth::kube::client
