// SPDX-License-Identifier: Apache-2.0
//
// How do 10,000 pods fit in a few megabytes? What many of them say alike (names of namespaces,
// labels, requests) is kept once.
//
// An Interned<T> is a value that never changes; two of one pool are equal when they are the same
// entry. An entry goes with its last user, so a pool holds what is in use and no more. An empty
// Interned reads as T{} and costs nothing. For one thread.
// Trusts: the pool outlives what it gave out (checked).
// Needs: std::size_t hash_of(const T&), found beside T; operator== of T.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/check.h"

namespace berth::kube::objects {

template <typename T>
class Pool;

template <typename T>
class Interned {
  public:
    Interned() = default;
    Interned(const Interned& other) : entry_(other.entry_) {
        if (entry_ != nullptr) ++entry_->uses;
    }
    Interned(Interned&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    Interned& operator=(Interned other) noexcept {
        std::swap(entry_, other.entry_);
        return *this;
    }
    ~Interned() {
        if (entry_ != nullptr && --entry_->uses == 0) entry_->pool->forget(entry_);
    }

    const T& operator*() const {
        static const T kNothing{};
        return entry_ != nullptr ? entry_->value : kNothing;
    }
    const T* operator->() const { return &**this; }
    bool operator==(const Interned& other) const { return entry_ == other.entry_; }
    explicit operator bool() const { return entry_ != nullptr; }
    // The same for equal values of one pool, while one of them lives.
    const void* identity() const { return entry_; }

  private:
    friend class Pool<T>;
    struct Entry {
        T value;
        Pool<T>* pool;
        std::size_t hash;
        std::size_t uses;
    };
    explicit Interned(Entry* entry) : entry_(entry) { ++entry->uses; }

    Entry* entry_ = nullptr;
};

// Of words the pool can be asked by text, without a string being made.
inline std::size_t hash_of(std::string_view word) { return std::hash<std::string_view>{}(word); }

template <typename T>
class Pool {
  public:
    Pool() = default;
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;
    ~Pool() { BERTH_CHECK(entries_.empty(), "what a pool gave out is gone before it"); }  // ours:

    // `value` is a T, or for words any text.
    template <typename Value>
    Interned<T> keep(Value&& value) {
        const Asked<Value> asked{value, hash_of(value)};
        if (const auto found = entries_.find(asked); found != entries_.end()) {
            return Interned<T>(*found);
        }
        auto* made = new Entry{T(std::forward<Value>(value)), this, asked.hash, 0};
        entries_.insert(made);
        return Interned<T>(made);
    }
    std::size_t size() const { return entries_.size(); }

  private:
    friend class Interned<T>;
    using Entry = typename Interned<T>::Entry;
    template <typename Value>
    struct Asked {
        const Value& value;
        std::size_t hash;
    };
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(const Entry* entry) const { return entry->hash; }
        template <typename Value>
        std::size_t operator()(const Asked<Value>& asked) const {
            return asked.hash;
        }
    };
    struct Equal {
        using is_transparent = void;
        bool operator()(const Entry* left, const Entry* right) const { return left == right; }
        template <typename Value>
        bool operator()(const Asked<Value>& asked, const Entry* entry) const {
            return asked.hash == entry->hash && entry->value == asked.value;
        }
        template <typename Value>
        bool operator()(const Entry* entry, const Asked<Value>& asked) const {
            return (*this)(asked, entry);
        }
    };

    void forget(Entry* entry) {
        entries_.erase(entry);
        delete entry;
    }

    std::unordered_set<Entry*, Hash, Equal> entries_;
};

using Word = Interned<std::string>;

}  // namespace berth::kube::objects
