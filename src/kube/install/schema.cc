// SPDX-License-Identifier: Apache-2.0
#include "kube/install/schema.h"

#include <array>
#include <span>
#include <utility>

#include "codec/words/words.h"
#include "kube/install/setting_rules.h"
#include "kube/objects/spec_fields.h"
#include "model/limits.h"
#include "model/policy/policy_settings.h"

namespace berth::kube::install {
namespace {

using codec::JsonWriter;
using objects::FieldType;
using objects::SpecField;

constexpr std::size_t kTextMax = 64;  // of a time, of a setting
constexpr std::size_t kWordsMax = 1024;    // of what is said in a condition
constexpr std::size_t kPoolsSaidMax = 64;  // of which a Project has rights of its own
constexpr std::size_t kConditionsMax = 16;
constexpr std::string_view kWantedGpus = "a number of GPUs such as 4 or 0.125, or -1 for no bound";
constexpr std::string_view kWantedCores = "a number of cores such as 64 or 0.5, or -1 for none";
constexpr std::string_view kWantedWeight = "a weight such as 1 or 0.125";
constexpr std::string_view kLabelKey =
    "^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";

// One value of a schema, open until it goes.
class Schema {
  public:
    Schema(JsonWriter& json, std::string_view type) : json_(json) {
        json_.begin_object();
        text("type", type);
    }
    ~Schema() { json_.end_object(); }
    Schema(const Schema&) = delete;
    Schema& operator=(const Schema&) = delete;

    void text(std::string_view name, std::string_view value) {
        json_.key(name);
        json_.string(value);
    }
    void number(std::string_view name, std::int64_t value) {
        json_.key(name);
        json_.number(value);
    }
    void size(std::string_view name, std::size_t value) {
        number(name, static_cast<std::int64_t>(value));
    }
    void flag(std::string_view name) {
        json_.key(name);
        json_.boolean(true);
    }
    void means(std::string_view meaning) {
        if (!meaning.empty()) text("description", meaning);
    }
    // A number with up to three decimals. (Of a multipleOf below 1 the server makes 0 where it
    // meets a whole number, and refuses that.)
    void decimal(std::int64_t least, std::int64_t most, std::string_view wanted) {
        number("minimum", least);
        number("maximum", most);
        const std::string is_right = "double(int(self * 1000.0 + 0.5)) / 1000.0 == self";
        rule(least < 0 ? "self == -1.0 || (self >= 0.0 && " + is_right + ")" : is_right,
             "wanted " + std::string(wanted));
    }
    template <typename Words>
    void one_of(const Words& words) {
        json_.key("enum");
        json_.begin_array();
        for (const std::string_view word : words) json_.string(word);
        json_.end_array();
    }
    void rule(std::string rule, std::string message) {
        write_rules(json_, {{std::move(rule), std::move(message)}});
    }

