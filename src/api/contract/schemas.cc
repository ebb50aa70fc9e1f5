// SPDX-License-Identifier: Apache-2.0
#include "api/contract/schemas.h"

#include "api/live/overview_fields.h"
#include "codec/api/api_fields.h"
#include "codec/api/api_style.h"
#include "codec/api/foresight_fields.h"
#include "codec/api/job_row.h"
#include "codec/api/policy_view.h"
#include "codec/api/server_view.h"
#include "codec/api/timeline_fields.h"
#include "codec/fields/event_fields.h"
#include "model/ledger.h"

namespace berth::api::schemas {
namespace {

using codec::document_of;
using codec::ObjectSchema;
using codec::schema_of;
using codec::Side;

constexpr std::string_view kText = R"({"type":"string"})";
constexpr std::string_view kCount = R"({"type":"integer","minimum":0})";
constexpr std::string_view kNumber = R"({"type":"number"})";
// What is read by hand takes numbers as texts too, and null where a thing can be lifted.
// A number is taken as its text.
constexpr std::string_view kTextOrNull = R"({"type":["string","number","boolean","null"]})";
constexpr std::string_view kFlagOrNull = R"({"type":["boolean","null"]})";
constexpr std::string_view kAmount = R"({"type":["number","string","null"]})";
constexpr std::string_view kTexts =
    R"({"type":["object","null"],
        "additionalProperties":{"type":["string","number","boolean","null"]}})";

template <typename T>
std::string answer(SchemaBook& book, std::string_view kind) {
    return document_of<T>(book, Side::Answer, kind);
}

template <typename E>
std::string words_or_null(SchemaBook& book) {
    return schema_of<std::optional<E>>(book, Side::Request);
}

template <std::size_t I = 0>
std::string event_bodies(SchemaBook& book) {
    if constexpr (I == std::variant_size_v<model::EventBody>) {
        return {};
    } else {
        using Body = std::variant_alternative_t<I, model::EventBody>;
        ObjectSchema object(Side::Answer);
        object.add("sequence", kCount);
        object.add("time", schema_of<model::TimePoint>(book, Side::Answer));
        object.add("actor", kText);
        object.add("type", R"({"const":")" + std::string(codec::kEventTypes[I]) + R"("})");
        codec::add_members<Body>(book, Side::Answer, object);
        const std::string one = book.refer(codec::type_name<Body>(), [&] { return object.text(); });
        const std::string rest = event_bodies<I + 1>(book);
        return rest.empty() ? one : one + "," + rest;
    }
}

void add_rights(SchemaBook& book, ObjectSchema& object) {
    for (const std::string_view name :
         {"quota", "limit", "cpu_quota", "cpu_limit", "memory_quota", "memory_limit"}) {
        object.add(name, kAmount);
    }
    object.add("weight", kAmount);
    object.add("priority", R"({"type":["integer","null"]})");
    object.add("kind", words_or_null<model::QuotaKind>(book));
}

std::string dry_run(SchemaBook& book) {
    return document_of<codec::PlanView>(book, Side::Answer, "Plan",
                                        [](SchemaBook&, ObjectSchema& object) {
                                            object.add("starts_now", R"({"type":"boolean"})");
                                            object.add("text", kText);
                                        });
}

}  // namespace

std::string problem(SchemaBook& book) {
    return book.refer("Problem", [] {
        ObjectSchema object(Side::Answer);
        object.add("type", kText);
        object.add("title", kText);
        object.add("status", kCount);
        object.add("code", kText);
        object.add("detail", kText);
        object.add("hint", R"({"type":"string","description":"a command that may help"})", false);
        return object.text();
    });
}
std::string any_object(SchemaBook&) { return R"({"type":"object"})"; }
std::string text(SchemaBook&) { return std::string(kText); }
std::string notes(SchemaBook& book) { return schema_of<codec::NotesView>(book, Side::Answer); }
std::string server(SchemaBook& book) { return schema_of<codec::ServerView>(book, Side::Answer); }
std::string caller(SchemaBook& book) { return schema_of<codec::CallerView>(book, Side::Answer); }
std::string link(SchemaBook& book) { return schema_of<codec::LinkView>(book, Side::Answer); }

std::string overview(SchemaBook& book) {
    return book.refer("Overview", [&] {
        ObjectSchema object(Side::Answer);
        codec::add_members<OverviewView>(book, Side::Answer, object);
        object.add("sequence", kCount);
        return object.text();
    });
}

