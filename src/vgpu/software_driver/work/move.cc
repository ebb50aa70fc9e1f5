// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/work/move.h"

#include <cstring>
#include <vector>

#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/memory/allocate.h"

namespace berth::vgpu::software_driver {
namespace {

std::size_t row_offset(const Place& place, std::size_t row, std::size_t layer) {
    return (layer * place.layer_rows + row) * place.pitch;
}

// One row of the place; null where it has no contents.
void* row_at(Driver& driver, const Place& place, std::size_t offset, std::size_t width) {
    const std::uintptr_t address = place.address + offset;
    if (!place.is_device) return reinterpret_cast<void*>(address);
    return contents_at(driver, address, width);
}

template <class Row>
void for_each_row(const Box& box, Row row) {
    for (std::size_t layer = 0; layer < box.layers; ++layer)
        for (std::size_t i = 0; i < box.rows; ++i) row(i, layer);
}

void copy_box(Driver& driver, const Copy& copy) {
    const Place& to = copy.to;
    const Place& from = copy.from;
    const Box& box = copy.box;
    for_each_row(box, [&](std::size_t row, std::size_t layer) {
        void* target = row_at(driver, to, row_offset(to, row, layer), box.width);
        const void* source = row_at(driver, from, row_offset(from, row, layer), box.width);
        if (target == nullptr) return;
        if (source == nullptr)
            std::memset(target, 0, box.width);
        else
            std::memmove(target, source, box.width);
    });
}

void fill_row(char* target, std::size_t width, std::uint32_t value, std::size_t unit_bytes) {
    if (unit_bytes == 1) {
        std::memset(target, static_cast<int>(value & 255U), width);
        return;
    }
    for (std::size_t at = 0; at + unit_bytes <= width; at += unit_bytes)
        std::memcpy(target + at, &value, unit_bytes);
}

Direction direction_of(const Place& to, const Place& from) {
    if (to.is_device && from.is_device) return Direction::WithinDevice;
    return to.is_device ? Direction::HostToDevice : Direction::DeviceToHost;
}

// What pageable memory holds now, packed.
std::shared_ptr<std::vector<char>> staged(const Place& from, const Box& box) {
    auto bytes = std::make_shared<std::vector<char>>(box.bytes());
    char* next = bytes->data();
    for_each_row(box, [&](std::size_t row, std::size_t layer) {
        std::memcpy(next,
                    reinterpret_cast<const char*>(from.address) + row_offset(from, row, layer),
                    box.width);
        next += box.width;
    });
    return bytes;
}

}  // namespace

Place device_place(CUdeviceptr pointer, std::size_t pitch, std::size_t layer_rows) {
    return {static_cast<std::uintptr_t>(pointer), true, pitch, layer_rows};
}

Place host_place(const void* pointer, std::size_t pitch, std::size_t layer_rows) {
    return {reinterpret_cast<std::uintptr_t>(pointer), false, pitch, layer_rows};
}

Place any_place(Driver& driver, CUdeviceptr pointer) {
    const Allocation* allocation = driver.memory.find(pointer);
    const bool is_device = allocation != nullptr && allocation->origin != Origin::Host;
    return {static_cast<std::uintptr_t>(pointer), is_device, 0, 0};
}

bool is_inside(Driver& driver, const Place& place, const Box& box) {
    if (!place.is_device || box.bytes() == 0) return true;
    const std::size_t extent = row_offset(place, box.rows - 1, box.layers - 1) + box.width;
    return driver.memory.behind(place.address, extent) != AddressSpace::Behind::Nothing;
}

bool is_pageable(Driver& driver, const Place& place) {
    return !place.is_device && driver.memory.find(place.address) == nullptr;
}

Operation copy_operation(Driver& driver, const Copy& wanted, ReadHost when) {
    const auto& [to, from, box] = wanted;
    Operation copy;
    copy.bytes = to.is_device || from.is_device ? box.bytes() : 0;
    copy.direction = direction_of(to, from);
    if (when == ReadHost::Now && to.is_device && is_pageable(driver, from)) {
        const auto bytes = staged(from, box);
        const Place packed = host_place(bytes->data(), box.width, box.rows);
        copy.effect = [&driver, packed = Copy{to, packed, box}, bytes] {
            copy_box(driver, packed);
        };
    } else {
        copy.effect = [&driver, wanted] { copy_box(driver, wanted); };
    }
    return copy;
}

Operation fill_operation(Driver& driver, const Place& to, const Box& box, std::uint32_t value,
                         std::size_t unit_bytes) {
    Operation fill;
    fill.node_type = CU_GRAPH_NODE_TYPE_MEMSET;
    fill.bytes = box.bytes();
    fill.effect = [&driver, to, box, value, unit_bytes] {
        for_each_row(box, [&](std::size_t row, std::size_t layer) {
            void* target = row_at(driver, to, row_offset(to, row, layer), box.width);
            if (target != nullptr)
                fill_row(static_cast<char*>(target), box.width, value, unit_bytes);
        });
    };
    return fill;
}

}  // namespace berth::vgpu::software_driver
