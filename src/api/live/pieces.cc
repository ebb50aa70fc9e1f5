// SPDX-License-Identifier: Apache-2.0
#include "api/live/pieces.h"

#include <utility>

namespace berth::api {

Pieces::Piece Pieces::make(std::string text) {
    *bytes_ += text.size();
    return {new std::string(std::move(text)), [bytes = bytes_](const std::string* piece) {
                *bytes -= piece->size();
                delete piece;
            }};
}

Pieces::Piece Pieces::shared(std::int64_t from, std::int64_t to,
                             const std::function<std::string()>& text) {
    if (std::exchange(to_, to) != to) known_.clear();
    std::weak_ptr<const std::string>& known = known_[from];
    if (Piece piece = known.lock()) return piece;
    Piece piece = make(text());
    known = piece;
    return piece;
}

}  // namespace berth::api
