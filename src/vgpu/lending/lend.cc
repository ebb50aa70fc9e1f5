// SPDX-License-Identifier: Apache-2.0
#include "vgpu/lending/lend.h"

#include <algorithm>
#include <utility>

namespace berth::vgpu::lending {
namespace {

using Amount = std::int64_t;

Amount amount(std::uint64_t bytes) {
    constexpr std::uint64_t kMax = std::uint64_t{1} << 53;  // no sum of all tenants overflows
    return static_cast<Amount>(std::min(bytes, kMax));
}

std::uint64_t bytes(Amount amount) {
    return static_cast<std::uint64_t>(std::max<Amount>(amount, 0));
}

bool is_off(const Tenant& tenant) {
    return tenant.where == Where::off || tenant.where == Where::away;
}

Amount held(const Tenant& tenant) {
    return is_off(tenant) ? 0 : amount(std::max(tenant.limit, tenant.charged));
}

// What it is to have when it has what it waits for; 0 when it waits for nothing.
Amount target(const Tenant& tenant) {
    if (tenant.where == Where::off) return amount(tenant.charged);
    if (tenant.where != Where::here || tenant.asked == 0) return 0;
    return amount(tenant.charged) + amount(tenant.asked);
}

bool is_within_request(const Tenant& tenant) { return target(tenant) <= amount(tenant.request); }

bool has_rested(const Tenant& tenant, std::int64_t now) {
    const int doublings = std::clamp(tenant.times - 1, 0, 6);
    return now - tenant.since >= std::min(kRest << doublings, kRestMax);
}

class Lending {
  public:
    Lending(std::uint64_t memory, const std::vector<Tenant>& tenants)
        : tenants_(tenants), free_(amount(memory)) {
        for (const Tenant& tenant : tenants) {
            decisions_.of.push_back({tenant.limit, tenant.where, false});
            free_ -= held(tenant);
            if (tenant.where != Where::leaving) continue;
            coming_ += amount(tenant.charged);
            // It may be ending, process by process.
            decisions_.of.back().limit = std::min(tenant.limit, tenant.charged);
            decisions_.again |= tenant.charged < tenant.limit;
        }
        if (free_ < 0) free_ += take_unused(-free_);
    }

    void serve_owners() {
        for (std::size_t i = 0; i < tenants_.size(); ++i) {
            if (target(tenants_[i]) == 0 || !is_within_request(tenants_[i])) continue;
            if (const Amount missing = serve(i); missing > 0) order_off(missing);
        }
    }

    // By who left first; what does not fit lets smaller ones go before.
    void bring_back(std::int64_t now) {
        std::vector<std::size_t> waiting;
        for (std::size_t i = 0; i < tenants_.size(); ++i)
            if (tenants_[i].where == Where::off && !is_within_request(tenants_[i]) &&
                has_rested(tenants_[i], now))
                waiting.push_back(i);
        std::ranges::sort(waiting, {},
                          [this](std::size_t i) { return std::pair(tenants_[i].since, i); });
        bool is_first = true;
        for (const std::size_t i : waiting) {
            if (target(tenants_[i]) <= std::max<Amount>(free_, 0) + unused())
                serve(i);
            else if (std::exchange(is_first, false))
                end_turns_for(i, now);
        }
    }

    void serve_borrowers() {
        const bool is_any_off = std::ranges::any_of(
            tenants_, [](const Tenant& tenant) { return tenant.where == Where::off; });
        for (std::size_t i = 0; i < tenants_.size(); ++i) {
            const Tenant& tenant = tenants_[i];
            if (tenant.where != Where::here || is_within_request(tenant)) continue;
            const Amount more = target(tenant) - amount(tenant.limit);
            const bool can_be = target(tenant) <= amount(tenant.burst) &&
                                more <= std::max<Amount>(free_, 0) + unused();
            if (more <= 0 || (can_be && !is_any_off))
                serve(i);
            else
                decisions_.of[i].is_final = true;
        }
    }

    // Who is within its request should not have to ask.
    void give_back_rights() {
        for (std::size_t i = 0; i < tenants_.size() && free_ > 0; ++i) {
            const Tenant& tenant = tenants_[i];
            Decision& decision = decisions_.of[i];
            if (tenant.where != Where::here || decision.limit >= tenant.request) continue;
            const Amount more = std::min(amount(tenant.request) - amount(decision.limit), free_);
            decision.limit += bytes(more);
            free_ -= more;
        }
    }

    Decisions take() { return std::move(decisions_); }

  private:
    // Of what it has, unused and not to be used at once. `kept`: that is left to it at least.
    Amount unused_of(std::size_t i, std::uint64_t kept) const {
        const Tenant& tenant = tenants_[i];
        if (tenant.where != Where::here || tenant.asked > 0) return 0;
        return std::max<Amount>(
            0, amount(decisions_.of[i].limit) - amount(std::max(tenant.charged, kept)));
    }

