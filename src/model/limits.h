// SPDX-License-Identifier: Apache-2.0
//
// How much may a description ask for? The limits of docs/limits.md that hold for whatever came in,
// by the API, a job file, a state file, a scenario or a trace: lifecycle::check asks here first.
//
// Guarantee: what passes can be counted, summed over the largest cluster and decided about without
// an overflow, and costs no more to refuse than its own size. Whether it names what is there and
// fits is for lifecycle::check.
// Errors: Invalid, with the field, what was wanted and what was found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/description.h"
#include "model/job/launch.h"

namespace berth::model {

inline constexpr std::size_t kNameBytesMax = 200;
inline constexpr int kSmallTasksMax = 1'024;          // of a job, each without a whole GPU
inline constexpr std::size_t kLabelsMax = 256;        // of one thing
inline constexpr std::size_t kFilterWordsMax = 1'024;  // terms and values of one node filter
inline constexpr std::size_t kPoolsOfJobMax = 64;     // that one job names
inline constexpr std::size_t kNodesMax = 100'000;     // of a cluster, as the next three
inline constexpr std::size_t kNodeKindsMax = 65'536;  // of a cluster (cluster/nodes/node_kinds.h)
inline constexpr std::size_t kProjectsMax = 10'000;
inline constexpr std::size_t kPoolsMax = 256;
inline constexpr int kProjectLevelsMax = 32;  // departments above each other
inline constexpr int kPriorityMax = 1'000'000;  // and as low below 0
inline constexpr int kOrderTailMax = 50;  // percent of GPU time
inline constexpr std::int64_t kWeightMax = 1'000'000'000;  // thousandths
inline constexpr std::int64_t kMillion = 1'000'000;
inline constexpr MilliGpu kGpusMax = base::gpus(10'000'000'000);  // as GPUs count in quotas
inline constexpr MilliCpu kCpusMax{1'000'000'000};  // a million cores
inline constexpr Bytes kMemoryMax{std::int64_t{1} << 50};  // 1 PiB
// Of a project, quotas as limits: a billion cores, and 1 EiB.
inline constexpr MilliCpu kCpuLimitMax{1'000'000'000'000};
inline constexpr Bytes kMemoryLimitMax{std::int64_t{1} << 60};
inline constexpr Duration kTimeMax{365LL * 24 * 3600 * 1000};
inline constexpr Duration kPastMax = kTimeMax * 100;  // from now, and to come
inline constexpr std::size_t kCommandBytesMax = 1024 * 1024;  // of words, of variables
inline constexpr std::size_t kWordBytesMax = 128 * 1024 - 1;  // the system takes no longer one
inline constexpr std::size_t kPathBytesMax = 4095;  // likewise

// How a job may be asked to save and stop; "none" kills at once.
inline constexpr std::array<std::string_view, 6> kPauseSignals{"auto", "TERM", "INT",
                                                               "USR1", "USR2", "none"};

// Its start, without control characters: for what is said of texts that people wrote.
std::string in_quotes(std::string_view text);

// A name that can stand in a table: 1 to 200 bytes, no control characters.
bool is_name(std::string_view text);

// How many bytes the control character at the start of `text` has; 0 = another one is there. Those
// of C0 and C1, which steer a terminal, and those that end a line or turn its direction (Unicode's
// bidirectional controls, line and paragraph separator, byte order mark).
std::size_t control_length(std::string_view text);

base::Status check_limits(const JobSpec& spec);  // an empty name is one that will be made up
base::Status check_limits(const LaunchSpec& launch);
base::Status check_limits(const Node& node);
base::Status check_limits(const OthersUse& use);
base::Status check_limits(const Pool& pool);
base::Status check_limits(const Project& project);
base::Status check_limits(const Levels& levels);
base::Status check_limits(const GpuProfile& profile);
// What is said of the job's past, beside its spec.
base::Status check_limits(const JobDescription& job, TimePoint now);

}  // namespace berth::model
