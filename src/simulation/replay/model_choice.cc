// SPDX-License-Identifier: Apache-2.0
#include "simulation/replay/model_choice.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "simulation/replay/heads.h"
#include "simulation/replay/room.h"

namespace berth::simulation {
namespace {

using reference::JobIndex;
using reference::Order;
using Model = std::size_t;

// A job and what it holds in the end.
struct Given {
    JobIndex job;
    Ask ask;
    const GpuList* had = nullptr;  // null: it waited
    bool stands = false;
    Model model = 0;
    GpuList gpus{};  // by Count numbered only after the pass
    bool is_spread = false;
};

// Who stands on which model: one pass in order of rank.
class Pass {
  public:
    Pass(const Queues& queues, std::vector<Holder> running, Order::OrderTraits traits,
         const Mixes& mixes, ModelChoice::Rule rule, FreeGpus& free)
        : heads_(queues),
          running_(std::move(running)),
          traits_(traits),
          mixes_(mixes),
          rule_(rule),
          free_(free),
          by_count_(free.placement() == Placement::Count),
          room_(free) {
        std::ranges::sort(running_, {}, &Holder::who);
        for (const NodesAlike& alike : free.machines().models()) {
            models_.push_back({.left = alike.gpus()});
        }
        for (const Holder& holder : running_)
            models_[model_of(holder)].turns.push_back(holder.gpus);
    }

    std::vector<Given> make() {
        auto next = running_.begin();
        while (next != running_.end() || !heads_.is_empty()) {
            if (heads_.is_empty() || (next != running_.end() && is_before_heads(*next))) {
                keep_or_pause(*next++);
                continue;
            }
            Given one{heads_.first().job, heads_.ask()};
            place(one);
            if (one.stands) {
                given_.push_back(std::move(one));
                heads_.served();
            } else {
                do heads_.passed_over();
                while (traits_.first_blocks && !heads_.is_empty());
            }
        }
        for (Given& one : given_) {
            if (!one.stands || is_kept(one)) continue;
            if (by_count_)
                one.gpus = free_.take(one.ask.gpus, one.ask.stand, one.model);
            else
                free_.take_these(one.gpus);
        }
        return std::move(given_);
    }

  private:
    struct State {
        std::int32_t left = 0;  // GPUs that no job has taken in this pass
        std::vector<const GpuList*> turns{};  // of running jobs, in order of rank
        std::size_t turns_over = 0;
    };

    Model model_of(const Holder& holder) const {
        return free_.machines().model_of(holder.gpus->front());
    }
    bool is_before_heads(const Holder& holder) const {
        return !traits_.pauses || holder.who < heads_.first();
    }
    static bool is_kept(const Given& one) { return one.had && *one.had == one.gpus; }

    void keep_or_pause(const Holder& holder) {
        const Model model = model_of(holder);
        ++models_[model].turns_over;
        Given one{holder.who.job, *holder.ask, holder.gpus};
        if (by_count_ ? one.ask.gpus <= models_[model].left : room_.is_open(*holder.gpus)) {
            stand(one, model, *holder.gpus);
        } else {
            free_.give_back(*holder.gpus);
            place(one);
        }
        given_.push_back(std::move(one));
    }

    void place(Given& one) {
        for (const Model model : by_preference(one.ask)) {
            GpuList gpus;
            if (!by_count_) {
                const State& state = models_[model];
                gpus = room_.take(
                    one.ask.gpus, one.ask.stand,
                    [&](std::size_t at) {
                        const bool is_behind = at < state.turns.size() - state.turns_over;
                        return is_behind ? state.turns[state.turns.size() - 1 - at] : nullptr;
                    },
                    model);
                if (gpus.empty()) continue;
            }
            return stand(one, model, std::move(gpus));
        }
    }

    void stand(Given& one, Model model, GpuList gpus) {
        one.stands = true;
        one.model = model;
        one.gpus = std::move(gpus);
        models_[model].left -= one.ask.gpus;
    }

