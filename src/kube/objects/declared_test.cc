// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/declared.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "codec/files/state_file.h"
#include "kube/objects/spec_fields.h"
#include "model/description.h"

using namespace berth;
using namespace berth::kube::objects;
using codec::JsonReader;

namespace {

std::string object_text(const std::string& name, const std::string& spec) {
    return R"({"apiVersion": "berth.dev/v1alpha1", "metadata": {"name": ")" + name +
           R"(", "uid": "01234567-89ab-cdef-fedc-ba9876543210", "resourceVersion": "7",
               "generation": 3, "creationTimestamp": "2026-03-01T12:00:00Z"}, "spec": )" +
           spec + R"(, "status": {"used": 4}})";
}

template <typename Read>
auto read_text(Read read, const std::string& text) {
    static MetaPools pools;
    JsonReader reader(text);
    auto object = read(reader, pools);
    reader.finish();
    REQUIRE_MESSAGE(!reader.is_failed(), reader.error());
    return object;
}

DeclaredProject project_of(const std::string& spec) {
    return read_text(read_project, object_text("vision", spec));
}
DeclaredPool pool_of(const std::string& spec) {
    return read_text(read_pool, object_text("h100", spec));
}
DeclaredPolicy policy_of(const std::string& spec) {
    return read_text(read_policy, object_text("default", spec));
}

// preemptionDelay is preemption_delay in a state file.
std::string in_state_file(std::string_view name) {
    if (name == "nodeSelector") return "labels";
    std::string snake;
    for (const char c : name) {
        const bool is_capital = std::isupper(static_cast<unsigned char>(c)) != 0;
        if (is_capital) snake += '_';
        snake += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return snake;
}

// An example of each field's value, alike in JSON and YAML.
std::string example_of(FieldType form) {
    switch (form) {
        case FieldType::Gpus: return "4.5";
        case FieldType::Cores: return "1.5";
        case FieldType::Memory: return "\"64G\"";
        case FieldType::Weight: return "0.25";
        case FieldType::Priority: return "-7";
        case FieldType::QuotaKind: return "\"fixed\"";
        case FieldType::ProjectName: return "\"research\"";
        case FieldType::PoolName: return "\"other\"";
        case FieldType::Time: return "\"1h30m\"";
        case FieldType::JobOrder: return "\"age\"";
        case FieldType::OrderTail: return "33";
        case FieldType::Pools:
            return R"({"other": {"quota": 2, "weight": 3}, "default": {"limit": 9}})";
        case FieldType::NodeLabels: return R"({"gpu": "h100", "zone": "a"})";
        case FieldType::Exchange: return R"({"H100": 1, "A100": 0.5})";
        case FieldType::Profile: return "\"classic\"";
        case FieldType::Levels: return R"(["zone", "rack"])";
        case FieldType::Settings: return R"({"min_runtime": "10m", "order.tail": "33"})";
        case FieldType::Namespaces: break;
    }
    return "[]";
}

// The fields that the state reader knows of the last entry of `list`, by its own words.
std::set<std::string> known_to_state_file(const std::string& entry) {
    const auto state = codec::parse_state(entry, "state");
    REQUIRE_FALSE(state);
    const std::string& words = state.error().message;
    const std::string mark = "known are ";
    REQUIRE_MESSAGE(words.find(mark) != std::string::npos, words);
    std::set<std::string> names;
    std::string name;
    for (const char c : words.substr(words.find(mark) + mark.size()) + " ") {
        if (std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_') {
            name += c;
        } else if (!name.empty()) {
            if (name != "or") names.insert(name);
            name.clear();
        }
    }
    return names;
}

template <typename Spec>
void add_names(std::set<std::string>& names, std::span<const SpecField<Spec>> fields) {
    for (const SpecField<Spec>& field : fields) names.insert(in_state_file(field.name));
}

model::Project project_in_state(const std::string& field) {
    const auto state = codec::parse_state(R"({"pools": [{"name": "other", "labels": {"a": "b"}}],
        "projects": [{"name": "research"}, {"name": "vision", )" +
                                              field + "}]}",
                                          "state");
    REQUIRE_MESSAGE(state, state.error().message);
    const auto found =
        std::ranges::find(state->projects, std::string("vision"), &model::Project::name);
    model::Project project = *found;
    project.order = base::to_ms(base::at_ms(1'772'366'400'000));  // of object_text()
    return project;
}

}  // namespace

TEST_CASE("a Project has the fields of a state file's project, and each means the same") {
    std::set<std::string> ours;
    add_names(ours, rights_fields());
    add_names(ours, project_fields());
    ours.erase("namespaces");
    std::set<std::string> theirs =
        known_to_state_file(R"({"projects": [{"name": "a", "qqqqqqqqqqqqqq": 1}]})");
    // Of the object itself, and of its status; and what is measured and shared by Berth's own
    // processes.
    for (const char* name : {"name", "created", "usage", "strict_shares", "idle_after", "idle_act"})
        CHECK(theirs.erase(name) == 1);
    CHECK(ours == theirs);

    const auto check_field = [](std::string_view name, FieldType form) {
        if (form == FieldType::Namespaces) return;
        CAPTURE(name);
        const std::string value = example_of(form);
        const DeclaredProject declared =
            project_of("{\"" + std::string(name) + "\": " + value + "}");
        CHECK(declared.problem.empty());
        CHECK(declared.project == project_in_state("\"" + in_state_file(name) + "\": " + value));
        CHECK(declared.project != project_in_state("\"quota\": 77"));
    };
    for (const auto& field : rights_fields()) check_field(field.name, field.form);
    for (const auto& field : project_fields()) check_field(field.name, field.form);
}

TEST_CASE("a Pool has the fields of a state file's pool, and each means the same") {
    std::set<std::string> ours;
    add_names(ours, pool_fields());
    std::set<std::string> theirs =
        known_to_state_file(R"({"pools": [{"name": "a", "qqqqqqqqqqqqqq": 1}]})");
    for (const char* name : {"name", "strict_shares"}) CHECK(theirs.erase(name) == 1);
    CHECK(ours == theirs);
    for (const auto& field : pool_fields()) {
        CAPTURE(field.name);
        const std::string value = example_of(field.form);
        const auto state = codec::parse_state(
            R"({"pools": [{"name": "other", "labels": {"a": "b"}}, {"name": "h100", ")" +
                in_state_file(field.name) + "\": " + value + "}]}",
            "state");
        REQUIRE_MESSAGE(state, state.error().message);
        const auto found = std::ranges::find(state->pools, std::string("h100"), &model::Pool::name);
        REQUIRE(found != state->pools.end());
        const DeclaredPool declared =
            pool_of("{\"" + std::string(field.name) + "\": " + value + "}");
        CHECK(declared.problem.empty());
        CHECK(declared.pool == *found);
    }
}

