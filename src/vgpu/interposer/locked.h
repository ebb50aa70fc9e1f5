// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

namespace berth::vgpu::interposer {

// Holds the mutex while it lives.
class Locked {
  public:
    explicit Locked(pthread_mutex_t& lock) : lock_(lock) { ::pthread_mutex_lock(&lock_); }
    ~Locked() { ::pthread_mutex_unlock(&lock_); }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;

  private:
    pthread_mutex_t& lock_;
};

}  // namespace berth::vgpu::interposer
