// SPDX-License-Identifier: Apache-2.0
#include "vgpu/software_driver/context.h"

#include <algorithm>
#include <vector>

#include "vgpu/device/memory.h"
#include "vgpu/software_driver/current_contexts.h"
#include "vgpu/software_driver/driver.h"
#include "vgpu/software_driver/memory/allocate.h"

namespace berth::vgpu::software_driver {
namespace {

template <class T>
void remove_all(Registry<T>& registry, const Context& context) {
    registry.remove_if([&](const T& object) { return object.context == &context; });
}

void free_memory(Driver& driver, const Context& context) {
    std::vector<Allocation> own;
    for (const auto& [begin, allocation] : driver.memory.allocations())
        if (allocation.context == &context) own.push_back(allocation);
    for (const Allocation& allocation : own) deallocate(driver, allocation);
}

}  // namespace

std::vector<Context*>& current_contexts() {
    thread_local std::vector<Context*> stack;
    return stack;
}

Context* current_context(Driver& driver) {
    const auto& stack = current_contexts();
    return stack.empty() ? nullptr : driver.contexts.find(stack.back());
}

Context* make_context(Driver& driver, CUdevice device, unsigned int flags) {
    const std::uint32_t gpu = driver.gpus[static_cast<std::size_t>(device)].number;
    if (!device::add_context(*driver.state, driver.process, gpu)) return nullptr;
    Context* context = driver.contexts.add(std::make_unique<Context>());
    context->device = device;
    context->flags = flags;
    context->id = driver.work.next_id++;
    context->legacy = make_stream(driver, *context, CU_STREAM_DEFAULT, 0);
    return context;
}

void destroy_context(Driver& driver, Context& context) {
    for (const auto& [handle, stream] : driver.streams)
        if (stream->context == &context) destroy_stream(driver, *stream);
    std::erase_if(driver.work.active,
                  [&](const Stream* stream) { return stream->context == &context; });
    remove_all(driver.streams, context);
    remove_all(driver.events, context);
    remove_all(driver.arrays, context);
    remove_all(driver.mipmapped_arrays, context);
    driver.functions.remove_if(
        [&](const Function& function) { return function.module->context == &context; });
    remove_all(driver.modules, context);
    free_memory(driver, context);
    const std::uint32_t gpu = driver.gpus[static_cast<std::size_t>(context.device)].number;
    device::remove_context(*driver.state, driver.process, gpu);
    for (const auto& [handle, other] : driver.contexts) other->peers.erase(&context);
    driver.contexts.remove(&context);
}

}  // namespace berth::vgpu::software_driver
