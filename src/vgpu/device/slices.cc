// SPDX-License-Identifier: Apache-2.0
#include "vgpu/device/slices.h"

#include <charconv>
#include <cstring>

namespace berth::vgpu::device {
namespace {

bool take_number(std::string_view& text, std::uint32_t& number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return true;
}

bool take(std::string_view& text, std::string_view word) {
    if (!text.starts_with(word)) return false;
    text.remove_prefix(word.size());
    return true;
}

// "0:3g.40gb".
bool read_slice(std::string_view text, Slice& to) {
    std::uint32_t gibibytes = 0;
    if (!take_number(text, to.gpu) || !take(text, ":")) return false;
    const std::string_view profile = text;
    if (!take_number(text, to.compute) || !take(text, "g.")) return false;
    if (!take_number(text, gibibytes) || text != "gb") return false;
    if (to.compute == 0 || gibibytes == 0 || profile.size() >= sizeof(to.profile)) return false;
    to.memory_bytes = std::uint64_t{gibibytes} << 30U;
    std::memcpy(to.profile, profile.data(), profile.size());
    return true;
}

const Slice& slice_of(const Description& description, std::uint32_t unit) {
    return description.slice[unit - description.gpus];
}

}  // namespace

bool read_slices(std::string_view text, Description& to) {
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (to.slices == kGpusMax) return false;
        if (!read_slice(text.substr(0, comma), to.slice[to.slices])) return false;
        ++to.slices;
        if (comma == std::string_view::npos) return true;
        text.remove_prefix(comma + 1);
        while (text.starts_with(' ')) text.remove_prefix(1);
    }
    return false;
}

std::string problem_with_slices(const Description& description) {
    if (units(description) > kGpusMax)
        return "more than " + std::to_string(kGpusMax) + " GPUs and slices";
    for (std::uint32_t gpu = 0; gpu < kGpusMax; ++gpu) {
        std::uint32_t compute = 0;
        std::uint64_t bytes = 0;
        for (std::uint32_t i = 0; i < description.slices; ++i) {
            const Slice& slice = description.slice[i];
            if (slice.gpu != gpu) continue;
            compute += slice.compute;
            bytes += slice.memory_bytes;
        }
        const std::string which = "GPU " + std::to_string(gpu);
        if (compute != 0 && gpu >= description.gpus) return "there is no " + which;
        if (compute > kComputeSlices)
            return which + " has " + std::to_string(kComputeSlices) + " slices, not " +
                   std::to_string(compute);
        if (bytes > description.memory_bytes)
            return "the slices of " + which + " have more memory than it";
    }
    return {};
}

std::uint32_t units(const Description& description) {
    return description.gpus + description.slices;
}

bool is_slice(const Description& description, std::uint32_t unit) {
    return unit >= description.gpus;
}

bool is_cut(const Description& description, std::uint32_t gpu) {
    for (std::uint32_t i = 0; i < description.slices; ++i)
        if (description.slice[i].gpu == gpu) return true;
    return false;
}

std::uint32_t gpu_of(const Description& description, std::uint32_t unit) {
    return is_slice(description, unit) ? slice_of(description, unit).gpu : unit;
}

std::uint64_t memory_of(const Description& description, std::uint32_t unit) {
    return is_slice(description, unit) ? slice_of(description, unit).memory_bytes
                                       : description.memory_bytes;
}

std::uint64_t reserved_of(const Description& description, std::uint32_t unit) {
    return is_slice(description, unit) ? 0 : description.reserved_bytes;
}

std::uint32_t sms_of(const Description& description, std::uint32_t unit) {
    if (!is_slice(description, unit)) return description.sms;
    const std::uint32_t part = description.sms * slice_of(description, unit).compute;
    return part / kComputeSlices == 0 ? 1 : part / kComputeSlices;
}

std::string name_of(const Description& description, std::uint32_t unit) {
    std::string name = description.name;
    if (is_slice(description, unit))
        name += std::string(" MIG ") + slice_of(description, unit).profile;
    return name;
}

std::string uuid_of(const Description& description, std::uint32_t unit) {
    std::string text = uuid_text(description.uuids[unit]);
    if (is_slice(description, unit)) text.replace(0, 3, "MIG");
    return text;
}

}  // namespace berth::vgpu::device
