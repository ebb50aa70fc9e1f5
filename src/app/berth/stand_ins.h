// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>

#include "ports/clock.h"
#include "ports/gpu_inventory.h"
namespace berth::app {
class WallClock final : public ports::Clock {
  public:
    base::TimePoint now() const override {
        using namespace std::chrono;
        return base::at_ms(
            duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count());
    }
};
class PlainInventory final : public ports::GpuInventory {
  public:
    explicit PlainInventory(const std::string& text) {
        // [NODESx]GPUSxMEM
        std::vector<std::string> parts(1);
        for (char c : text) {
            if (c == 'x')
                parts.emplace_back();
            else
                parts.back() += c;
        }
        int nodes = parts.size() == 3 ? std::stoi(parts[0]) : 1;
        int gpus = std::stoi(parts[parts.size() - 2]);
        for (int i = 0; i < nodes; ++i) {
            model::Node node;
            node.name = "sim" + std::to_string(i + 1);
            node.gpus = gpus;
            node.gpu_model = "SIM";
            node.gpu_memory = *base::parse_bytes(parts.back());
            nodes_.push_back(node);
        }
    }
    base::Result<std::vector<model::Node>> discover() override { return nodes_; }
    base::Result<std::vector<ports::GpuReading>> read() override {
        return std::vector<ports::GpuReading>{};
    }

  private:
    std::vector<model::Node> nodes_;
};
}  // namespace berth::app
