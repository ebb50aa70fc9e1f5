// SPDX-License-Identifier: Apache-2.0
#include "api/map/gzip.h"

#include <zlib.h>

#include "base/check.h"

namespace berth::api {
namespace {

constexpr int kLevel = 5;  // of 9: level 9 takes twice the time for 3 % less
constexpr int kGzip = 16 + MAX_WBITS;  // zlib's word for it
constexpr int kMemory = 8;  // its default

}  // namespace

std::string gzipped(std::string_view text) {
    z_stream stream{};
    const bool is_ready =
        deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) == Z_OK;
    // ours: only memory can be missing
    BERTH_CHECK(is_ready, "zlib has memory");
    std::string packed(deflateBound(&stream, text.size()), '\0');
    // zlib does not write to what it reads
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(text.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    const bool is_whole = deflate(&stream, Z_FINISH) == Z_STREAM_END;
    // ours: deflateBound() says how much is enough
    BERTH_CHECK(is_whole, "what zlib asked for is room enough");
    packed.resize(stream.total_out);
    deflateEnd(&stream);
    return packed;
}

}  // namespace berth::api
