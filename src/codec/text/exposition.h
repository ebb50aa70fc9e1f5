// SPDX-License-Identifier: Apache-2.0
//
// Writes numbers for monitoring: the text format of Prometheus, version 0.0.4.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::codec {

inline constexpr std::string_view kExpositionType = "text/plain; version=0.0.4; charset=utf-8";

class Exposition {
  public:
    explicit Exposition(std::string& text) : text_(text) {}

    // Begins a metric, of which samples follow. `type`: counter, gauge or histogram.
    void metric(std::string_view name, std::string_view type, std::string_view help);
    // One of the metric; `value` is a decimal number.
    void sample(std::string_view value);
    void sample(std::int64_t value);
    // The same, with a label that no other of them has; its text may be any.
    void sample(std::string_view label, std::string_view of, std::string_view value);
    void sample(std::string_view label, std::string_view of, std::int64_t value);

  private:
    std::string& text_;
    std::string name_;
};

}  // namespace berth::codec
