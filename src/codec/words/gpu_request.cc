// SPDX-License-Identifier: Apache-2.0
#include "codec/words/gpu_request.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "model/node/mig.h"

namespace berth::codec {
namespace {

using base::MilliGpu;
using Parsed = base::Result<GpuRequest>;

tl::unexpected<base::Error> refused(std::string_view wanted, std::string_view text) {
    return base::invalid("wanted " + std::string(wanted) + ", found \"" + std::string(text) + "\"");
}

constexpr std::string_view kExamples = "GPUs such as 2, 0.5, 12G, 2x0.5, 4..16 or H100:2";

std::optional<int> whole_number(std::string_view text) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool is_whole =
        error == std::errc{} && end == text.data() + text.size() && !text.empty() && text[0] != '-';
    return is_whole ? std::optional(number) : std::nullopt;
}

bool is_letter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool is_decimal(char c) { return c >= '0' && c <= '9'; }

// "H100", "MI300X" and "1g.10gb" name a model by themselves; "two" and "x2" do not.
bool looks_like_model(std::string_view text) {
    if (model::mig_profile(text)) return true;
    const bool is_upper = !text.empty() && text[0] >= 'A' && text[0] <= 'Z';
    return is_upper && std::ranges::any_of(text, is_decimal);
}

// "12G", or "12G..20G" for what it is promised and what it may have.
base::Status read_memory(std::string_view text, std::string_view whole_text,
                         model::TaskRequest& request) {
    const std::size_t dots = text.find("..");
    const bool is_range = dots != std::string_view::npos;
    const auto memory = base::parse_bytes(text.substr(0, dots));
    const auto most = is_range ? base::parse_bytes(text.substr(dots + 2)) : memory;
    if (!memory || !most || (is_range && !is_letter(text[dots - 1])))
        return refused(kExamples, whole_text);
    if (memory->value <= 0) return refused("more memory than none", whole_text);
    if (*most < *memory) return refused("memory from less to more, such as 12G..20G", whole_text);
    request.gpu_memory = *memory;
    request.gpu_memory_max = *most > *memory ? *most : base::Bytes{0};
    return {};
}

// A part of one GPU: "0.5", "12G", "12G..20G" or "0.5+12G".
base::Status read_part(std::string_view text, std::string_view whole_text,
                       model::TaskRequest& request) {
    if (const auto plus = text.find('+'); plus != std::string_view::npos) {
        const bool is_both = plus > 0 && !is_letter(text[plus - 1]) && is_letter(text.back());
        if (!is_both) return refused("a share and memory such as 0.5+12G", whole_text);
        BERTH_TRY_VOID(read_part(text.substr(0, plus), whole_text, request));
        if (request.is_whole()) return refused("a share below 1 before the \"+\"", whole_text);
        return read_part(text.substr(plus + 1), whole_text, request);
    }
    if (!text.empty() && is_letter(text.back())) return read_memory(text, whole_text, request);
    const auto share = base::parse_thousandths(text);
    if (!share) return refused(kExamples, whole_text);
    if (*share <= 0 || *share > 1000) {
        return refused("a part of one GPU, more than 0 and at most 1, such as 2x0.5", whole_text);
    }
    request.share = MilliGpu{*share};
    return {};
}

Parsed read_elastic(std::string_view text, std::size_t dots) {
    const auto low = whole_number(text.substr(0, dots));
    const auto high = whole_number(text.substr(dots + 2));
    if (!low || !high) return refused("a range of whole GPUs such as 4..16", text);
    if (*low < 1 || *high < *low || *high > model::kTasksMax) {
        return refused("a range from at least 1 upwards, such as 4..16", text);
    }
    GpuRequest request;
    request.tasks_min = *low;
    request.tasks_max = *high;
    return request;
}

Parsed read_single(std::string_view text) {
    GpuRequest request;
    const bool is_decimal = text.find('.') != std::string_view::npos;
    if (const auto count = whole_number(text)) {
        if (*count > model::kGpusPerNodeMax) {
            return refused("at most 64 GPUs for one task; ask for more tasks instead", text);
        }
        request.request.gpus = *count;
        return request;
    }
    if (is_decimal && !is_letter(text.back())) {
        const auto amount = base::parse_thousandths(text);
        if (amount && *amount > 1000 && *amount % 1000 == 0) {
            return read_single(text.substr(0, text.find('.')));
        }
        if (amount && *amount > 1000) {
            return refused("whole GPUs, or parts such as 2x0.75 for more than one", text);
        }
    }
    BERTH_TRY_VOID(read_part(text, text, request.request));
    return request;
}

Parsed read_amount(std::string_view text) {
    if (text.empty()) return refused(kExamples, text);
    const auto dots = text.find("..");
    const auto times = text.find('x');
    if (dots != std::string_view::npos && !is_letter(text.back())) return read_elastic(text, dots);
    if (times == std::string_view::npos) return read_single(text);
    GpuRequest request;
    const auto count = whole_number(text.substr(0, times));
    if (!count) return refused(kExamples, text);
    if (*count < 1 || *count > model::kGpusPerNodeMax) {
        return refused("1 to 64 GPUs before the \"x\"", text);
    }
    request.request.gpus = *count;
    BERTH_TRY_VOID(read_part(text.substr(times + 1), text, request.request));
    return request;
}

template <class Format>
std::string memory_text(const model::TaskRequest& request, Format format) {
    const std::string memory = format(request.gpu_memory);
    if (request.gpu_memory_max == base::Bytes{0}) return memory;
    return memory + ".." + format(request.gpu_memory_max);
}

std::string part_text(const model::TaskRequest& request, const std::string& memory) {
    if (request.gpu_memory == base::Bytes{0}) return base::format(request.share);
    if (request.share == base::kWholeGpu) return memory;
    return base::format(request.share) + "+" + memory;
}

std::string amount_text(const model::TaskRequest& request, std::int64_t count) {
    if (request.is_whole()) return std::to_string(count);
    const std::string part =
        part_text(request, memory_text(request, [](base::Bytes all) { return base::format(all); }));
    return count == 1 ? part : std::to_string(count) + "x" + part;
}

// Memory in a unit that loses nothing: "1.5G" may be a rounded figure, "1536M" is not.
std::string exact_memory(base::Bytes amount) {
    static constexpr std::string_view kUnits = "TGMK";
    for (std::size_t i = 0; i < kUnits.size(); ++i) {
        const std::int64_t unit = std::int64_t{1} << (10 * (kUnits.size() - i));
        if (amount.value % unit == 0) return std::to_string(amount.value / unit) + kUnits[i];
    }
    return std::to_string(amount.value) + "B";
}

}  // namespace

