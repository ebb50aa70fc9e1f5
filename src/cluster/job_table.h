// SPDX-License-Identifier: Apache-2.0
//
// Which job is this? Jobs by id: ids are given in order and never again, so a page number and a
// position find one at once, and a page goes when the last of its jobs has. A job keeps its
// address as long as it lives.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "cluster/state.h"

namespace berth::cluster {

class JobTable {
  public:
    // Walks over (id, job) by id.
    class Iterator {
      public:
        using value_type = std::pair<JobId, const Job&>;
        using difference_type = std::ptrdiff_t;

        Iterator() = default;
        Iterator(const JobTable& table, std::size_t at) : table_(&table), at_(at) { settle(); }
        value_type operator*() const;
        Iterator& operator++();
        Iterator operator++(int) { return std::exchange(*this, std::next(*this)); }
        bool operator==(const Iterator&) const = default;

      private:
        void settle();  // moves on to the next job there is

        const JobTable* table_ = nullptr;
        std::size_t at_ = 0;
    };

    JobTable() = default;
    // Copies every job: for tests that try two futures of one cluster.
    JobTable(const JobTable& other) {
        for (const auto& [id, job] : other) insert(job);
    }
    JobTable& operator=(const JobTable& other) { return *this = JobTable(other); }
    JobTable(JobTable&&) = default;
    JobTable& operator=(JobTable&&) = default;

    // Null when there is none.
    Job* find(JobId id) const {
        const std::size_t page = id.index() / kPageSize;
        if (!id.is_valid() || page >= pages_.size() || !pages_[page]) return nullptr;
        return pages_[page]->jobs[id.index() % kPageSize].get();
    }
    Job& insert(Job job);
    void erase(JobId id);

    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    Iterator begin() const { return {*this, 0}; }
    Iterator end() const { return {*this, pages_.size() * kPageSize}; }

  private:
    static constexpr std::size_t kPageSize = 512;
    struct Page {
        std::array<std::unique_ptr<Job>, kPageSize> jobs;
        std::size_t count = 0;
    };

    std::vector<std::unique_ptr<Page>> pages_;
    std::size_t size_ = 0;
};

}  // namespace berth::cluster
