// SPDX-License-Identifier: Apache-2.0
//
// What has this number? A map by ids that are given in rising order and never again: a page number
// and a position find an entry at once, and a page goes when the last of its entries has. It walks
// by id, and an entry keeps its address as long as it lives.
//
// Used as a std::map, but what a walk or find() points to is a pair made for the occasion, of an id
// and a reference. Cost: find, insert and erase O(1); a walk O(entries and pages of ids ever
// given).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::base {

template <typename Id, typename T>
class PagedMap {
    // `Value` is T or const T.
    template <typename Map, typename Value>
    class Walk {
        struct Arrow {
            std::pair<Id, Value&> entry;
            const std::pair<Id, Value&>* operator->() const { return &entry; }
        };

      public:
        using value_type = std::pair<Id, Value&>;
        using difference_type = std::ptrdiff_t;

        Walk() = default;
        Walk(Map& map, std::size_t at) : map_(&map), at_(at) { settle(); }
        value_type operator*() const {
            return {Id{static_cast<typename Id::Rep>(at_)}, *map_->at_position(at_)};
        }
        Arrow operator->() const { return {**this}; }
        Walk& operator++() {
            ++at_;
            settle();
            return *this;
        }
        Walk operator++(int) {
            const Walk before = *this;
            ++*this;
            return before;
        }
        bool operator==(const Walk&) const = default;

      private:
        void settle() {  // moves on to the next entry there is
            const std::size_t end = map_->positions();
            while (at_ < end && map_->at_position(at_) == nullptr) {
                at_ = map_->pages_[at_ / kPageSize] ? at_ + 1 : (at_ / kPageSize + 1) * kPageSize;
            }
        }

        Map* map_ = nullptr;
        std::size_t at_ = 0;
    };

  public:
    using iterator = Walk<PagedMap, T>;
    using const_iterator = Walk<const PagedMap, const T>;

    PagedMap() = default;
    // Copies every entry.
    PagedMap(const PagedMap& other) {
        for (const auto& [id, value] : other) emplace(id, value);
    }
    PagedMap& operator=(const PagedMap& other) { return *this = PagedMap(other); }
    PagedMap(PagedMap&&) = default;
    PagedMap& operator=(PagedMap&&) = default;

    iterator begin() { return {*this, 0}; }
    iterator end() { return {*this, positions()}; }
    const_iterator begin() const { return {*this, 0}; }
    const_iterator end() const { return {*this, positions()}; }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

    iterator find(Id id) { return {*this, has(id) ? id.index() : positions()}; }
    const_iterator find(Id id) const { return {*this, has(id) ? id.index() : positions()}; }
    // The first one behind the id.
    const_iterator upper_bound(Id id) const {
        return {*this, std::min(id.index() + 1, positions())};
    }
    // Null when there is none.
    T* get(Id id) { return has(id) ? at_position(id.index()) : nullptr; }
    const T* get(Id id) const { return has(id) ? at_position(id.index()) : nullptr; }
    // There is one.
    T& at(Id id) { return checked(get(id)); }
    const T& at(Id id) const { return checked(get(id)); }

    // The id was never used before.
    T& emplace(Id id, T value) {
        const std::size_t page = id.index() / kPageSize;
        if (page >= pages_.size()) pages_.resize(page + 1);
        if (!pages_[page]) pages_[page] = std::make_unique<Page>();
        std::unique_ptr<T>& place = pages_[page]->entries[id.index() % kPageSize];
        BERTH_CHECK(place == nullptr, "an id is used once");
        place = std::make_unique<T>(std::move(value));
        ++pages_[page]->count;
        ++size_;
        return *place;
    }
    // There is one.
    void erase(Id id) {
        BERTH_CHECK(has(id), "the id is known");
        std::unique_ptr<Page>& page = pages_[id.index() / kPageSize];
        page->entries[id.index() % kPageSize].reset();
        --size_;
        if (--page->count == 0) page.reset();
    }

  private:
    static constexpr std::size_t kPageSize = 512;
    struct Page {
        std::array<std::unique_ptr<T>, kPageSize> entries;
        std::size_t count = 0;
    };

    std::size_t positions() const { return pages_.size() * kPageSize; }
    T* at_position(std::size_t at) const {
        const Page* page = pages_[at / kPageSize].get();
        return page == nullptr ? nullptr : page->entries[at % kPageSize].get();
    }
    bool has(Id id) const {
        return id.is_valid() && id.index() < positions() && at_position(id.index()) != nullptr;
    }
    template <typename Value>
    static Value& checked(Value* value) {
        BERTH_CHECK(value != nullptr, "the id is known");
        return *value;
    }

    std::vector<std::unique_ptr<Page>> pages_;
    std::size_t size_ = 0;
};

}  // namespace berth::base
