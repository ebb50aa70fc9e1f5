// SPDX-License-Identifier: Apache-2.0
#include "cli/pages/gpu_bar.h"

#include <utility>

namespace berth::cli {
namespace {

std::pair<std::string_view, Tone> look_of(GpuLook gpu, const Glyphs& glyphs) {
    switch (gpu) {
        case GpuLook::Free: break;
        case GpuLook::Busy: return {glyphs.gpu_busy, Tone::Good};
        case GpuLook::Shared: return {glyphs.gpu_shared, Tone::Busy};
        case GpuLook::HeldIdle: return {glyphs.gpu_idle_held, Tone::Warning};
        case GpuLook::Unhealthy: return {glyphs.gpu_bad, Tone::Bad};
    }
    return {glyphs.gpu_free, Tone::Faint};
}

}  // namespace

// Neighbours of one tone are painted together: fewer escape sequences on a large node.
std::string gpu_bar(std::span<const GpuLook> gpus, const Style& style) {
    std::string bar;
    std::string run;
    Tone tone = Tone::Plain;
    for (const GpuLook gpu : gpus) {
        const auto [glyph, next] = look_of(gpu, style.glyphs());
        if (next != tone) {
            bar += style.paint(tone, run);
            run.clear();
            tone = next;
        }
        run += glyph;
    }
    return bar + style.paint(tone, run);
}

std::string gpu_bar_legend(const Style& style) {
    std::string legend;
    for (const auto& [gpu, meaning] : {std::pair{GpuLook::Busy, "held"},
                                       {GpuLook::Shared, "shared"},
                                       {GpuLook::HeldIdle, "held, idle"},
                                       {GpuLook::Free, "free"},
                                       {GpuLook::Unhealthy, "unhealthy"}}) {
        const auto [glyph, tone] = look_of(gpu, style.glyphs());
        if (!legend.empty()) legend += "  ";
        legend += style.paint(tone, glyph) + " " + meaning;
    }
    return legend;
}

}  // namespace berth::cli
