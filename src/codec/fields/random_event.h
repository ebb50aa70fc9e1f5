// SPDX-License-Identifier: Apache-2.0
//
// For tests: random events of every kind.
#pragma once

#include "codec/fields/random_model.h"

namespace berth::codec {

class RandomEvent : public RandomModel {
  public:
    using RandomModel::RandomModel;

    model::Event event(std::int64_t sequence) {
        model::Event event{sequence, time(), text(), {}};
        pick_body(event.body, rng_.index(std::variant_size_v<model::EventBody>));
        return event;
    }

  private:
    template <std::size_t Index = 0>
    void pick_body(model::EventBody& body, std::size_t index) {
        if constexpr (Index < std::variant_size_v<model::EventBody>) {
            if (index != Index) return pick_body<Index + 1>(body, index);
            fill(body.emplace<Index>());
        }
    }
    model::OrderRules rules() {
        return {static_cast<model::JobOrder>(rng_.index(3)), small(), small(), small(), small()};
    }
    void fill(model::LevelsSet& e) { e.levels = texts(); }
    void fill(model::PoolSet& e) { e.pool = {text(), labels(), {{text(), large()}}, text()}; }
    void fill(model::PoolRemoved& e) { e.pool = text(); }
    void fill(model::ProjectRemoved& e) { e.project = text(); }
    void fill(model::PolicySet& e) {
        e.settings[text()] = maybe(text());
        e.order = maybe(rules());
    }
    void fill(model::LogBegun& e) { e = {std::to_string(rng_.next()), job(), maybe(rules())}; }
    void fill(model::NodeMoved& e) { e = {text(), text(), text()}; }
    void fill(model::NodeSet& e) { e.node = node(); }
    void fill(model::NodeUsedByOthers& e) { e = {text(), others()}; }
    void fill(model::ProjectSet& e) { e.project = project(); }
    void fill(model::JobSubmitted& e) { e = {job(), spec(), text(), text(), text()}; }
    void fill(model::JobStarting& e) { e = {job(), small(), rule(), placements()}; }
    void fill(model::JobReserved& e) { e = {job(), rule(), time(), placements()}; }
    void fill(model::PauseRequested& e) {
        e = {job(), rule(), job(), cost(), time(), flag(), ranks(), flag()};
    }
    void fill(model::JobPaused& e) { e = {job(), flag()}; }
    void fill(model::CancelRequested& e) { e = {job(), time(), text()}; }
    void fill(model::JobFinished& e) { e = {job(), state(6), small(), text(), maybe(time())}; }
    void fill(model::AttemptLost& e) { e = {job(), text()}; }
    void fill(model::JobMeasured& e) { e = {job(), profile()}; }
    void fill(model::JobsParted& e) { e = {job(), job()}; }
    void fill(model::JobEscaped& e) { e = {job(), text()}; }
    void fill(model::JobSizeSet& e) { e = {job(), small(), ranks()}; }
    void fill(model::JobResized& e) { e = {job(), small(), flag(), large()}; }
    void fill(auto& e) { e.job = job(); }
};

}  // namespace berth::codec