    // Those that may have room for it, the best first.
    std::vector<Model> by_preference(const Ask& ask) const {
        std::vector<Model> models(models_.size());
        std::iota(models.begin(), models.end(), Model{0});
        std::erase_if(models, [&](Model model) {
            return models_[model].left < ask.gpus || mixes_.alone(ask.kind, model, false) == 0;
        });
        std::ranges::stable_sort(models, std::greater<>(), [&](Model model) -> std::int64_t {
            return rule_ == ModelChoice::Rule::Any ? models_[model].left
                                                   : mixes_.alone(ask.kind, model, false);
        });
        return models;
    }

    Heads heads_;
    std::vector<Holder> running_;
    Order::OrderTraits traits_;
    const Mixes& mixes_;
    ModelChoice::Rule rule_;
    FreeGpus& free_;
    bool by_count_;
    Room room_;
    std::vector<State> models_;
    std::vector<Given> given_;
};

// Who changes places then.
class Swaps {
  public:
    Swaps(std::vector<Given>& given, const Mixes& mixes, std::int32_t gain_percent, FreeGpus& free)
        : mixes_(mixes), factor_(1 + gain_percent / 100.0), free_(free) {
        for (Given& one : given) {
            if (!one.stands) continue;
            one.is_spread = is_spread(one.gpus, free.machines());
            by_width_[one.ask.gpus].push_back(&one);
            in_order_.push_back(&one);
        }
    }

    void make() {
        for (Given* one : in_order_) swap_with_best(*one);
        for (Given* one : in_order_) move_where_idle(*one);
    }

  private:
    // On the GPUs of `place`, as part of its speed where it is fastest; 0: it cannot run there.
    double part(const Given& one, const Given& place) const {
        return speed(one.ask, place.model, place.is_spread) / fastest(one.ask);
    }
    double speed(const Ask& ask, Model model, bool is_spread) const {
        return static_cast<double>(mixes_.alone(ask.kind, model, is_spread));
    }
    double fastest(const Ask& ask) const {
        double best = 0;
        for (Model model = 0; model < free_.machines().models().size(); ++model) {
            best = std::max(best, speed(ask, model, false));
        }
        return best;
    }

    void swap_with_best(Given& one) {
        Given* best = nullptr;
        double best_gain = factor_;
        for (Given* other : by_width_[one.ask.gpus]) {
            if (other->ask.kind == one.ask.kind) continue;
            const double here = part(one, *other);
            const double there = part(*other, one);
            if (here == 0 || there == 0) continue;
            const double gain = (here + there) / (part(one, one) + part(*other, *other));
            if (gain <= best_gain) continue;
            best = other;
            best_gain = gain;
        }
        if (!best) return;
        std::swap(one.gpus, best->gpus);
        std::swap(one.model, best->model);
        std::swap(one.is_spread, best->is_spread);
    }

    void move_where_idle(Given& one) {
        Model best = one.model;
        double best_speed = factor_ * speed(one.ask, one.model, one.is_spread);
        for (Model model = 0; model < free_.machines().models().size(); ++model) {
            if (speed(one.ask, model, false) <= best_speed) continue;
            if (free_.count_of(model) < one.ask.gpus) continue;
            best = model;
            best_speed = speed(one.ask, model, false);
        }
        if (best == one.model) return;
        GpuList gpus = free_.take(one.ask.gpus, one.ask.stand, best);
        if (gpus.empty()) return;
        free_.give_back(one.gpus);
        one.gpus = std::move(gpus);
        one.model = best;
    }

    const Mixes& mixes_;
    double factor_;
    FreeGpus& free_;
    std::vector<Given*> in_order_;
    std::map<std::int32_t, std::vector<Given*>> by_width_;
};

}  // namespace

HandOut choose_models(const Queues& queues, std::vector<Holder> running, Order::OrderTraits traits,
                      const Mixes& mixes, ModelChoice choice, FreeGpus& free) {
    std::vector<Given> given =
        Pass(queues, std::move(running), traits, mixes, choice.rule, free).make();
    if (choice.rule == ModelChoice::Rule::Swap) {
        Swaps(given, mixes, choice.gain_percent, free).make();
    }
    HandOut result;
    for (Given& one : given) {
        if (one.stands && one.had && *one.had == one.gpus) continue;
        if (one.had) result.paused.push_back(one.job);
        if (one.stands) result.started.push_back({one.job, one.ask, std::move(one.gpus)});
    }
    return result;
}

}  // namespace berth::simulation
