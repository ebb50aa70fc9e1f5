// SPDX-License-Identifier: Apache-2.0
#include "cluster/job_table.h"

#include "base/check.h"

namespace berth::cluster {

Job& JobTable::insert(Job job) {
    const std::size_t page = job.id.index() / kPageSize;
    const std::size_t position = job.id.index() % kPageSize;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (!pages_[page]) pages_[page] = std::make_unique<Page>();
    std::unique_ptr<Job>& place = pages_[page]->jobs[position];
    BERTH_CHECK(place == nullptr, "a job id is used once");
    place = std::make_unique<Job>(std::move(job));
    ++pages_[page]->count;
    ++size_;
    return *place;
}

void JobTable::erase(JobId id) {
    BERTH_CHECK(find(id) != nullptr, "the job is known");
    std::unique_ptr<Page>& page = pages_[id.index() / kPageSize];
    page->jobs[id.index() % kPageSize].reset();
    --size_;
    if (--page->count == 0) page.reset();
}

JobTable::Iterator::value_type JobTable::Iterator::operator*() const {
    const Job& job = *table_->pages_[at_ / kPageSize]->jobs[at_ % kPageSize];
    return {job.id, job};
}

JobTable::Iterator& JobTable::Iterator::operator++() {
    ++at_;
    settle();
    return *this;
}

void JobTable::Iterator::settle() {
    const std::size_t end = table_->pages_.size() * kPageSize;
    while (at_ < end) {
        const Page* page = table_->pages_[at_ / kPageSize].get();
        if (page == nullptr) {
            at_ = (at_ / kPageSize + 1) * kPageSize;
        } else if (page->jobs[at_ % kPageSize] == nullptr) {
            ++at_;
        } else {
            return;
        }
    }
}

}  // namespace berth::cluster
