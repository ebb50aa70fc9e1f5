// SPDX-License-Identifier: Apache-2.0
#include "vgpu/arbiter/talk/order.h"

#include <algorithm>
#include <charconv>

#include "base/quantity.h"
#include "vgpu/ledger/terms.h"

namespace berth::vgpu::arbiter {
namespace {

using base::invalid;
using base::Result;
using base::Status;

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// The text before the first `mark`; `rest` keeps what follows it.
std::string_view cut(std::string_view& rest, char mark) {
    const std::size_t end = std::min(rest.find(mark), rest.size());
    const std::string_view head = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    return head;
}

Status check_name(std::string_view name) {
    const auto fits = [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
               (letter >= '0' && letter <= '9') || letter == '-' || letter == '_' || letter == '.';
    };
    if (name.empty() || name.size() > kNameMax || name.front() == '.' ||
        !std::all_of(name.begin(), name.end(), fits))
        return invalid(in_quotes(name) + ": a name has 1 to 64 letters, digits, -, _ or " +
                       ". and does not begin with a dot");
    return {};
}

Result<std::uint64_t> read_bytes(std::string_view text) {
    BERTH_TRY(bytes, base::parse_bytes(text));
    const auto value = static_cast<std::uint64_t>(bytes.value);
    if (value > ledger::kNoLimit)
        return invalid("memory " + in_quotes(text) +
                       " is more than any GPU has; leave it out for all");
    return value;
}

Result<std::int32_t> read_part(std::string_view text, std::int32_t least) {
    BERTH_TRY(part, base::parse_thousandths(text));
    if (part < least || part > 1000)
        return invalid(in_quotes(text) + " is no part of a GPU: give 0.001 to 1");
    return static_cast<std::int32_t>(part);
}

template <class T>
Result<T> read_number(std::string_view text, T least, T most) {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
        return invalid(in_quotes(text) + ": give a number from " + std::to_string(least) + " to " +
                       std::to_string(most));
    return value;
}

// "12G" or "12G..20G/79G".
Status read_memory(std::string_view text, GpuWish& gpu) {
    if (text == "none") {
        gpu.memory = ledger::kNoLimit;
        return {};
    }
    const std::size_t dots = text.find("..");
    BERTH_TRY(request, read_bytes(text.substr(0, dots)));
    gpu.memory = request;
    if (dots == std::string_view::npos) return {};
    std::string_view capacity = text.substr(dots + 2);
    BERTH_TRY(burst, read_bytes(cut(capacity, '/')));
    if (capacity.empty())
        return invalid("gpus: " + in_quotes(text) +
                       " lacks the memory of the GPU: give MEMORY..BURST/ALL, such as "
                       "12G..20G/79G");
    BERTH_TRY(all, read_bytes(capacity));
    if (burst < request || all < burst)
        return invalid("gpus: " + in_quotes(text) + ": give MEMORY..BURST/ALL from small to large");
    gpu.burst = burst;
    gpu.capacity = all;
    return {};
}

Result<std::vector<GpuWish>> read_gpus(std::string_view text) {
    std::vector<GpuWish> gpus;
    while (!text.empty()) {
        std::string_view memory = cut(text, ',');
        GpuWish gpu;
        gpu.uuid = cut(memory, ':');
        if (gpu.uuid.empty() || gpu.uuid.size() >= ledger::kUuidMax)
            return invalid("gpus: " + in_quotes(gpu.uuid) +
                           " is no UUID; nvidia-smi -L shows them");
        if (!memory.empty()) BERTH_TRY_VOID(read_memory(memory, gpu));
        for (const GpuWish& other : gpus)
            if (other.uuid == gpu.uuid)
                return invalid("gpus: " + in_quotes(gpu.uuid) + " comes twice");
        gpus.push_back(std::move(gpu));
    }
    if (gpus.empty() || gpus.size() > ledger::kGpusMax)
        return invalid("gpus: a tenant has 1 to " + std::to_string(ledger::kGpusMax) + " GPUs");
    return gpus;
}

template <class T>
Status put(std::optional<T>& into, Result<T> value) {
    if (!value) return tl::unexpected(value.error());
    into = *value;
    return {};
}

Result<std::int64_t> read_ns(std::string_view text) {
    BERTH_TRY(duration, base::parse_duration(text));
    return duration.count() * 1'000'000;
}

Result<windows::Policy> read_policy(std::string_view text) {
    if (text == "pack") return windows::Policy::pack;
    if (text == "fair") return windows::Policy::fair;
    if (text == "fifo") return windows::Policy::fifo;
    if (text == "srtf") return windows::Policy::srtf;
    if (text == "priority") return windows::Policy::priority;
    return invalid(in_quotes(text) + " is no policy: pack, fair, fifo, srtf or priority");
}

Status read_term(std::string_view term, std::string_view value, Order& order) {
    if (term == "gpus") {
        BERTH_TRY(gpus, read_gpus(value));
        order.gpus = std::move(gpus);
        return {};
    }
    if (term == "escaped") {
        BERTH_TRY(gpus, read_gpus(value));
        order.escaped = std::move(gpus);
        return {};
    }
    if (term == "memory") return put(order.memory, read_bytes(value));
    if (term == "context") return put(order.context, read_bytes(value));
    if (term == "share") return put(order.share, read_part(value, 0));
    if (term == "cap") return put(order.cap, read_part(value, 1));
    if (term == "weight") return put(order.weight, read_number<std::int32_t>(value, 1, 10'000));
    if (term == "priority")
        return put(order.priority, read_number<std::int32_t>(value, -1000, 1000));
    if (term == "uid") return put(order.uid, read_number<std::uint32_t>(value, 0, UINT32_MAX - 1));
    if (term == "persistent") return put(order.persistent, read_bytes(value));
    if (term == "peak") return put(order.peak, read_bytes(value));
    if (term == "expected") return put(order.expected_ns, read_ns(value));
    if (term == "park") return put(order.park_ns, read_ns(value));
    if (term == "policy") return put(order.policy, read_policy(value));
    if (term == "rotation") {
        BERTH_TRY_VOID(check_name(value));
        order.rotation = value;
        return {};
    }
    if (term == "managed" && (value == "allow" || value == "refuse")) {
        order.managed = value == "allow";
        return {};
    }
    return invalid(in_quotes(std::string(term) + "=" + std::string(value)) +
                   " is no term: gpus, memory, context, managed=allow|refuse, share, cap, weight, "
                   "priority, uid, rotation, persistent, peak, expected, park or escaped");
}

Result<Verb> read_verb(std::string_view word) {
    if (word == "tenant") return Verb::tenant;
    if (word == "set") return Verb::set;
    if (word == "narrow") return Verb::narrow;
    if (word == "rotation") return Verb::rotation;
    if (word == "drop") return Verb::drop;
    if (word == "status") return Verb::status;
    return invalid(in_quotes(word) +
                   " is no order: tenant, set, narrow, rotation, drop or "
                   "status");
}

}  // namespace

Result<Order> read_order(std::string_view line) {
    if (line.size() > kOrderMax) return invalid("an order has at most 4096 bytes");
    std::vector<std::string_view> words;
    while (!line.empty()) {
        if (const auto word = cut(line, line.find('\n') < line.find(' ') ? '\n' : ' ');
            !word.empty())
            words.push_back(word);
    }
    if (words.empty())
        return invalid("an empty order: tenant, set, narrow, rotation, drop or status");
    Order order;
    BERTH_TRY(verb, read_verb(words[0]));
    order.verb = verb;
    if (words.size() > 1) order.name = words[1];
    if (verb != Verb::status || words.size() > 1) BERTH_TRY_VOID(check_name(order.name));
    const bool takes_terms = verb != Verb::drop && verb != Verb::status;
    if (!takes_terms && words.size() > 2)
        return invalid(in_quotes(words[2]) + ": " + std::string(words[0]) + " takes a name only");
    for (std::size_t index = 2; index < words.size(); ++index) {
        std::string_view value = words[index];
        const std::string_view term = cut(value, '=');
        const bool is_of_rotation = term == "memory" || term == "policy";
        if (verb == Verb::rotation ? !is_of_rotation : term == "policy")
            return invalid(in_quotes(words[index]) +
                           ": a rotation has memory and policy, a tenant not");
        BERTH_TRY_VOID(read_term(term, value, order));
    }
    if (verb == Verb::tenant && order.gpus.empty())
        return invalid("tenant " + in_quotes(order.name) + " needs gpus=UUID[:MEMORY],...");
    if (verb == Verb::rotation && order.memory.value_or(0) == 0)
        return invalid("rotation " + in_quotes(order.name) + " needs memory=BYTES of a GPU");
    return order;
}

}  // namespace berth::vgpu::arbiter
