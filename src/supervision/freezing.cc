// SPDX-License-Identifier: Apache-2.0
#include "supervision/freezing.h"

#include "supervision/packing.h"
#include "supervision/status_file.h"

namespace berth::supervision {
namespace {

template <class T>
std::optional<T> if_good(const Unpacker& in, T value) {
    return in.is_good() ? std::optional(std::move(value)) : std::nullopt;
}

}  // namespace

std::string pack(const FreezeRequest& request) {
    Packer out;
    out.put(request.timeout_ms);
    out.put(request.runs_on ? 1 : 0);
    return out.take();
}

std::string pack(const ThawRequest& request) {
    Packer out;
    out.put(request.timeout_ms);
    out.put(static_cast<std::int64_t>(request.moves.size()));
    for (const GpuMove& move : request.moves) {
        out.put(move.from);
        out.put(move.to);
    }
    out.put(request.ran_on ? 1 : 0);
    return out.take();
}

std::string pack(const FreezerAnswer& answer) {
    Packer out;
    out.put(static_cast<std::int64_t>(answer.outcome));
    out.put_text(shortened(answer.reason, kDetailMax));
    out.put(answer.bytes);
    out.put(answer.ms);
    return out.take();
}

std::string pack(const GpuLists& lists) {
    Packer out;
    out.put_texts(lists);
    return out.take();
}

std::optional<FreezeRequest> unpack_freeze(std::string_view payload) {
    Unpacker in(payload);
    const std::int64_t timeout_ms = in.number();
    return if_good(in, FreezeRequest{timeout_ms, in.number() != 0});
}

std::optional<ThawRequest> unpack_thaw(std::string_view payload) {
    Unpacker in(payload);
    ThawRequest request{in.number(), {}, false};
    for (std::size_t count = in.count(); count > 0 && in.is_good(); --count) {
        const auto from = static_cast<int>(in.number());
        request.moves.push_back({from, static_cast<int>(in.number())});
    }
    request.ran_on = in.number() != 0;
    return if_good(in, std::move(request));
}

std::optional<FreezerAnswer> unpack_answer(std::string_view payload) {
    Unpacker in(payload);
    FreezerAnswer answer;
    const std::int64_t outcome = in.number();
    answer.outcome = outcome == 0   ? FreezerOutcome::Done
                     : outcome == 1 ? FreezerOutcome::Undone
                                    : FreezerOutcome::Lost;
    answer.reason = in.text();
    answer.bytes = in.number();
    answer.ms = in.number();
    return if_good(in, std::move(answer));
}

std::optional<GpuLists> unpack_gpu_lists(std::string_view payload) {
    Unpacker in(payload);
    GpuLists lists = in.texts();
    return if_good(in, std::move(lists));
}

}  // namespace berth::supervision
