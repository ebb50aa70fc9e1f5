// SPDX-License-Identifier: Apache-2.0
#include "codec/api/api_style.h"

#include <charconv>

namespace berth::codec {
namespace {

// Millionths without trailing zeros: 250000 -> "0.25".
std::string format_millionths(std::int64_t amount) {
    const std::string sign = amount < 0 ? "-" : "";
    const std::int64_t magnitude = amount < 0 ? -amount : amount;
    std::string decimals = std::to_string(magnitude % 1'000'000 + 1'000'000).substr(1);
    while (!decimals.empty() && decimals.back() == '0') decimals.pop_back();
    const std::string whole = sign + std::to_string(magnitude / 1'000'000);
    return decimals.empty() ? whole : whole + "." + decimals;
}

}  // namespace

void ApiStyle::read_decimal(JsonReader& json, int places, std::int64_t& amount) const {
    std::string_view text = json.read_number_text();
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const auto number = decimal_from(text, places);
    if (!number && !json.is_failed()) {
        json.fail("wanted a number with at most " + std::to_string(places) + " decimals, found \"" +
                  std::string(text) + "\"");
    }
    amount = is_negative ? -number.value_or(0) : number.value_or(0);
}

void ApiStyle::write(JsonWriter& json, model::MilliGpu amount) const {
    amount == model::kUnlimited ? json.number(-1) : json.raw(base::format(amount));
}
void ApiStyle::read(JsonReader& json, model::MilliGpu& amount) const {
    read_decimal(json, 3, amount.value);
    if (amount == base::gpus(-1)) amount = model::kUnlimited;
}

void ApiStyle::write(JsonWriter& json, model::MilliCpu amount) const {
    json.raw(base::format(amount));
}
void ApiStyle::read(JsonReader& json, model::MilliCpu& amount) const {
    read_decimal(json, 3, amount.value);
}

void ApiStyle::write(JsonWriter& json, model::Duration duration) const {
    json.raw(base::format_thousandths(duration.count()));
}
void ApiStyle::read(JsonReader& json, model::Duration& duration) const {
    std::int64_t milliseconds = 0;
    read_decimal(json, 3, milliseconds);
    duration = model::Duration{milliseconds};
}

void ApiStyle::write(JsonWriter& json, model::TimePoint time) const {
    const auto shift = source_ == nullptr ? model::Duration{0} : source_->date_shift;
    json.string(format_time(time + shift));
}

void ApiStyle::read(JsonReader& json, model::TimePoint& time) const {
    const std::string text = json.read_string();
    const auto parsed = parse_time(text);
    if (!parsed) return json.fail(parsed.error().message);
    time = *parsed;
}

void ApiStyle::write(JsonWriter& json, model::JobId job) const {
    if (!job.is_valid()) return json.null();
    mentioned_.insert(job);
    json.number(job.value);
}
void ApiStyle::read(JsonReader& json, model::JobId& job) const {
    if (json.peek() == JsonReader::Type::Null) {
        json.read_null();
        job = {};
    } else {
        job.value = json.read_int();
    }
}

void ApiStyle::write(JsonWriter& json, model::NodeId node) const {
    const bool has_name = node.is_valid() && source_ != nullptr && source_->node;
    const std::string name = has_name ? source_->node(node) : "";
    name.empty() ? json.null() : json.string(name);
}
void ApiStyle::read(JsonReader& json, model::NodeId& node) const {
    node = {};
    if (json.peek() == JsonReader::Type::Null) return json.read_null();
    const std::string name = json.read_string();
    if (table_ != nullptr) node = table_->node_id(name);
}

void ApiStyle::read(JsonReader& json, model::Reason& reason) const {
    const std::string text = json.read_string();
    const auto found = reason_named(text);
    // A newer server may have reasons that this client does not know.
    if (!found && reading_ == Reading::Strict) json.fail("unknown reason \"" + text + "\"");
    reason = found.value_or(model::Reason::NotYetEvaluated);
}

void ApiStyle::write(JsonWriter& json, Thousandths number) const {
    json.raw(base::format_thousandths(number.value));
}
void ApiStyle::read(JsonReader& json, Thousandths& number) const {
    read_decimal(json, 3, number.value);
}
void ApiStyle::write(JsonWriter& json, Millionths number) const {
    json.raw(format_millionths(number.value));
}
void ApiStyle::read(JsonReader& json, Millionths& number) const {
    read_decimal(json, 6, number.value);
}

void ApiStyle::write(JsonWriter& json, const model::TaskPlacement& task) const {
    write_value(*this, json, shape_of(task));
}
void ApiStyle::read(JsonReader& json, model::TaskPlacement& task) const {
    TaskPlace shape;
    read_value(*this, json, shape);
    if (!restore(shape, task)) json.fail("wanted indices of GPUs from 0 to 63");
}

void ApiStyle::write(JsonWriter& json, const model::Entitlement& rights) const {
    write_value(*this, json, shape_of(rights));
}
void ApiStyle::read(JsonReader& json, model::Entitlement& rights) const {
    ProjectRights shape = shape_of(rights);
    read_value(*this, json, shape);
    restore(shape, rights);
}

void ApiStyle::refuse_unknown(JsonReader& json, std::string_view key,
                              std::span<const std::string_view> known) const {
    std::string hint = did_you_mean(key, known);
    if (hint.empty()) hint = "; known are " + listed(known);
    json.fail("unknown field \"" + std::string(key) + "\"" + hint);
}

void ApiStyle::begin_document(JsonWriter& json, std::string_view kind) const {
    json.begin_object();
    json.key("apiVersion").string(kApiVersion);
    json.key("kind").string(kind);
}

void ApiStyle::end_document(JsonWriter& json) const {
    if (source_ != nullptr && source_->job && !mentioned_.empty()) {
        json.key("job_names").begin_object();
        for (const model::JobId job : mentioned_) {
            const std::string name = source_->job(job);
            if (name.empty()) continue;
            json.key(std::to_string(job.value)).string(name);
        }
        json.end_object();
    }
    json.end_object();
}

bool ApiStyle::read_envelope(JsonReader& json, std::string_view key) const {
    const bool is_version = key == "apiVersion";
    if (key == "job_names" && table_ != nullptr) {
        read_job_names(json);
        return true;
    }
    if (!is_version && key != "kind") return false;
    const std::string found = json.read_string();
    const std::string_view wanted = is_version ? kApiVersion : kind_;
    if (found != wanted && !json.is_failed()) {
        json.fail("wanted \"" + std::string(wanted) + "\", found \"" + found + "\"");
    }
    return true;
}

void ApiStyle::read_job_names(JsonReader& json) const {
    std::string_view key;
    for (json.begin_object(); json.next_key(key);) {
        model::JobId job;
        const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), job.value);
        if (error != std::errc{} || end != key.data() + key.size()) {
            return json.fail("wanted the number of a job");
        }
        table_->jobs[job] = json.read_string();
    }
}

model::NodeId NameTable::node_id(std::string_view name) {
    if (const auto found = ids_.find(name); found != ids_.end()) return found->second;
    const model::NodeId id{static_cast<std::uint32_t>(nodes.size())};
    nodes.emplace_back(name);
    ids_.emplace(name, id);
    return id;
}

NameSource NameTable::source() const {
    return {[this](model::NodeId node) {
                return node.index() < nodes.size() ? nodes[node.index()] : "";
            },
            [this](model::JobId job) {
                const auto found = jobs.find(job);
                return found == jobs.end() ? "" : found->second;
            }};
}

}  // namespace berth::codec
