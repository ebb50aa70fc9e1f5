// SPDX-License-Identifier: Apache-2.0
#include "timeline/receipts.h"

namespace berth::timeline {

class ReceiptReading {
  public:
    ReceiptReading(Receipts& receipts, const model::Event& event)
        : receipts_(receipts), event_(event) {}

    // Of other things than pauses.
    void operator()(const auto&) {}

    void operator()(const model::JobStarting& starting) { receipts_.attempt_ = starting.attempt; }
    void operator()(const model::PauseRequested& request) {
        model::PastPause& pause = add();
        pause.rule = request.rule;
        pause.beneficiary = request.beneficiary;
        pause.cost = request.cost;
        pause.deadline = request.deadline;
        pause.is_wasteful = request.is_wasteful;
        pause.is_whole = request.whole_job;
        pause.tasks = static_cast<int>(request.tasks.size());
        pause.sides = request.sides;
        receipts_.is_leaving_ = true;
    }
    void operator()(const model::JobPaused& paused) {
        if (!receipts_.is_leaving_) return;
        stop(paused.saved, paused.saved ? 0 : newest().cost.unsaved_gpu_ms);
        newest().frozen = paused.frozen;
        newest().detail = paused.detail;
    }
    void operator()(const model::JobResized& resized) {
        receipts_.attempt_ = resized.attempt;
        if (receipts_.is_leaving_) stop(resized.saved, resized.lost_gpu_ms);
    }
    void operator()(const model::JobParked& parked) {
        model::PastPause& pause = add();
        pause.rule = model::Rule::Park;
        pause.deadline = event_.time;
        pause.frozen = parked.frozen;
        stop(true, 0);
    }
    // It ended before it had paused.
    void operator()(const model::JobFinished&) { receipts_.is_leaving_ = false; }
    void operator()(const model::AttemptLost&) { receipts_.is_leaving_ = false; }

  private:
    model::PastPause& newest() { return receipts_.pauses_.back(); }

    model::PastPause& add() {
        if (receipts_.pauses_.size() == kReceiptsMax) {
            receipts_.pauses_.pop_front();
            ++receipts_.left_out_;
        }
        model::PastPause& pause = receipts_.pauses_.emplace_back();
        pause.time = event_.time;
        pause.actor = event_.actor;
        pause.attempt = receipts_.attempt_;
        return pause;
    }
    void stop(bool saved, std::int64_t lost_gpu_ms) {
        newest().stopped = event_.time;
        newest().saved = saved;
        newest().lost_gpu_ms = lost_gpu_ms;
        receipts_.is_leaving_ = false;
    }

    Receipts& receipts_;
    const model::Event& event_;
};

void Receipts::read(const model::Event& event) {
    std::visit(ReceiptReading{*this, event}, event.body);
}

model::JobReceipts Receipts::receipts() const {
    return {{pauses_.rbegin(), pauses_.rend()}, left_out_};
}

}  // namespace berth::timeline
