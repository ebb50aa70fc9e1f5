// SPDX-License-Identifier: Apache-2.0
#include "adapters/nvml/pci_places.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace berth::nvml {
namespace {

namespace fs = std::filesystem;

// The bridges on the way from the processor to a device, and the device.
using Way = std::vector<std::string>;

// What comes behind "devices": "pci0000:3a", "0000:3a:01.0", "0000:3b:00.0".
Way way_to(const fs::path& link) {
    std::error_code unknown;
    const fs::path path = fs::canonical(link, unknown);
    Way way;
    if (unknown) return way;
    for (const fs::path& part : path) {
        const std::string name = part.string();
        const bool is_bridge = name.starts_with("pci") && name.find(':') != std::string::npos;
        if (!way.empty() || is_bridge) way.push_back(name);
    }
    return way;
}

std::size_t shared_part(const Way& one, const Way& other) {
    const auto [end, unused] = std::ranges::mismatch(one, other);
    return static_cast<std::size_t>(end - one.begin());
}

struct Card {
    std::string name;
    Way way;
    int users = 0;
};

// "mlx5_10" behind "mlx5_9".
bool is_before(const Card& one, const Card& other) {
    return std::pair(one.name.size(), one.name) < std::pair(other.name.size(), other.name);
}

std::vector<Card> read_cards(const std::string& sys_directory) {
    std::vector<Card> cards;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(sys_directory + "/class/infiniband", none)) {
        const fs::path device = entry.path() / "device";
        // A virtual function is a part of a card that is listed as well.
        if (fs::exists(device / "physfn", none)) continue;
        cards.push_back({entry.path().filename().string(), way_to(device)});
    }
    std::ranges::sort(cards, is_before);
    return cards;
}

int nearest(std::vector<Card>& cards, const Way& way) {
    Card* best = nullptr;
    std::size_t most = 0;
    for (Card& card : cards) {
        const std::size_t shared = shared_part(card.way, way);
        if (shared == 0 || shared < most) continue;
        if (shared == most && card.users >= best->users) continue;
        best = &card;
        most = shared;
    }
    if (best == nullptr) return -1;
    ++best->users;
    return static_cast<int>(best - cards.data());
}

}  // namespace

PciPlaces read_pci_places(std::span<const std::string> addresses,
                          const std::string& sys_directory) {
    PciPlaces places;
    std::vector<Card> cards = read_cards(sys_directory);
    for (const std::string& address : addresses) {
        const fs::path device = fs::path(sys_directory) / "bus/pci/devices" / address;
        int node = -1;
        if (!address.empty()) std::ifstream(device / "numa_node") >> node;
        places.numa.push_back(std::max(node, -1));
        places.nics.push_back(address.empty() ? -1 : nearest(cards, way_to(device)));
    }
    return places;
}

}  // namespace berth::nvml