std::string topology(SchemaBook& book) {
    constexpr std::string_view kNames = R"({"type":"array","items":{"type":"string"}})";
    constexpr std::string_view kColumn = R"({"type":"array","items":{"type":"integer"}})";
    return book.refer("Topology", [&] {
        ObjectSchema nodes(Side::Answer);
        nodes.add("names", kNames);
        for (const std::string_view column : {"gpus", "pool", "rack", "model", "memory"}) {
            nodes.add(column, kColumn);
        }
        ObjectSchema object(Side::Answer);
        for (const std::string_view list : {"pools", "racks", "models"}) object.add(list, kNames);
        object.add("nodes", nodes.text());
        return object.text();
    });
}

std::string ledger(SchemaBook& book) {
    const std::string row = book.refer("LedgerRow", [] {
        ObjectSchema uses(Side::Answer);
        for (const std::string_view use : model::kGpuUseNames) uses.add(use, kNumber);
        ObjectSchema object(Side::Answer);
        object.add("name", kText);
        object.add("gpu_seconds", uses.text());
        object.add("sum", kNumber);
        object.add("cost", kNumber, false);
        return object.text();
    });
    const std::string saving = book.refer("LedgerSaving", [] {
        ObjectSchema object(Side::Answer);
        for (const std::string_view text :
             {"use", "act", "command", "name", "project", "user", "pool"}) {
            object.add(text, kText);
        }
        for (const std::string_view amount : {"gpu_seconds", "gpu_seconds_a_week"}) {
            object.add(amount, kNumber);
        }
        object.add("job", R"({"type":["integer","null"],"minimum":0})");
        object.add("others", kCount);
        return object.text();
    });
    return book.refer("Ledger", [&] {
        ObjectSchema sentence(Side::Answer);
        sentence.add("about", kText);
        sentence.add("text", kText);
        ObjectSchema object(Side::Answer);
        object.add("sentences", R"({"type":"array","items":)" + sentence.text() + "}");
        object.add("wasted", kNumber);
        object.add("savings", R"({"type":"array","items":)" + saving + "}");
        object.add("other_savings_a_week", kNumber);
        object.add("from", R"({"type":"string","format":"date"})");
        object.add("to", R"({"type":"string","format":"date"})");
        object.add("by", kText);
        object.add("rows", R"({"type":"array","items":)" + row + "}");
        object.add("total", row);
        object.add("capacity", kNumber, false);
        object.add("unpriced", R"({"type":"array","items":{"type":"string"}})");
        return object.text();
    });
}

std::string job(SchemaBook& book) { return answer<codec::JobView>(book, "Job"); }

// A dry run answers 200 with what would be.
std::string submitted(SchemaBook& book) {
    return R"({"anyOf":[)" + job(book) + "," + dry_run(book) + "]}";
}

// Whole jobs, or with view=row lines.
std::string jobs(SchemaBook& book) {
    const std::string whole = document_of<codec::Page<codec::JobView>>(
        book, Side::Answer, "JobList",
        [](SchemaBook&, ObjectSchema& object) { object.add("more", kCount); });
    const std::string rows = book.refer("JobRows", [&] {
        const std::string row = book.refer("JobRow", [&] {
            ObjectSchema object(Side::Answer);
            codec::add_members<codec::JobRow>(book, Side::Answer, object);
            object.add("foresight", schema_of<codec::Foresight>(book, Side::Answer), false);
            return object.text();
        });
        ObjectSchema object(Side::Answer);
        object.add("items", R"({"type":"array","items":)" + row + "}");
        object.add("next", kText);
        object.add("more", kCount);
        return object.text();
    });
    return R"({"anyOf":[)" + whole + "," + rows + "]}";
}

std::string verdict(SchemaBook& book) {
    return document_of<model::Verdict>(
        book, Side::Answer, "Verdict", [](SchemaBook& in, ObjectSchema& object) {
            object.add("text", kText);
            object.add("order", schema_of<model::OrderAccount>(in, Side::Answer), false);
            object.add("foresight", schema_of<codec::Foresight>(in, Side::Answer), false);
        });
}

std::string spans(SchemaBook& book) {
    return answer<model::ClusterTimeline>(book, "ClusterTimeline");
}
std::string timeline(SchemaBook& book) { return answer<model::JobTimeline>(book, "JobTimeline"); }
std::string receipts(SchemaBook& book) { return answer<model::JobReceipts>(book, "ReceiptList"); }
std::string takings(SchemaBook& book) { return answer<model::Takings>(book, "TakingList"); }

std::string attachment(SchemaBook& book) {
    return book.refer("Attachment", [] {
        ObjectSchema object(Side::Answer);
        object.add("socket", kText);
        object.add("attempt", kCount);
        return object.text();
    });
}

