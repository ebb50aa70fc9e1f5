// SPDX-License-Identifier: Apache-2.0
#include "adapters/gpu_shares/keepers/back_end.h"

#include <charconv>

namespace berth::gpu_shares {
namespace {

constexpr int kFirstRelease = 615;  // that keeps limits of memory and speaks MPS version 3

int release_of(const std::string& driver) {
    int release = 0;
    std::from_chars(driver.data(), driver.data() + driver.size(), release);
    return release;
}

// Why the driver cannot keep the limits here; empty when it can.
std::string missing(const Machine& machine) {
    if (machine.are_simulated) return "simulated GPUs have no control groups";
    if (machine.driver.empty()) return "the driver does not say its release";
    if (release_of(machine.driver) < kFirstRelease) {
        return "driver " + machine.driver + " is older than " + std::to_string(kFirstRelease) +
               ", the first that keeps limits itself";
    }
    if (!machine.groups_lack.empty()) return machine.groups_lack;
    if (machine.mps_control.empty()) return "there is no nvidia-cuda-mps-control in the PATH";
    return {};
}

// Software GPUs are programs themselves.
Choice interposer(const Machine& machine, const std::string& reason) {
    const bool is_late = !machine.are_simulated && !machine.precedence_lacks.empty();
    return {BackEnd::Interposer, reason + (is_late ? "; " + machine.precedence_lacks : "")};
}

}  // namespace

base::Result<Wish> parse_wish(const std::string& text) {
    if (text == "auto") return Wish::Auto;
    if (text == "interposer") return Wish::Interposer;
    if (text == "driver") return Wish::DriverLimits;
    return base::invalid("--sharing: wanted auto, interposer or driver, found \"" + text + "\"");
}

base::Result<Choice> choose_back_end(const Machine& machine, Wish wish) {
    const std::string lack = missing(machine);
    const bool can_limit = lack.empty();
    if (wish == Wish::DriverLimits && !can_limit) {
        return base::fail(base::ErrorCode::Unavailable, "--sharing driver: " + lack);
    }
    if (machine.has_interposed) {
        return interposer(machine, "jobs run that began with it");
    }
    if (machine.has_limited && can_limit) {
        return Choice{BackEnd::DriverLimits, "jobs run that began with it"};
    }
    if (wish == Wish::Interposer) return interposer(machine, "--sharing interposer");
    if (!can_limit) return interposer(machine, lack);
    return Choice{BackEnd::DriverLimits,
                  "driver " + machine.driver + " and the kernel's dmem controller keep them"};
}

}  // namespace berth::gpu_shares