    Amount unused() const {
        Amount sum = 0;
        for (std::size_t i = 0; i < tenants_.size(); ++i) sum += unused_of(i, 0);
        return sum;
    }

    // Borrowed room first, then room that others have a right to. It is free from the next look on.
    Amount take_unused(Amount wanted) {
        Amount taken = 0;
        for (const bool is_borrowed : {true, false})
            for (std::size_t i = 0; i < tenants_.size() && taken < wanted; ++i) {
                const Amount unused = unused_of(i, is_borrowed ? tenants_[i].request : 0);
                const Amount now = std::min(unused, wanted - taken);
                decisions_.of[i].limit -= bytes(now);
                taken += now;
            }
        decisions_.again |= taken > 0;
        return taken;
    }

    // Gives it what it waits for, or keeps for it what there is. Returns what is missing even so.
    Amount serve(std::size_t i) {
        Decision& decision = decisions_.of[i];
        const Amount before = tenants_[i].where == Where::here ? held(tenants_[i]) : 0;
        const Amount more = target(tenants_[i]) - before;
        if (more <= std::max<Amount>(free_, 0)) {
            free_ -= std::max<Amount>(more, 0);
            decision.limit = std::max(decision.limit, bytes(target(tenants_[i])));
            if (tenants_[i].where == Where::off) {
                decision.limit = tenants_[i].charged;
                decision.where = Where::returning;
            }
            decision.is_final = true;
            return 0;
        }
        const Amount rest = more - free_;
        free_ = std::min<Amount>(free_, 0);
        return rest - take_unused(rest);
    }

    bool borrows(std::size_t i) const {
        const Tenant& tenant = tenants_[i];
        return decisions_.of[i].where == Where::here && tenant.can_leave &&
               tenant.charged > tenant.request;
    }

    // Those who borrowed for long leave to who waits for as long, where that is enough.
    void end_turns_for(std::size_t waiting, std::int64_t now) {
        const auto is_due = [now](const Tenant& tenant) { return now - tenant.since >= kTurn; };
        const Amount room = std::max<Amount>(free_, 0) + unused();
        const Amount missing = target(tenants_[waiting]) - room;
        Amount there = coming_;
        for (std::size_t i = 0; i < tenants_.size(); ++i)
            if (borrows(i) && is_due(tenants_[i])) there += amount(tenants_[i].charged);
        if (is_due(tenants_[waiting]) && there >= missing)
            order_off(missing, [&](std::size_t i) { return is_due(tenants_[i]); });
    }

    void order_off(Amount missing) {
        order_off(missing, [](std::size_t) { return true; });
    }

    template <class May>
    void order_off(Amount missing, May may) {
        const Amount expected = std::min(coming_, missing);
        coming_ -= expected;
        missing -= expected;
        while (missing > 0) {
            const std::size_t chosen = borrower_for(missing, may);
            if (chosen == tenants_.size()) return;
            Decision& decision = decisions_.of[chosen];
            decision.where = Where::leaving;
            decision.limit = std::min(decision.limit, tenants_[chosen].charged);
            const Amount leaves = amount(tenants_[chosen].charged);
            coming_ += std::max<Amount>(0, leaves - missing);
            missing -= leaves;
        }
    }

    // The one with the least that suffices, else the one with most; all of them: there is none.
    template <class May>
    std::size_t borrower_for(Amount missing, May may) const {
        std::size_t chosen = tenants_.size();
        for (std::size_t i = 0; i < tenants_.size(); ++i) {
            if (!borrows(i) || !may(i)) continue;
            const Tenant& tenant = tenants_[i];
            const bool is_first = chosen == tenants_.size();
            const Amount leaves = amount(tenant.charged);
            const Amount best = is_first ? 0 : amount(tenants_[chosen].charged);
            const bool suffices = leaves >= missing;
            const bool is_better =
                suffices == (best >= missing) ? (leaves < best) == suffices : suffices;
            if (is_first || is_better) chosen = i;
        }
        return chosen;
    }

    const std::vector<Tenant>& tenants_;
    Decisions decisions_;
    Amount free_;
    Amount coming_ = 0;  // of those who leave, and none waits for it yet
};

}  // namespace

Decisions lend(std::uint64_t memory, const std::vector<Tenant>& tenants, std::int64_t now) {
    Lending lending(memory, tenants);
    lending.serve_owners();
    lending.bring_back(now);
    lending.serve_borrowers();
    lending.give_back_rights();
    return lending.take();
}

}  // namespace berth::vgpu::lending
