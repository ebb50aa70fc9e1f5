// SPDX-License-Identifier: Apache-2.0
//
// What is on the server, as far as we know? The objects of one resource, by uid, as the reflector's
// list and watch say. A handler gets each change: what was, what is now.
//
// Object: has `meta.uid` and `meta.version`, and can be copied; its uid has parse(text).
// Cost: of an object that is listed again as it was, a look at the first 200 bytes.
// Order: by uid. Of several that are gone with one list, the least uid is reported first.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/client/caches/shelf.h"

namespace berth::kube::client {

template <typename Object>
class Cache final : public Shelf {
  public:
    using Uid = decltype(Object{}.meta.uid);
    using Read = std::function<Object(codec::JsonReader&)>;
    // Null before: it is new. Null now: it is gone.
    using Changed = std::function<void(const Object* before, const Object* now)>;

    explicit Cache(Read read, Changed changed = nullptr)
        : read_(std::move(read)), changed_(std::move(changed)) {}

    const Object* find(const Uid& uid) const {
        const auto found = objects_.find(uid);
        return found != objects_.end() ? &found->second.object : nullptr;
    }
    std::size_t size() const { return objects_.size(); }
    template <typename Visit>
    void each(Visit visit) const {
        for (const auto& [uid, entry] : objects_) visit(entry.object);
    }

    void begin_list() override {
        ++list_;
        is_listing_ = true;
    }

    void end_list() override {
        is_listing_ = false;
        for (auto at = objects_.begin(); at != objects_.end();) {
            at = at->second.list == list_ ? std::next(at) : erase(at);
        }
        for (auto& [uid, entry] : objects_) {
            if (std::exchange(entry.is_reported, true) || !changed_) continue;
            changed_(nullptr, &entry.object);
        }
    }

    std::string put(codec::JsonReader& reader) override {
        if (is_listing_ && is_as_it_was(reader)) {
            reader.pass_over();
            return std::string{};
        }
        Object now = read_(reader);
        if (reader.is_failed()) return {};
        std::string version = now.meta.version;
        const auto [place, is_new] = objects_.try_emplace(now.meta.uid);
        Entry& entry = place->second;
        entry.list = list_;
        if (!is_new && entry.object.meta.version == version) return version;  // listed again
        const Object before = std::exchange(entry.object, std::move(now));
        if (is_listing_ && !entry.is_reported) return version;
        const bool was_reported = std::exchange(entry.is_reported, true);
        if (changed_) changed_(was_reported ? &before : nullptr, &entry.object);
        return version;
    }

    std::string remove(codec::JsonReader& reader) override {
        const Object last = read_(reader);
        if (reader.is_failed()) return {};
        const auto found = objects_.find(last.meta.uid);
        if (found != objects_.end()) erase(found);
        return last.meta.version;
    }

  private:
    struct Entry {
        Object object;
        std::uint64_t list = 0;  // the last one that it was in, or came after
        // What is new in a list is reported after what is gone, which may have had its name.
        bool is_reported = false;
    };
    using Objects = std::map<Uid, Entry>;

    // Most of a list is. The server writes uid and version first.
    bool is_as_it_was(codec::JsonReader reader) {
        std::optional<Uid> uid;
        std::string_view key;
        for (reader.begin_object(); reader.next_key(key) && key != "metadata";) reader.pass_over();
        if (key != "metadata") return false;
        for (reader.begin_object(); reader.next_key(key) && key != "resourceVersion";) {
            if (key == "uid") {
                uid = Uid::parse(reader.read_text());
            } else {
                reader.pass_over();
            }
        }
        if (!uid || key != "resourceVersion") return false;
        const auto found = objects_.find(*uid);
        if (found == objects_.end()) return false;
        if (reader.read_text() != found->second.object.meta.version) return false;
        found->second.list = list_;
        return true;
    }

    typename Objects::iterator erase(typename Objects::iterator at) {
        const Entry last = std::move(at->second);
        const auto next = objects_.erase(at);
        if (changed_ && last.is_reported) changed_(&last.object, nullptr);
        return next;
    }

    Read read_;
    Changed changed_;
    Objects objects_;
    std::uint64_t list_ = 0;
    bool is_listing_ = false;
};

}  // namespace berth::kube::client
