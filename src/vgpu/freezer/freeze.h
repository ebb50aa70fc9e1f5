// SPDX-License-Identifier: Apache-2.0
//
// Takes all processes below one off their GPUs, or puts them back, by the course of
// vgpu/freezing. May be killed at any moment: the same call, by a successor, goes on from there.
#pragma once

#include <sys/types.h>

#include "supervision/freezing.h"
#include "vgpu/freezer/processes.h"

namespace berth::vgpu::freezer {

supervision::FreezerAnswer freeze(const Node& node, pid_t root,
                                  const supervision::FreezeRequest& request);
supervision::FreezerAnswer thaw(const Node& node, pid_t root,
                                const supervision::ThawRequest& request);

}  // namespace berth::vgpu::freezer
