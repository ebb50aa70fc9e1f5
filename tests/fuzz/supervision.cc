// SPDX-License-Identifier: Apache-2.0
#include <optional>
#include <string>
#include <vector>

#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "supervision/frame.h"
#include "supervision/freezing.h"
#include "supervision/order.h"
#include "supervision/status_file.h"

namespace berth::fuzz {
namespace {

using supervision::Frame;
using supervision::FrameReader;

struct Cut {
    std::string frames;  // printed again
    bool is_broken = false;
};

// Reads a stream that arrives in pieces of `piece` bytes.
Cut cut(std::string_view stream, std::size_t piece) {
    FrameReader reader;
    Cut all;
    while (!stream.empty()) {
        reader.feed(stream.substr(0, piece));
        stream.remove_prefix(std::min(piece, stream.size()));
        while (const auto frame = reader.next())
            supervision::append_frame(all.frames, frame->type, frame->payload, frame->task);
    }
    all.is_broken = reader.is_broken();
    return all;
}

// What `unpack` takes is packed, and unpacked to what packs alike.
template <class Unpack, class Pack>
void check_message(std::string_view payload, Unpack unpack, Pack pack) {
    const auto value = unpack(payload);
    if (!value) return;
    const std::string bytes = pack(*value);
    const auto again = unpack(bytes);
    expect(again && pack(*again) == bytes, "a message is read as it was packed");
}

}  // namespace

// The first byte says in what pieces the rest arrives.
void frames(std::string_view input) {
    if (input.empty()) return;
    const std::size_t piece = static_cast<unsigned char>(input.front()) + std::size_t{1};
    input.remove_prefix(1);
    const Cut whole = cut(input, input.size());
    const Cut in_pieces = cut(input, piece);
    expect(whole.frames == in_pieces.frames, "frames do not depend on how they arrive");
    expect(whole.is_broken == in_pieces.is_broken, "nor does whether they are frames");
    expect(input.starts_with(whole.frames), "frames are what was sent");
}

void messages(std::string_view input) {
    const auto pack = [](const auto& value) { return supervision::pack(value); };
    check_message(input, supervision::unpack_stop, pack);
    check_message(input, supervision::unpack_size, pack);
    check_message(input, supervision::unpack_number, supervision::pack_number);
    check_message(input, supervision::unpack_freeze, pack);
    check_message(input, supervision::unpack_thaw, pack);
    check_message(input, supervision::unpack_answer, pack);
    check_message(input, supervision::unpack_gpu_lists, pack);
}

void order(std::string_view input) {
    check_message(input, supervision::unpack_order,
                  [](const supervision::Order& order) { return supervision::pack(order); });
}

void status(std::string_view input) {
    const auto reading = supervision::parse_status(input);
    if (!reading.exit) return;
    const std::string line = supervision::exit_line(*reading.exit);
    expect(line.find('\n') == line.size() - 1, "an end is one line");
    const auto again = supervision::parse_exit_line(line);
    expect(again && supervision::exit_line(*again) == line, "an end is read as it was written");
}

}  // namespace berth::fuzz
