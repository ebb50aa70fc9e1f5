// SPDX-License-Identifier: Apache-2.0
//
// How much of which resource? What a pod requests, and what a node offers.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "kube/objects/interned.h"

namespace berth::kube::objects {

// Reads a quantity as the API writes it ("250m", "1.5Gi", "2e3", "12") as thousandths, rounded away
// from zero as the API server does. What does not fit is the largest that does; no text is no
// value.
std::optional<std::int64_t> parse_quantity(std::string_view text);

// Sorted by the resource's name, each once. `cpu` is in thousandths, all else in whole units.
struct Amount {
    Word resource;
    std::int64_t value = 0;

    bool operator==(const Amount&) const = default;
};

class Amounts {
  public:
    // 0 when the resource is not named.
    std::int64_t of(std::string_view resource) const;
    base::MilliCpu cpu() const { return {of("cpu")}; }
    base::Bytes memory() const { return {of("memory")}; }
    const std::vector<Amount>& all() const { return amounts_; }

    void set(const Word& resource, std::int64_t value);
    // Each resource's sum, or the larger of both; both stop at the largest number.
    void add(const Amounts& other);
    void raise_to(const Amounts& other);

    bool operator==(const Amounts&) const = default;

  private:
    std::vector<Amount> amounts_;
};

// From thousandths of each; what is no whole unit is rounded up.
Amounts in_units(Amounts thousandths);

std::size_t hash_of(const Amounts& amounts);

}  // namespace berth::kube::objects
