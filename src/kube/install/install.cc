// SPDX-License-Identifier: Apache-2.0
#include "kube/install/install.h"

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <vector>

#include "codec/text/json.h"
#include "kube/client/writes.h"
#include "kube/install/definitions.h"
#include "kube/install/paused.h"

namespace berth::kube::install {
namespace {

using base::ErrorCode;
using base::Status;
using client::Method;
using client::Outcome;

constexpr base::Duration kLookAgain = std::chrono::milliseconds(100);

std::string text_at(const std::string& body, std::initializer_list<std::string_view> path) {
    const auto parsed = codec::parse_json(body, "answer");
    const codec::Value* value = parsed ? &*parsed : nullptr;
    for (const std::string_view name : path) {
        if (value != nullptr) value = value->find(name);
    }
    return value != nullptr ? value->text : std::string();
}

bool is_missing(const Outcome& outcome) {
    return outcome.kind == Outcome::Kind::Refused && outcome.code == 404;
}

// Of what is not done.
base::Error error_of(const Session& session, const std::string& title, const Outcome& outcome) {
    ErrorCode code = ErrorCode::Unavailable;
    if (outcome.code == 401 || outcome.code == 403) code = ErrorCode::Forbidden;
    if (outcome.code == 409 || outcome.code == 422) code = ErrorCode::Conflict;
    if (outcome.code == 400 || outcome.code == 404) code = ErrorCode::Conflict;
    std::string message = title + ": ";
    if (outcome.code == 0) message += session.server() + " does not answer: ";
    return {code, message + outcome.message};
}

Status check_version(Session& session, const Say& say) {
    const Outcome version = session.ask({Method::Get, "/version"});
    if (!version.is_done()) return tl::unexpected(error_of(session, "version", version));
    const std::string name = text_at(version.body, {"gitVersion"});
    say("Kubernetes " + name + " at " + session.server());
    const Outcome policies = session.ask({Method::Get, "/apis/admissionregistration.k8s.io/v1"});
    const bool has_all = policies.is_done() &&
                         policies.body.find("\"mutatingadmissionpolicies\"") != std::string::npos;
    if (has_all) return {};
    return base::fail(
        ErrorCode::Conflict,
        "wanted Kubernetes 1.36 or later, which has MutatingAdmissionPolicy v1; found " + name +
            " without it");
}

// Nothing is written where a part would be refused.
Status check_rights(Session& session, const std::vector<Object>& objects) {
    std::string refused;
    for (const Object& object : objects) {
        if (object.is_namespaced) continue;  // its namespace may not be there yet
        const Outcome tried =
            session.ask(client::apply(object.path, object.json, client::Apply::Try));
        if (tried.code == 403) refused += "\n  " + object.title + ": " + tried.message;
        if (tried.code == 401 || tried.code == 0) {
            return tl::unexpected(error_of(session, object.title, tried));
        }
    }
    if (refused.empty()) return {};
    return base::fail(ErrorCode::Forbidden,
                      "nothing was written, as you may not write all of it:" + refused);
}

// What is being deleted comes to its end first.
Status apply_object(Session& session, const Object& object, const Say& say) {
    for (;;) {
        const Outcome done =
            session.ask(client::apply(object.path, object.json, client::Apply::Do));
        const bool is_leaving = done.is_done()
                                    ? !text_at(done.body, {"metadata", "deletionTimestamp"}).empty()
                                    : done.message.find("being terminated") != std::string::npos;
        if (done.is_done() && !is_leaving) {
            say((done.code == 201 ? "  made   " : "  there  ") + object.title);
            return {};
        }
        if (!is_leaving) return tl::unexpected(error_of(session, object.title, done));
        if (!session.wait(kLookAgain)) {
            return base::fail(ErrorCode::Timeout,
                              object.title + ": an earlier one is still " + "being deleted");
        }
    }
}

bool is_established(const std::string& body) {
    const auto parsed = codec::parse_json(body, "answer");
    const codec::Value* status = parsed ? parsed->find("status") : nullptr;
    const codec::Value* all = status != nullptr ? status->find("conditions") : nullptr;
    if (all == nullptr) return false;
    return std::ranges::any_of(all->items, [](const codec::Value& one) {
        const codec::Value* type = one.find("type");
        const codec::Value* is = one.find("status");
        return type != nullptr && is != nullptr && type->text == "Established" &&
               is->text == "True";
    });
}

std::string list_path(const DeclaredNames& names) {
    return "/apis/" + std::string(kGroup) + "/" + std::string(kVersion) + "/" +
           std::string(names.plural);
}

Status await_kinds(Session& session, const std::vector<Object>& objects) {
    for (const Object& object : objects) {
        if (!object.is_definition) continue;
        for (;;) {
            const Outcome read = session.ask({Method::Get, object.path});
            if (!read.is_done()) return tl::unexpected(error_of(session, object.title, read));
            if (is_established(read.body)) break;
            if (session.wait(kLookAgain)) continue;
            return base::fail(ErrorCode::Timeout, object.title + " is not established");
        }
    }
    for (const DeclaredNames& names : declared_kinds()) {
        while (is_missing(session.ask({Method::Get, list_path(names) + "?limit=1"}))) {
            if (session.wait(kLookAgain)) continue;
            return base::fail(ErrorCode::Timeout, std::string(names.plural) + " are not served");
        }
    }
    return {};
}

// "2 projects, 1 pool"; empty when there are none.
base::Result<std::string> declarations_on(Session& session) {
    std::string found;
    for (const DeclaredNames& names : declared_kinds()) {
        const Outcome list = session.ask({Method::Get, list_path(names)});
        if (is_missing(list)) continue;
        if (!list.is_done()) {
            return tl::unexpected(error_of(session, std::string(names.plural), list));
        }
        const auto parsed = codec::parse_json(list.body, "answer");
        const codec::Value* items = parsed ? parsed->find("items") : nullptr;
        const std::size_t count = items != nullptr ? items->items.size() : 0;
        if (count == 0) continue;
        found += (found.empty() ? "" : ", ") + std::to_string(count) + " " +
                 std::string(count == 1 ? names.singular : names.plural);
    }
    return found;
}

Status await_gone(Session& session, const Object& object) {
    for (;;) {
        const Outcome read = session.ask({Method::Get, object.path});
        if (is_missing(read)) return {};
        if (!read.is_done()) return tl::unexpected(error_of(session, object.title, read));
        if (session.wait(kLookAgain)) continue;
        return base::fail(ErrorCode::Timeout, object.title + " is still being deleted");
    }
}

// Pods that only Berth would have scheduled.
std::size_t waiting_pods(Session& session) {
    const Outcome list =
        session.ask({Method::Get,
                     "/api/v1/pods?limit=1000&fieldSelector=status.phase%3DPending%2C"
                     "spec.nodeName%3D%2Cspec.schedulerName%3D" +
                         std::string(kPodSchedulerName)});
    const auto parsed = codec::parse_json(list.body, "answer");
    const codec::Value* items = parsed && list.is_done() ? parsed->find("items") : nullptr;
    return items != nullptr ? items->items.size() : 0;
}

}  // namespace

Status install(Session& session, const InstallOptions& options, const Say& say) {
    const std::vector<Object> objects = objects_of(options);
    BERTH_TRY_VOID(check_version(session, say));
    BERTH_TRY_VOID(check_rights(session, objects));
    for (const Object& object : objects) BERTH_TRY_VOID(apply_object(session, object, say));
    return await_kinds(session, objects);
}

Status uninstall(Session& session, Declarations declarations, const Say& say) {
    if (declarations == Declarations::Ask) {
        BERTH_TRY(found, declarations_on(session));
        if (!found.empty()) {
            return base::fail(ErrorCode::Conflict, found + " would be deleted too; say whether");
        }
    }
    std::vector<Object> leaving;
    for (const Object& object : objects_of({})) {
        if (object.is_definition && declarations == Declarations::Keep) continue;
        leaving.insert(leaving.begin(), object);
    }
    for (const Object& object : leaving) {
        const Outcome done = session.ask(client::remove_object({object.path, "", ""}));
        if (!done.is_done() && !is_missing(done)) {
            return tl::unexpected(error_of(session, object.title, done));
        }
        say((done.is_done() ? "  gone   " : "  none   ") + object.title);
    }
    for (const Object& object : leaving) BERTH_TRY_VOID(await_gone(session, object));
    BERTH_TRY(resumed, resume_paused(session));
    if (resumed > 0)
        say(std::to_string(resumed) + " that Berth had paused " + (resumed == 1 ? "goes" : "go") +
            " on");
    if (const std::size_t pods = waiting_pods(session); pods > 0) {
        say(std::to_string(pods) + (pods == 1 ? " pod waits" : " pods wait") +
            " for the scheduler \"" + std::string(kPodSchedulerName) +
            "\", which is gone; make them again");
    }
    return {};
}

}  // namespace berth::kube::install
