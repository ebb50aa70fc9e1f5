// SPDX-License-Identifier: Apache-2.0
//
// Why do jobs wait, said once for all that wait alike? One explanation has a number that stays
// while its text changes: with each GPU that comes free that of ten thousand jobs does.
//
// Which jobs are alike is not asked. Those with the same text are, until in one round of looks one
// says another thing than those looked at before it.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace berth::api {

class Explanations {
  public:
    using Number = std::int64_t;  // 0 = none
    using Revision = std::int64_t;

    // The number of what is said of a job that had `before`, changed at `now`. Within a round the
    // first one looked at speaks for all.
    Number settle(Number before, const std::string& text, bool is_in_round, Revision now);
    void begin_round() { ++round_; }
    // Whether something changed at that revision.
    bool has_changed(Revision now) const { return changed_ == now; }
    // Those that changed since then, or all: {"3":{...}}
    std::string since(Revision revision) const;
    std::size_t size() const { return said_.size(); }

  private:
    struct Said {
        std::string text;
        Revision changed = 0;
        std::int64_t round = 0;  // in which it was heard last
        std::int64_t jobs = 0;
    };

    Number join(const std::string& text, Revision now);
    void leave(Number number);
    void forget_text(Number number, const std::string& text);

    std::map<Number, Said> said_;
    std::map<std::string, Number> by_text_;
    Number last_ = 0;
    std::int64_t round_ = 0;
    Revision changed_ = -1;
};

}  // namespace berth::api