  private:
    JsonWriter& json_;
};

void write_name(JsonWriter& json, std::string_view meaning, std::string_view of_what) {
    Schema schema(json, "string");
    schema.means(meaning);
    schema.size("maxLength", objects::kDeclaredNameMax);
    schema.rule("self.matches('^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$')",
                "wanted the name of a " + std::string(of_what) +
                    ": lower case letters, digits, \"-\" and \".\"");
}

void write_namespaces(JsonWriter& json, std::string_view meaning) {
    Schema schema(json, "array");
    schema.means(meaning);
    schema.size("maxItems", objects::kNamespacesMax);
    schema.text("x-kubernetes-list-type", "set");
    json.key("items");
    Schema item(json, "string");
    item.size("maxLength", 63);
    item.rule("self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",
              "wanted the name of a namespace: lower case letters, digits and \"-\"");
}

void write_selector(JsonWriter& json, std::string_view meaning) {
    Schema schema(json, "object");
    schema.means(meaning);
    schema.size("maxProperties", objects::kNodeLabelsMax);
    json.key("additionalProperties");
    {
        Schema value(json, "string");
        value.size("maxLength", 63);
        value.rule("self.matches('^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$')",
                   "wanted the value of a label: letters, digits, \"-\", \"_\" and \".\"");
    }
    schema.rule("self.all(key, key.matches('" + std::string(kLabelKey) + "'))",
                "wanted keys of labels, such as zone or example.org/zone");
}

void write_exchange(JsonWriter& json, std::string_view meaning) {
    Schema schema(json, "object");
    schema.means(meaning);
    schema.size("maxProperties", objects::kExchangeModelsMax);
    json.key("additionalProperties");
    {
        Schema value(json, "number");
        value.decimal(0, model::kExchangeMax / 1000, kWantedWeight);
        value.flag("exclusiveMinimum");
    }
    schema.rule(
        "self.all(key, size(key) > 0 && size(key) <= " + std::to_string(model::kNameBytesMax) + ")",
        "wanted names of GPU models, such as H100");
}

void write_levels(JsonWriter& json, std::string_view meaning) {
    Schema schema(json, "array");
    schema.means(meaning);
    schema.size("maxItems", model::kLevelsMax);
    schema.text("x-kubernetes-list-type", "set");
    json.key("items");
    Schema item(json, "string");
    item.size("maxLength", model::kNameBytesMax);
    item.rule("self != '" + std::string(model::kNodeLevel) + "' && self.matches('" +
                  std::string(kLabelKey) + "')",
              "wanted the key of a label, such as rack; the node itself is always the last level");
}

void write_setting(JsonWriter& json, const model::PolicySetting& setting,
                   const std::string& meaning) {
    const SettingRule wanted = rule_of(setting);
    Schema text(json, "string");
    text.means(meaning + ": " + std::string(setting.takes));
    text.size("maxLength", kTextMax);
    if (wanted.words.empty()) {
        text.rule(wanted.rule, wanted.message);
    } else {
        text.one_of(wanted.words);
    }
}

void write_settings(JsonWriter& json, std::string_view meaning) {
    Schema schema(json, "object");
    schema.means(meaning);
    json.key("properties");
    json.begin_object();
    for (const model::PolicySetting& setting : model::policy_settings()) {
        json.text_key(setting.name);
        write_setting(json, setting, std::string(setting.meaning));
        if (setting.formerly.empty()) continue;
        json.text_key(setting.formerly);
        write_setting(json, setting, "the former name of " + std::string(setting.name));
    }
    json.end_object();
}

void write_field(JsonWriter& json, FieldType form, std::string_view meaning);

template <typename Spec>
void write_properties(JsonWriter& json, std::span<const SpecField<Spec>> fields) {
    for (const SpecField<Spec>& field : fields) {
        json.key(field.name);
        write_field(json, field.form, field.means);
    }
}

void write_pools(JsonWriter& json, std::string_view meaning) {
    Schema schema(json, "object");
    schema.means(meaning);
    schema.size("maxProperties", kPoolsSaidMax);
    json.key("additionalProperties");
    {
        const Schema rights(json, "object");
        json.key("properties");
        json.begin_object();
        write_properties(json, objects::rights_fields());
        json.end_object();
    }
    schema.rule("self.all(pool, pool.matches('^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$'))",
                "wanted names of pools: lower case letters, digits, \"-\" and \".\"");
}

void write_memory(JsonWriter& json, std::string_view meaning) {
    Schema schema(json, "string");
    schema.means(meaning);
    schema.size("maxLength", kTextMax);
    schema.rule("self.matches('^(none|[0-9]{1,9}([.][0-9]{1,3})?[KMGT]?)$')",
                "wanted an amount of memory such as 512G, or none");
}

struct WantedDecimal {
    std::int64_t least;
    std::int64_t most;
    std::string_view words;
};
void write_decimal(JsonWriter& json, std::string_view meaning, const WantedDecimal& wanted) {
    Schema schema(json, "number");
    schema.means(meaning);
    schema.decimal(wanted.least, wanted.most, wanted.words);
}

void write_whole(JsonWriter& json, std::string_view meaning, std::int64_t least,
                 std::int64_t most) {
    Schema schema(json, "integer");
    schema.means(meaning);
    schema.number("minimum", least);
    schema.number("maximum", most);
}

template <typename Words>
void write_words(JsonWriter& json, std::string_view meaning, const Words& words) {
    Schema schema(json, "string");
    schema.means(meaning);
    schema.one_of(words);
}

void write_time(JsonWriter& json, std::string_view meaning) {
    Schema schema(json, "string");
    schema.means(meaning);
    schema.size("maxLength", kTextMax);
    schema.rule(time_rule(base::Duration{0}, model::kTimeMax),
                "wanted " + wanted_time(base::Duration{0}, model::kTimeMax));
}

void write_field(JsonWriter& json, FieldType form, std::string_view meaning) {
    switch (form) {
        case FieldType::Gpus:
            return write_decimal(json, meaning, {-1, model::kGpusMax.value / 1000, kWantedGpus});
        case FieldType::Cores:
            return write_decimal(json, meaning,
                                 {-1, model::kCpuLimitMax.value / 1000, kWantedCores});
        case FieldType::Memory: return write_memory(json, meaning);
        case FieldType::Weight:
            return write_decimal(json, meaning, {0, model::kWeightMax / 1000, kWantedWeight});
        case FieldType::Priority:
            return write_whole(json, meaning, -model::kPriorityMax, model::kPriorityMax);
        case FieldType::OrderTail: return write_whole(json, meaning, 0, model::kOrderTailMax);
        case FieldType::QuotaKind:
            return write_words(json, meaning, codec::kWords<model::QuotaKind>);
        case FieldType::JobOrder: return write_words(json, meaning, codec::kWords<model::JobOrder>);
        case FieldType::Profile:
            return write_words(json, meaning, std::array<std::string_view, 2>{"berth", "classic"});
        case FieldType::ProjectName: return write_name(json, meaning, "project");
        case FieldType::PoolName: return write_name(json, meaning, "pool");
        case FieldType::Time: return write_time(json, meaning);
        case FieldType::Pools: return write_pools(json, meaning);
        case FieldType::Namespaces: return write_namespaces(json, meaning);
        case FieldType::NodeLabels: return write_selector(json, meaning);
        case FieldType::Exchange: return write_exchange(json, meaning);
        case FieldType::Levels: return write_levels(json, meaning);
        case FieldType::Settings: return write_settings(json, meaning);
    }
}

void write_said_number(JsonWriter& json, std::string_view name, std::string_view type,
                       std::string_view meaning) {
    json.key(name);
    Schema schema(json, type);
    schema.means(meaning);
}

void write_said_text(JsonWriter& json, std::string_view name, std::size_t most) {
    json.key(name);
    Schema schema(json, "string");
    schema.size("maxLength", most);
}

// As Kubernetes has them everywhere: kubectl wait reads them.
void write_conditions(JsonWriter& json) {
    json.key("conditions");
    Schema schema(json, "array");
    schema.means("Accepted: False with the reason where the spec cannot hold.");
    schema.size("maxItems", kConditionsMax);
    schema.text("x-kubernetes-list-type", "map");
    json.key("x-kubernetes-list-map-keys");
    json.begin_array();
    json.string("type");
    json.end_array();
    json.key("items");
    const Schema item(json, "object");
    json.key("required");
    json.begin_array();
    json.string("type");
    json.string("status");
    json.end_array();
    json.key("properties");
    json.begin_object();
    write_said_text(json, "type", 316);
    write_said_text(json, "status", 16);
    write_said_text(json, "reason", kWordsMax);
    write_said_text(json, "message", 4 * kWordsMax);
    json.key("lastTransitionTime");
    {
        Schema time(json, "string");
        time.text("format", "date-time");
    }
    write_said_number(json, "observedGeneration", "integer", "");
    json.end_object();
}

void write_use(JsonWriter& json) {
    write_said_number(json, "quota", "number", "GPUs that it is entitled to.");
    write_said_number(json, "fairShare", "number", "GPUs that are its part now.");
    write_said_number(json, "used", "number", "GPUs that its jobs have.");
    write_said_number(json, "over", "number", "Of these, GPUs above its quota.");
    write_said_number(json, "waiting", "integer", "Jobs that wait.");
}

void write_project_status(JsonWriter& json) {
    write_use(json);
    json.key("pools");
    Schema schema(json, "object");
    schema.means("The same in each pool.");
    schema.size("maxProperties", model::kPoolsMax);
    json.key("additionalProperties");
    const Schema pool(json, "object");
    json.key("properties");
    json.begin_object();
    write_use(json);
    write_said_number(json, "usage", "number", "Past use, as a part of the pool.");
    json.end_object();
}

void write_pool_status(JsonWriter& json) {
    write_said_number(json, "nodes", "integer", "Nodes in it.");
    write_said_number(json, "gpus", "integer", "GPUs of these.");
    write_said_number(json, "idle", "number", "GPUs that no pod has.");
}

void write_spec_properties(JsonWriter& json, DeclaredKind kind) {
    switch (kind) {
        case DeclaredKind::Project:
            write_properties(json, objects::rights_fields());
            return write_properties(json, objects::project_fields());
        case DeclaredKind::Pool: return write_properties(json, objects::pool_fields());
        case DeclaredKind::Policy: return write_properties(json, objects::policy_fields());
    }
}

}  // namespace

void write_rules(JsonWriter& json, std::initializer_list<CelRule> rules) {
    json.key("x-kubernetes-validations");
    json.begin_array();
    for (const CelRule& one : rules) {
        json.begin_object();
        json.key("rule");
        json.string(one.rule);
        json.key("message");
        json.string(one.message);
        json.end_object();
    }
    json.end_array();
}

void write_spec_schema(JsonWriter& json, DeclaredKind kind) {
    const Schema schema(json, "object");
    json.key("properties");
    json.begin_object();
    write_spec_properties(json, kind);
    json.end_object();
}

void write_status_schema(JsonWriter& json, DeclaredKind kind) {
    Schema schema(json, "object");
    schema.means("What Berth says; written by it alone.");
    json.key("properties");
    json.begin_object();
    if (kind == DeclaredKind::Project) write_project_status(json);
    if (kind == DeclaredKind::Pool) write_pool_status(json);
    write_said_number(json, "observedGeneration", "integer", "Of the spec that this is said of.");
    write_conditions(json);
    json.end_object();
}

}  // namespace berth::kube::install
