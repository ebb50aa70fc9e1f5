// SPDX-License-Identifier: Apache-2.0
#include <zlib.h>

#include <memory>

#include "simulation/trace/trace.h"

namespace berth::simulation {
namespace {

constexpr std::string_view kMagic = "\x1f\x8b";
constexpr int kGzip = 16 + MAX_WBITS;  // zlib's word for it
constexpr std::size_t kChunk = std::size_t{1} << 20;

}  // namespace

base::Result<std::string> unpacked(std::string bytes, std::size_t size_max) {
    if (!std::string_view(bytes).starts_with(kMagic)) return bytes;
    z_stream stream{};
    if (inflateInit2(&stream, kGzip) != Z_OK) return base::invalid("gzip: no memory");
    const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
    stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
    stream.avail_in = static_cast<uInt>(bytes.size());
    std::string text;
    for (int status = Z_OK; status != Z_STREAM_END;) {
        const std::size_t done = text.size();
        if (done > size_max) {
            return base::fail(base::ErrorCode::Exhausted,
                              "above " + std::to_string(size_max) + " bytes when unpacked");
        }
        text.resize(done + kChunk);
        stream.next_out = reinterpret_cast<Bytef*>(text.data() + done);
        stream.avail_out = kChunk;
        status = inflate(&stream, Z_NO_FLUSH);
        if (status != Z_OK && status != Z_STREAM_END) {
            return base::invalid("wanted gzip to its end, found it broken or cut off");
        }
        text.resize(done + kChunk - stream.avail_out);
    }
    return text;
}

}  // namespace berth::simulation
