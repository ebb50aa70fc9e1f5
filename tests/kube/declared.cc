// SPDX-License-Identifier: Apache-2.0
//
// What are the Projects, Pools and Policies of a cluster for the core?
//   kube_declared            reads lists of them as the API server writes them, one a line, and
//                            prints a state file. What is wrong with one is a line on standard
//                            error, and the exit code is 1
//   kube_declared settings   prints the settings of both profiles as a Policy has them
#include "kube/objects/declared.h"

#include <cstdio>
#include <iostream>
#include <string>
#include <string_view>

#include "codec/files/state_writer.h"
#include "codec/text/json_writer.h"
#include "kube/objects/walk.h"
#include "model/policy/policy_settings.h"

namespace {

using namespace berth;
using namespace berth::kube::objects;

bool report(const Declared& declared) {
    if (declared.problem.empty()) return true;
    std::fprintf(stderr, "%s: %s\n", declared.meta.name.c_str(), declared.problem.c_str());
    return false;
}

bool read_item(codec::JsonReader& reader, const std::string& kind, MetaPools& pools,
               model::Description& state) {
    if (kind == "ProjectList") {
        const DeclaredProject declared = read_project(reader, pools);
        state.projects.push_back(declared.project);
        return report(declared);
    }
    if (kind == "PoolList") {
        const DeclaredPool declared = read_pool(reader, pools);
        state.pools.push_back(declared.pool);
        return report(declared);
    }
    const DeclaredPolicy declared = read_policy(reader, pools);
    state.profile = declared.profile;
    state.levels = declared.levels;
    state.policy = declared.settings;
    return report(declared);
}

// It stands behind the items.
std::string kind_of(codec::JsonReader reader) {
    std::string kind;
    each_field(reader, [&](std::string_view key) {
        if (key != "kind") return false;
        kind = reader.read_text();
        return true;
    });
    return kind;
}

void print_settings(const model::Policy& policy) {
    std::string text;
    codec::JsonWriter json(text);
    json.begin_object();
    for (const model::PolicySetting& setting : model::policy_settings()) {
        json.text_key(setting.name);
        json.string(setting.write(policy));
    }
    json.end_object();
    std::printf("%s\n", text.c_str());
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "settings") {
        print_settings(model::berth_policy());
        print_settings(model::classic_policy());
        return 0;
    }
    MetaPools pools;
    model::Description state;
    bool is_right = true;
    for (std::string line; std::getline(std::cin, line);) {
        codec::JsonReader reader(line);
        const std::string kind = kind_of(reader);
        each_field(reader, [&](std::string_view key) {
            if (key != "items") return false;
            each_item(reader,
                      [&] { is_right = read_item(reader, kind, pools, state) && is_right; });
            return true;
        });
        reader.finish();
        if (!reader.is_failed()) continue;
        std::fprintf(stderr, "%s\n", reader.error().c_str());
        return 2;
    }
    for (model::Project& project : state.projects) project.order = 0;  // when it was made
    std::printf("%s\n", codec::state_json(state).c_str());
    return is_right ? 0 : 1;
}