std::string events(SchemaBook& book) {
    return codec::document_schema(
        book, Side::Answer, "EventList", [](SchemaBook& in, ObjectSchema& object) {
            const std::string event =
                in.refer("Event", [&] { return R"({"oneOf":[)" + event_bodies(in) + "]}"; });
            object.add("items", R"({"type":"array","items":)" + event + "}");
            object.add("next", kText);
        });
}

std::string nodes(SchemaBook& book) {
    return document_of<codec::Page<codec::NodeView>>(
        book, Side::Answer, "NodeList", [](SchemaBook&, ObjectSchema& object) {
            object.add("sentences", R"({"type":"array","items":{"type":"string"}})");
        });
}
std::string pools(SchemaBook& book) {
    return answer<codec::Page<codec::PoolView>>(book, "PoolList");
}
std::string projects(SchemaBook& book) {
    return document_of<codec::Page<codec::ProjectView>>(
        book, Side::Answer, "ProjectList", [](SchemaBook& in, ObjectSchema& object) {
            object.add("lending", schema_of<std::vector<LendingView>>(in, Side::Answer));
        });
}
std::string project(SchemaBook& book) { return answer<model::Project>(book, "Project"); }
std::string fair_share(SchemaBook& book) {
    return answer<model::ShareAccount>(book, "ShareAccount");
}
std::string what_if(SchemaBook& book) { return answer<model::WhatIf>(book, "WhatIf"); }
std::string what_if_replay(SchemaBook& book) {
    return answer<model::WhatIfReplay>(book, "WhatIfReplay");
}
std::string policy(SchemaBook& book) { return answer<codec::PolicyView>(book, "Policy"); }

std::string shutdown(SchemaBook&) {
    ObjectSchema object(Side::Request);
    object.add("jobs", R"({"type":"string","enum":["keep","cancel"]})");
    return object.text();
}
std::string submission(SchemaBook& book) {
    return document_of<model::Submission>(book, Side::Request, "Submission");
}
std::string what_if_question(SchemaBook& book) {
    return document_of<codec::WhatIfRequest>(book, Side::Request, "WhatIfRequest");
}
std::string replay_question(SchemaBook& book) {
    return document_of<model::ReplayRequest>(book, Side::Request, "ReplayRequest");
}
std::string steering(SchemaBook&) {
    ObjectSchema object(Side::Request);
    object.add("grace", kAmount);
    return object.text();
}
std::string keeping(SchemaBook&) {
    ObjectSchema object(Side::Request);
    object.add("for", kAmount);
    return object.text();
}
std::string job_change(SchemaBook&) {
    ObjectSchema object(Side::Request);
    for (const std::string_view name : {"gpus", "share", "cap", "gpu_memory"})
        object.add(name, kAmount);
    object.add("requeue", kFlagOrNull);
    return object.text();
}
std::string node_change(SchemaBook&) {
    ObjectSchema object(Side::Request);
    object.add("labels", kTexts);
    object.add("topology", kTexts);
    object.add("health", R"({"type":["string","null"],"enum":["ready","drained",null]})");
    return object.text();
}
std::string pool_change(SchemaBook&) {
    ObjectSchema object(Side::Request);
    object.add("name", kTextOrNull);
    object.add("labels", kTexts);
    object.add(
        "exchange",
        R"({"type":["object","null"],"additionalProperties":{"type":["number","string","null"]}})");
    object.add("strict_shares", kFlagOrNull);
    object.add("spares", kTextOrNull);
    return object.text();
}
std::string project_change(SchemaBook& book) {
    ObjectSchema rights(Side::Request);
    add_rights(book, rights);
    ObjectSchema object(Side::Request);
    object.add("name", kTextOrNull);
    object.add("parent", kTextOrNull);
    add_rights(book, object);
    object.add("pools", R"({"type":["object","null"],"additionalProperties":{"anyOf":[)" +
                            rights.text() + R"(,{"type":"null"}]}})");
    object.add("strict_shares", kFlagOrNull);
    object.add("preemption_delay", kAmount);
    object.add("preempt_min_run", kAmount);
    object.add("reclaim_min_run", kAmount);
    object.add("job_order", words_or_null<model::JobOrder>(book));
    object.add("idle_after", kAmount);
    object.add("idle_act", words_or_null<model::IdleAct>(book));
    object.add("job_tail", R"({"type":["integer","null"]})");
    return object.text();
}
std::string settings(SchemaBook&) {
    return R"({"type":"object","additionalProperties":{"type":["string","number","null"]}})";
}
std::string link_wish(SchemaBook&) {
    ObjectSchema object(Side::Request);
    object.add("look_only", kFlagOrNull);
    return object.text();
}
std::string code(SchemaBook&) {
    ObjectSchema object(Side::Answer);
    object.add("code", kText);
    return object.text();
}

}  // namespace berth::api::schemas
