// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/node.h"

#include <utility>

#include "kube/objects/amounts_reader.h"
#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

void read_taint(codec::JsonReader& reader, MetaPools& pools, Node& node) {
    Taint& taint = node.taints.emplace_back();
    each_field(reader, [&](std::string_view key) {
        if (key == "key") return read_into(taint.key, read_word(reader, pools));
        if (key == "value") return read_into(taint.value, read_word(reader, pools));
        if (key == "effect") return read_into(taint.effect, read_word(reader, pools));
        return false;
    });
}

void read_node_spec(codec::JsonReader& reader, MetaPools& pools, Node& node) {
    each_field(reader, [&](std::string_view key) {
        if (key == "unschedulable") return read_into(node.is_unschedulable, reader.read_bool());
        if (key == "taints") {
            each_item(reader, [&] { read_taint(reader, pools, node); });
            return true;
        }
        return false;
    });
}

void read_ready(codec::JsonReader& reader, Node& node) {
    bool is_about_ready = false;
    bool is_true = false;
    std::optional<base::TimePoint> since;
    each_field(reader, [&](std::string_view key) {
        if (key == "type") return read_into(is_about_ready, reader.read_text() == "Ready");
        if (key == "status") return read_into(is_true, reader.read_text() == "True");
        if (key == "lastTransitionTime") return read_into(since, read_time(reader));
        return false;
    });
    if (!is_about_ready) return;
    node.is_ready = is_true;
    node.ready_since = since;
}

void read_node_status(codec::JsonReader& reader, NodePools& pools, Node& node) {
    each_field(reader, [&](std::string_view key) {
        if (key == "allocatable") {
            node.allocatable = pools.amounts.keep(read_amounts(reader, pools.meta));
            return true;
        }
        if (key == "conditions") {
            each_item(reader, [&] { read_ready(reader, node); });
            return true;
        }
        return false;
    });
}

}  // namespace

Node read_node(codec::JsonReader& reader, NodePools& pools) {
    Node node;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return read_into(node.meta, read_meta(reader, pools.meta));
        if (key == "spec") {
            read_node_spec(reader, pools.meta, node);
            return true;
        }
        if (key == "status") {
            read_node_status(reader, pools, node);
            return true;
        }
        return false;
    });
    if (!node.meta.uid) reader.fail("wanted a node with metadata");
    return node;
}

}  // namespace berth::kube::objects