TEST_CASE("the Policy: profile, levels and settings, as a state file has them") {
    const DeclaredPolicy nothing = policy_of("{}");
    CHECK(nothing.profile == "berth");
    CHECK(nothing.levels == model::default_levels());
    CHECK(nothing.settings.empty());
    const DeclaredPolicy declared = policy_of(
        R"({"profile": "classic", "levels": ["zone", "rack"],
            "settings": {"min_runtime": "10m", "order.tail": "33", "grace": "0s"}})");
    CHECK(declared.problem.empty());
    const auto state = codec::parse_state(
        R"({"profile": "classic", "levels": ["zone", "rack"],
            "policy": {"min_runtime": "10m", "order.tail": "33", "grace": "0s"}})",
        "state");
    REQUIRE_MESSAGE(state, state.error().message);
    CHECK(declared.profile == state->profile);
    CHECK(declared.levels == state->levels);
    CHECK(declared.settings == state->policy);
    CHECK(policy_of(R"({"settings": {"min_run": "10m"}})").settings ==
          model::PolicyChanges{{"min_runtime", "10m"}});
}

TEST_CASE(
    "a Policy stored before one of its settings was dropped holds for the rest, and says so") {
    const DeclaredPolicy declared =
        policy_of(R"({"profile": "classic", "settings": {"tiers": "3", "min_runtime": "10m"}})");
    CHECK(declared.problem.empty());
    CHECK(declared.profile == "classic");
    CHECK(declared.settings == model::PolicyChanges{{"min_runtime", "10m"}});
    CHECK(declared.note.starts_with("spec.settings: setting \"tiers\" is gone: order=levels"));
    CHECK(policy_of(R"({"settings": {"min_runtime": "10m"}})").note.empty());
}

