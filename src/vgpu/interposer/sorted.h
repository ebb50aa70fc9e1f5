// SPDX-License-Identifier: Apache-2.0
//
// What does this process have, in the order of keys? One array of plain entries, without a C++
// runtime and without exceptions: where the C library has no memory, that is answered. A change
// moves the entries behind it, which is less than what the driver takes for one up to some ten
// thousand entries.
#pragma once

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace berth::vgpu::interposer {

template <class Key, class Value>
class Sorted {
  public:
    struct Entry {
        Key key;
        Value value;
    };
    static_assert(std::is_trivially_copyable_v<Entry>);

    Entry* begin() { return entries_; }
    Entry* end() { return entries_ + count_; }
    // The first whose key is not before this one.
    Entry* from(Key key) {
        return std::lower_bound(begin(), end(), key,
                                [](const Entry& entry, Key bound) { return entry.key < bound; });
    }
    // Valid until the next change; nullptr when it is not there.
    Value* find(Key key) {
        Entry* const at = from(key);
        return at != end() && at->key == key ? &at->value : nullptr;
    }
    // In place of what had the key; nullptr when there is no host memory for it.
    Value* put(Key key, const Value& value) {
        Entry* at = from(key);
        if (at == end() || at->key != key) {
            const std::ptrdiff_t index = at - begin();
            if (count_ == room_ && !grow()) return nullptr;
            at = begin() + index;
            std::copy_backward(at, end(), end() + 1);
            ++count_;
        }
        *at = {key, value};
        return &at->value;
    }
    void erase(Entry* first, Entry* last) {
        std::copy(last, end(), first);
        count_ -= static_cast<std::size_t>(last - first);
    }
    void erase(Key key) {
        Entry* const at = from(key);
        if (at != end() && at->key == key) erase(at, at + 1);
    }

  private:
    bool grow() {
        const std::size_t room = room_ == 0 ? 16 : room_ * 2;
        auto* entries = static_cast<Entry*>(::realloc(entries_, room * sizeof(Entry)));
        if (entries == nullptr) return false;
        entries_ = entries;
        room_ = room;
        return true;
    }

    Entry* entries_ = nullptr;  // never freed: such tables live as long as the process
    std::size_t count_ = 0;
    std::size_t room_ = 0;
};

}  // namespace berth::vgpu::interposer
