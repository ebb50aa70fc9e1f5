// SPDX-License-Identifier: Apache-2.0
#include "kube/objects/meta.h"

#include <algorithm>
#include <charconv>

#include "codec/words/timestamp.h"
#include "kube/objects/walk.h"

namespace berth::kube::objects {
namespace {

constexpr std::array<std::string_view, 9> kKeptAnnotations{
    "berth.dev/",
    "gpu-",
    "kai.scheduler/",
    "kueue.x-k8s.io/",
    "pod-group-name",
    "scheduling.k8s.io/group-",
    "scheduling.volcano.sh/",
    "cluster-autoscaler.kubernetes.io/safe-to-evict",
    "karpenter.sh/do-not-disrupt"};

bool is_kept(std::string_view annotation) {
    return std::ranges::any_of(
        kKeptAnnotations, [&](std::string_view prefix) { return annotation.starts_with(prefix); });
}

int nibble(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool is_dash(std::size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

Labels read_annotations(codec::JsonReader& reader, MetaPools& pools) {
    Labels labels;
    each_field(reader, [&](std::string_view key) {
        if (!is_kept(key)) return false;
        Label& label = labels.emplace_back();
        label.key = pools.words.keep(key);
        label.value = read_word(reader, pools);
        return true;
    });
    return labels;
}

bool is_index(std::string_view label) {
    return label == "batch.kubernetes.io/job-completion-index" ||
           label == "apps.kubernetes.io/pod-index";
}

std::int32_t read_index(codec::JsonReader& reader) {
    const std::string_view text = reader.read_text();
    std::int32_t index = -1;
    std::from_chars(text.data(), text.data() + text.size(), index);
    return index;
}

Labels read_labels(codec::JsonReader& reader, MetaPools& pools, std::int32_t& index) {
    Labels labels;
    each_field(reader, [&](std::string_view key) {
        if (is_index(key)) return read_into(index, read_index(reader));
        if (!is_kept_label(key)) return false;
        Label& label = labels.emplace_back();
        label.key = pools.words.keep(key);
        label.value = read_word(reader, pools);
        return true;
    });
    return labels;
}

Interned<Labels> kept(Labels labels, MetaPools& pools) {
    if (labels.empty()) return {};
    return pools.labels.keep(std::move(labels));
}

Interned<Owner> read_controller(codec::JsonReader& reader, MetaPools& pools) {
    Interned<Owner> controller;
    each_item(reader, [&] {
        Owner owner;
        bool is_controller = false;
        each_field(reader, [&](std::string_view key) {
            if (key == "apiVersion") return read_into(owner.api_version, read_word(reader, pools));
            if (key == "kind") return read_into(owner.kind, read_word(reader, pools));
            if (key == "name") return read_into(owner.name, reader.read_text());
            if (key == "uid") {
                owner.uid = Uid::parse(reader.read_text()).value_or(Uid{});
                return true;
            }
            if (key == "controller") return read_into(is_controller, reader.read_bool());
            return false;
        });
        if (is_controller) controller = pools.owners.keep(std::move(owner));
    });
    return controller;
}

}  // namespace

std::optional<Uid> Uid::parse(std::string_view text) {
    if (text.size() != 36) return std::nullopt;
    Uid uid;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_dash(at)) {
            if (text[at] != '-') return std::nullopt;
            continue;
        }
        const int digit = nibble(text[at]);
        if (digit < 0) return std::nullopt;
        std::uint64_t& half = at < 19 ? uid.high : uid.low;
        half = half << 4 | static_cast<unsigned>(digit);
    }
    return uid;
}

std::string format(Uid uid) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text(36, '-');
    int shift = 60;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (is_dash(at)) continue;
        text[at] = kDigits[(at < 19 ? uid.high : uid.low) >> shift & 15];
        shift = shift == 0 ? 60 : shift - 4;
    }
    return text;
}

std::size_t hash_of(const Labels& labels) {
    std::size_t hash = labels.size();
    for (const Label& label : labels) {
        hash = hash * 31 + std::hash<const void*>{}(label.key.identity());
        hash = hash * 31 + std::hash<const void*>{}(label.value.identity());
    }
    return hash;
}

const std::string* find(const Labels& labels, std::string_view key) {
    for (const Label& label : labels) {
        if (*label.key == key) return &*label.value;
    }
    return nullptr;
}

bool is_kept_label(std::string_view key) {
    return !is_index(key) && key != "statefulset.kubernetes.io/pod-name";
}

Interned<Labels> read_labels(codec::JsonReader& reader, MetaPools& pools) {
    std::int32_t no_index = -1;
    return kept(read_labels(reader, pools, no_index), pools);
}

Word read_word(codec::JsonReader& reader, MetaPools& pools) {
    const std::string_view text = reader.read_text();
    return text.empty() ? Word{} : pools.words.keep(text);
}

std::optional<base::TimePoint> read_time(codec::JsonReader& reader) {
    const auto time = codec::parse_time(reader.read_text());
    if (!time) {
        reader.fail("wanted a time");
        return std::nullopt;
    }
    return *time;
}

Meta read_meta(codec::JsonReader& reader, MetaPools& pools) {
    Meta meta;
    each_field(reader, [&](std::string_view key) {
        if (key == "name") return read_into(meta.name, reader.read_text());
        if (key == "namespace") return read_into(meta.name_space, read_word(reader, pools));
        if (key == "uid") {
            meta.uid = Uid::parse(reader.read_text()).value_or(Uid{});
            return true;
        }
        if (key == "resourceVersion") return read_into(meta.version, reader.read_text());
        if (key == "creationTimestamp") return read_into(meta.created, read_time(reader));
        if (key == "deletionTimestamp") return read_into(meta.deletion, read_time(reader));
        if (key == "labels") {
            meta.labels = kept(read_labels(reader, pools, meta.index), pools);
            return true;
        }
        if (key == "annotations") {
            meta.annotations = kept(read_annotations(reader, pools), pools);
            return true;
        }
        if (key == "ownerReferences") return read_into(meta.owner, read_controller(reader, pools));
        return false;
    });
    if (!meta.uid || meta.name.empty()) reader.fail("wanted an object with a name and a uid");
    return meta;
}

Meta read_object_meta(codec::JsonReader& reader, MetaPools& pools) {
    Meta meta;
    each_field(reader, [&](std::string_view key) {
        if (key == "metadata") return read_into(meta, read_meta(reader, pools));
        return false;
    });
    if (!meta.uid) reader.fail("wanted an object with metadata");
    return meta;
}

}  // namespace berth::kube::objects
