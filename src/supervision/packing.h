// SPDX-License-Identifier: Apache-2.0
//
// How is a record laid out as bytes between two processes of one machine? Integers as eight bytes
// in host order, texts as a length and their bytes. An Unpacker trusts nothing: a read past the end
// makes it bad, every later read answers zero or empty, and is_good() is asked once at the end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth::supervision {

class Packer {
  public:
    void put(std::int64_t number);
    void put_text(std::string_view text);
    void put_texts(const std::vector<std::string>& texts);
    std::string take() { return std::move(bytes_); }

  private:
    std::string bytes_;
};

class Unpacker {
  public:
    explicit Unpacker(std::string_view bytes) : rest_(bytes) {}

    std::int64_t number();
    std::string text();
    std::vector<std::string> texts();
    // A count of things that take at least eight bytes each; more than can follow is bad.
    std::size_t count();
    // Every read so far was within the bytes.
    bool is_good() const { return is_good_; }
    bool is_at_end() const { return rest_.empty(); }

  private:
    std::string_view rest_;
    bool is_good_ = true;
};

}  // namespace berth::supervision
