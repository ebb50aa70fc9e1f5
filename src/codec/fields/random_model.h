// SPDX-License-Identifier: Apache-2.0
//
// For tests: random values of every described type and of what it consists of, with texts that hold
// any bytes at all; and events of every kind.
#pragma once

#include <string>
#include <vector>

#include "base/rng.h"
#include "codec/fields/event_fields.h"

namespace berth::codec {

enum class Amounts { Any, Sensible };  // Sensible: not negative, below 2^50

class RandomModel {
  public:
    explicit RandomModel(std::uint64_t seed, Amounts amounts = Amounts::Any)
        : rng_(seed), amounts_(amounts) {}

    template <typename T>
    T any() {
        T value{};
        fill(value);
        return value;
    }

    model::Event event(std::int64_t sequence) {
        model::Event event{sequence, any<model::TimePoint>(), text(), {}};
        fill_body(event.body, rng_.index(std::variant_size_v<model::EventBody>));
        return event;
    }

    // Any bytes but NUL.
    std::string text() {
        std::string text;
        for (std::int64_t i = rng_.between(0, 6); i > 0; --i) {
            switch (rng_.between(0, 4)) {
                case 0: text += static_cast<char>(rng_.between(1, 255)); break;
                case 1: text += "\"\\/\n\t\x01\x7f"[rng_.index(7)]; break;
                case 2: text += "\xf0\x9f\x9a\x80\\udc80é"; break;
                case 3: text += "\xed\xb2\x80\xc0\xaf\xf4\x90"; break;  // looks like Unicode only
                default: text += "name-" + std::to_string(rng_.between(0, 99));
            }
        }
        return text;
    }

  private:
    bool flag() { return rng_.chance(1, 2); }
    std::int64_t large() {
        if (amounts_ == Amounts::Sensible) return rng_.between(0, 1LL << 50);
        return flag() ? rng_.between(0, 9) : static_cast<std::int64_t>(rng_.next());
    }

    void fill(std::string& value) { value = text(); }
    void fill(bool& value) { value = flag(); }
    void fill(int& value) { value = static_cast<int>(rng_.between(-3, 70)); }
    void fill(std::int64_t& value) { value = large(); }
    void fill(std::uint64_t& value) { value = rng_.next(); }
    void fill(model::JobId& id) { id = {rng_.between(-1, 1'000'000)}; }
    void fill(model::NodeId& id) {
        id = {static_cast<std::uint32_t>(rng_.next() >> rng_.between(32, 63))};
    }
    void fill(model::TimePoint& time) {
        time = base::at_ms(flag() ? 0 : rng_.between(-9, 1LL << 42));
    }
    void fill(model::Duration& time) { time = model::Duration{rng_.between(0, 90'000)}; }
    template <typename Tag>
    void fill(base::Quantity<Tag>& amount) {
        amount.value = large();
    }
    template <Worded E>
    void fill(E& value) {
        value = static_cast<E>(rng_.index(kWords<E>.size()));
    }
    template <typename T>
    void fill(std::optional<T>& value) {
        if (flag()) fill(value.emplace());
    }
    template <typename T>
    void fill(std::vector<T>& values) {
        values.resize(rng_.index(4));
        for (T& value : values) fill(value);
    }
    template <typename T>
    void fill(std::map<std::string, T>& values) {
        for (std::int64_t i = rng_.between(0, 3); i > 0; --i) fill(values[text()]);
    }
    template <Described T>
    void fill(T& value) {
        Fields<T>::visit([&](std::string_view, auto member) { fill(value.*member); });
    }
    template <std::size_t Index = 0>
    void fill_body(model::EventBody& body, std::size_t index) {
        if constexpr (Index < std::variant_size_v<model::EventBody>) {
            if (index != Index) return fill_body<Index + 1>(body, index);
            fill(body.emplace<Index>());
        }
    }

    base::Rng rng_;
    Amounts amounts_;
};

}  // namespace berth::codec
