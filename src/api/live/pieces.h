// SPDX-License-Identifier: Apache-2.0
//
// Who is to hear the same, hears one text: a thousand viewers cost one. Counts the bytes that
// clients have not taken yet.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "api/http/stream.h"

namespace berth::api {

class Pieces {
  public:
    using Piece = Stream::Piece;

    // A text of its own.
    Piece make(std::string text);
    // What was said to others from `from` on up to `to`; made by `text` where none of them still
    // takes it.
    Piece shared(std::int64_t from, std::int64_t to, const std::function<std::string()>& text);
    std::size_t bytes() const { return *bytes_; }

  private:
    // Pieces outlive this.
    std::shared_ptr<std::size_t> bytes_ = std::make_shared<std::size_t>(0);
    std::int64_t to_ = 0;
    std::map<std::int64_t, std::weak_ptr<const std::string>> known_;  // up to to_
};

}  // namespace berth::api
