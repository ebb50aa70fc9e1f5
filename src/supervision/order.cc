// SPDX-License-Identifier: Apache-2.0
#include "supervision/order.h"

#include "supervision/packing.h"

namespace berth::supervision {
namespace {

// Raised with every change of the layout: a server that is being upgraded may start a supervisor
// newer than itself, which must refuse rather than misread.
constexpr std::int64_t kVersion = 0x62727468'000a;

}  // namespace

std::string log_path(const std::string& file_prefix, int task) {
    return file_prefix + ".task-" + std::to_string(task) + ".log";
}

std::string pack(const Order& order) {
    Packer out;
    out.put(kVersion);
    out.put_text(order.cluster);
    out.put_text(order.runtime);
    out.put(order.job);
    out.put(order.attempt);
    out.put_text(order.job_name);
    out.put_text(order.project);
    out.put(order.resumes);
    out.put_text(order.boot);
    out.put_text(order.file_prefix);
    out.put_text(order.checkpoint_dir);
    out.put_text(order.saved_file);
    out.put(order.log_limit);
    out.put(order.umask);
    out.put_text(order.workdir);
    out.put_text(order.freezer);
    out.put_text(order.arbiter);
    out.put_text(order.pause_signal);
    out.put(order.grace_ms);
    out.put(order.terminal);
    out.put(order.attached);
    out.put_texts(order.command);
    out.put_texts(order.environment);
    out.put(static_cast<std::int64_t>(order.tasks.size()));
    for (const TaskOrder& task : order.tasks) {
        out.put(task.rank);
        out.put(task.local_rank);
        out.put(task.local_tasks);
        out.put(task.node_rank);
        out.put_text(task.gpu_indices);
        out.put_text(task.visible_devices);
        out.put_text(task.group);
        out.put_text(task.control_group);
        out.put_texts(task.environment);
    }
    return out.take();
}

std::optional<Order> unpack_order(std::string_view bytes) {
    Unpacker in(bytes);
    if (in.number() != kVersion) return std::nullopt;
    Order order;
    order.cluster = in.text();
    order.runtime = in.text();
    order.job = in.number();
    order.attempt = static_cast<int>(in.number());
    order.job_name = in.text();
    order.project = in.text();
    order.resumes = in.number() != 0;
    order.boot = in.text();
    order.file_prefix = in.text();
    order.checkpoint_dir = in.text();
    order.saved_file = in.text();
    order.log_limit = in.number();
    order.umask = in.number();
    order.workdir = in.text();
    order.freezer = in.text();
    order.arbiter = in.text();
    order.pause_signal = in.text();
    order.grace_ms = in.number();
    order.terminal = in.number() != 0;
    order.attached = in.number() != 0;
    order.command = in.texts();
    order.environment = in.texts();
    order.tasks.resize(in.count());
    for (TaskOrder& task : order.tasks) {
        task.rank = static_cast<int>(in.number());
        task.local_rank = static_cast<int>(in.number());
        task.local_tasks = static_cast<int>(in.number());
        task.node_rank = static_cast<int>(in.number());
        task.gpu_indices = in.text();
        task.visible_devices = in.text();
        task.group = in.text();
        task.control_group = in.text();
        task.environment = in.texts();
    }
    if (!in.is_good() || !in.is_at_end()) return std::nullopt;
    return order;
}

}  // namespace berth::supervision
