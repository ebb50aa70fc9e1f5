// SPDX-License-Identifier: Apache-2.0
#include "supervision/frame.h"

#include <cstring>

#include "supervision/packing.h"

namespace berth::supervision {
namespace {

struct Header {
    std::uint32_t length = 0;
    std::uint16_t type = 0;
    std::uint16_t task = 0;
};
static_assert(sizeof(Header) == 8);

bool is_stream(FrameType type) {
    return type == FrameType::Input || type == FrameType::Output || type == FrameType::ErrorOutput;
}

}  // namespace

void append_frame(std::string& out, FrameType type, std::string_view payload, int task) {
    const std::size_t most = is_stream(type) ? kStreamFrameMax : kMessageMax;
    do {
        const std::string_view piece = payload.substr(0, most);
        const Header header{static_cast<std::uint32_t>(piece.size()),
                            static_cast<std::uint16_t>(type), static_cast<std::uint16_t>(task)};
        char raw[sizeof header];
        std::memcpy(raw, &header, sizeof header);
        out.append(raw, sizeof raw);
        out.append(piece);
        payload.remove_prefix(piece.size());
    } while (!payload.empty() && is_stream(type));
}

std::string pack_number(std::int64_t number) {
    Packer out;
    out.put(number);
    return out.take();
}

std::string pack(const StopRequest& request) {
    Packer out;
    out.put(static_cast<std::int64_t>(request.kind));
    out.put(request.grace_ms);
    return out.take();
}

std::string pack(const TerminalSize& size) {
    Packer out;
    out.put(size.rows);
    out.put(size.columns);
    return out.take();
}

std::optional<StopRequest> unpack_stop(std::string_view payload) {
    Unpacker in(payload);
    StopRequest request;
    const std::int64_t kind = in.number();
    request.kind = kind == 0 ? StopKind::Pause : kind == 2 ? StopKind::Restart : StopKind::Cancel;
    request.grace_ms = in.number();
    return in.is_good() ? std::optional(request) : std::nullopt;
}

std::optional<TerminalSize> unpack_size(std::string_view payload) {
    Unpacker in(payload);
    TerminalSize size;
    size.rows = static_cast<int>(in.number());
    size.columns = static_cast<int>(in.number());
    return in.is_good() ? std::optional(size) : std::nullopt;
}

std::optional<std::int64_t> unpack_number(std::string_view payload) {
    Unpacker in(payload);
    const std::int64_t number = in.number();
    return in.is_good() ? std::optional(number) : std::nullopt;
}

void FrameReader::feed(std::string_view bytes) {
    buffer_.erase(0, taken_);
    taken_ = 0;
    buffer_.append(bytes);
}

std::optional<Frame> FrameReader::next() {
    Header header;
    if (is_broken_ || buffer_.size() - taken_ < sizeof header) return std::nullopt;
    std::memcpy(&header, buffer_.data() + taken_, sizeof header);
    if (header.length > kMessageMax) {
        is_broken_ = true;
        return std::nullopt;
    }
    if (buffer_.size() - taken_ < sizeof header + header.length) return std::nullopt;
    Frame frame;
    frame.type = static_cast<FrameType>(header.type);
    frame.task = header.task;
    frame.payload = std::string_view(buffer_).substr(taken_ + sizeof header, header.length);
    taken_ += sizeof header + header.length;
    return frame;
}

}  // namespace berth::supervision