Parsed parse_gpu_request(std::string_view text) {
    if (const auto at = text.find('@'); at != std::string_view::npos) {
        const std::string_view level = text.substr(at + 1);
        if (level.empty() || level.find('@') != std::string_view::npos) {
            return refused("one level behind the \"@\", such as 4..16@rack", text);
        }
        if (at == 0) return refused(kExamples, text);
        auto request = parse_gpu_request(text.substr(0, at));
        if (request) request->required = level;
        return request;
    }
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) {
        if (!looks_like_model(text)) return read_amount(text);
        if (text.find('|') != std::string_view::npos) {
            return refused("one GPU model such as H100", text);
        }
        GpuRequest request;
        request.gpu_model = text;
        return request;
    }
    const std::string_view gpu_model = text.substr(0, colon);
    const std::string_view amount = text.substr(colon + 1);
    if (gpu_model.empty() || gpu_model.find('|') != std::string_view::npos) {
        return refused("one GPU model before the colon, such as H100:2", text);
    }
    if (amount.find(':') != std::string_view::npos) {
        return refused("one amount behind the GPU model, such as H100:2", text);
    }
    auto request = read_amount(amount);
    if (!request) return request;
    request->gpu_model = gpu_model;
    return request;
}

std::string format_gpu_request(const GpuRequest& request) {
    const model::TaskRequest& task = request.request;
    std::string text;
    if (request.tasks_max > 1) {
        text = std::to_string(request.tasks_min) + ".." + std::to_string(request.tasks_max);
    } else if (task.gpu_memory > base::Bytes{0}) {
        if (task.gpus != 1) text = std::to_string(task.gpus) + "x";
        text += part_text(task, memory_text(task, exact_memory));
    } else {
        text = amount_text(task, task.gpus);
    }
    if (!request.gpu_model.empty()) text = request.gpu_model + ":" + text;
    return request.required.empty() ? text : text + "@" + request.required;
}

std::string gpu_summary(const model::JobSpec& spec) {
    const std::int64_t low = std::int64_t{spec.tasks_min} * spec.request.gpus;
    const std::int64_t high = std::int64_t{spec.tasks_max} * spec.request.gpus;
    std::string text;
    if (low == high) {
        text = amount_text(spec.request, low);
    } else if (spec.request.is_whole()) {
        text = std::to_string(low) + ".." + std::to_string(high);
    } else {
        model::TaskRequest one = spec.request;
        text = std::to_string(low) + ".." + std::to_string(high) + "x" + amount_text(one, 1);
    }
    if (!spec.gpu_model.empty()) text += " " + spec.gpu_model;
    for (const model::Companion& kind : spec.companions) {
        if (kind.request.gpus == 0) continue;
        text += " + " + amount_text(kind.request, std::int64_t{kind.count} * kind.request.gpus);
        if (!kind.gpu_model.empty()) text += " " + kind.gpu_model;
    }
    return text;
}

}  // namespace berth::codec