TEST_CASE("a Project's name, namespaces and generation are those of the object") {
    const DeclaredProject declared =
        project_of(R"({"namespaces": ["ml", "vision-dev"], "quota": -1, "future": {"a": [1]}})");
    CHECK(declared.problem.empty());
    CHECK(declared.project.name == "vision");
    CHECK(declared.project.rights.quota == model::kUnlimited);
    CHECK(declared.namespaces == std::vector<std::string>{"ml", "vision-dev"});
    CHECK(declared.generation == 3);
    CHECK(declared.meta.version == "7");
    const DeclaredProject bare = read_text(
        read_project,
        std::string(
            R"({"metadata": {"name": "a", "uid": "01234567-89ab-cdef-fedc-ba9876543210"}})"));
    CHECK(bare.project.name == "a");
    CHECK(bare.problem.empty());
}

TEST_CASE("rights in a pool fall back to those above them, wherever they stand") {
    const DeclaredProject declared =
        project_of(R"({"pools": {"h100": {"limit": 2}}, "quota": 4, "weight": 3, "priority": 5})");
    const model::Entitlement rights = model::rights_in(declared.project, "h100");
    CHECK_FALSE(rights.quota.has_value());
    CHECK(rights.limit == base::gpus(2));
    CHECK(rights.weight == 3000);
    CHECK(rights.priority == 5);
}

TEST_CASE("what is wrong is said with its field, and stops no list") {
    const std::map<std::string, std::string> projects{
        {R"({"quota": "many"})",
         "spec.quota: wanted a number of GPUs such as 4 or 0.5, or -1 for no bound, found "
         "\"many\""},
        {R"({"limit": -2})",
         "spec.limit: wanted a number of GPUs such as 4 or 0.5, or -1 for no bound, found -2"},
        {R"({"weight": 1.2345})", "spec.weight: wanted a weight such as 1 or 0.5, found 1.2345"},
        {R"({"priority": 1.5})",
         "spec.priority: wanted a whole number from -1000000 to 1000000, found 1.5"},
        {R"({"kind": "free"})", "spec.kind: wanted guaranteed or fixed, found \"free\""},
        {R"({"parent": 7})", "spec.parent: wanted a name, found 7"},
        {R"({"preemptionDelay": "soon"})",
         "spec.preemptionDelay: wanted a time such as 90s, 5m or 1h30m, found \"soon\""},
        {R"({"reclaimMinRun": "400d"})",
         "project \"vision\": reclaim_min_run: wanted 0s to 365d, found 400d"},
        {R"({"namespaces": ["ml", ["x"]], "quota": 1})",
         "spec.namespaces: wanted a name, found a list"},
        {R"({"pools": {"h100": {"quota": true}}})",
         "spec.pools.h100.quota: wanted a number of GPUs such as 4 or 0.5, or -1 for no bound, "
         "found true"},
        {R"({"cpuQuota": "many"})",
         "spec.cpuQuota: wanted a number of cores such as 64, or -1 for none, found \"many\""},
        {R"({"memoryQuota": "2G", "memoryLimit": "1G"})",
         "project \"vision\": memory_quota: wanted at most its limit, 1G, found 2G"},
        {R"({"pools": {"h100": 4}})", "spec.pools.h100: wanted a map of fields"},
    };
    for (const auto& [spec, problem] : projects) {
        CAPTURE(spec);
        const DeclaredProject declared = project_of(spec);
        CHECK(declared.problem == problem);
        CHECK(declared.project.name == "vision");
        CHECK_FALSE(declared.project.rights.quota.has_value());
    }
    CHECK(pool_of(R"({"nodeSelector": {"a": 1}})").problem ==
          "spec.nodeSelector: a: wanted a text, found 1");
    CHECK(policy_of(R"({"settings": {"consolidation_max_jobs": 3}})").problem ==
          "spec.settings: consolidation_max_jobs: wanted a text, in quotes, found 3");
    CHECK(policy_of(R"({"settings": {"movse": "3"}})")
              .problem.starts_with("spec.settings: unknown setting \"movse\""));
    CHECK(policy_of(R"({"levels": ["rack", "node"]})").problem.find("is there twice") !=
          std::string::npos);
}
