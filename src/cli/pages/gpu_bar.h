// SPDX-License-Identifier: Apache-2.0
//
// What do a node's GPUs look like as one short bar? One character per GPU:
//   ■ #  held, whole        ▣ %  shared        □ =  held but idle        · .  free
//   !    unhealthy
#pragma once

#include <span>
#include <string>

#include "cli/terminal/style.h"

namespace berth::cli {

enum class GpuLook { Free, Busy, Shared, HeldIdle, Unhealthy };

std::string gpu_bar(std::span<const GpuLook> gpus, const Style& style);

// "■ held  ▣ shared  □ held, idle  · free  ! unhealthy"
std::string gpu_bar_legend(const Style& style);

}  // namespace berth::cli
