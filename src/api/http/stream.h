// SPDX-License-Identifier: Apache-2.0
//
// An answer without an end: piece after piece, until one side ends it. Its client takes one piece
// at a time: what is new meanwhile is in the next one, so that who reads slowly reads less.
#pragma once

#include <functional>
#include <memory>
#include <string>

namespace berth::api {

class Stream {
  public:
    // Many clients share one.
    using Piece = std::shared_ptr<const std::string>;

    virtual ~Stream() = default;

    // What comes next. Null: nothing now; `wake` is called, once, when to ask again.
    virtual Piece next(std::function<void()> wake) = 0;
    // Nothing comes any more, and no more of what its client has not taken.
    virtual bool is_over() const = 0;
};

}  // namespace berth::api
