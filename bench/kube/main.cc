// SPDX-License-Identifier: Apache-2.0
//
// What does it cost to keep a cluster's pods in a cache?
//   berth-bench-kube [--pods N] [--events N]      a server of its own (10000, 720000)
//   berth-bench-kube --kubeconfig FILE            the pods of that cluster, listed twice
// All pods are listed, listed again, and then changed as fast as the client takes it: 720,000
// events are an hour of 200 a second. One line of JSON. It fails when memory does not stay as it
// should, or the list after the last event is not what the cache held; CPU time is printed and left
// to the reader.
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "doubles/steady_clock.h"
#include "kube/client/caches/cache.h"
#include "kube/client/caches/reflector.h"
#include "kube/client/transport/loop_timers.h"
#include "kube/client/transport/tls_dialer.h"
#include "kube/objects/pod.h"
#include "served.h"

namespace {

using namespace berth;
using namespace berth::kube::client;
using kube::objects::Pod;

constexpr double kMoreMemoryMaxMb = 64;
constexpr double kGrowthMax = 1.05;
constexpr double kPodBytesMax = 400;

double cpu_ms() {
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    const auto ms = [](const timeval& time) {
        return 1000.0 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1000;
    };
    return ms(used.ru_utime) + ms(used.ru_stime);
}

double heap_bytes() {
    const auto heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd);
}

// Of /proc/self/status, in MB.
double memory_mb(const std::string& name) {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name)) return std::stod(line.substr(name.size() + 1)) / 1024;
    }
    return 0;
}

struct Client {
    explicit Client(const Access& to) : access(to) {
        auto made = TlsDialer::make(loop, access);
        if (!made) {
            std::fprintf(stderr, "berth-bench-kube: %s\n", made.error().message.c_str());
            std::exit(1);
        }
        dialer = std::move(*made);
        credentials = std::make_unique<Credentials>(access, nullptr, clock);
        requests = std::make_unique<Requests>(access, *dialer, *credentials, timers);
        cache = std::make_unique<Cache<Pod>>(
            [this](codec::JsonReader& reader) { return read_pod(reader, pools); },
            [this](const Pod*, const Pod*) { ++changes; });
        reflector = std::make_unique<Reflector>(*requests, timers, Resource{"/api/v1/pods"}, *cache,
                                                std::uint64_t{1});
    }

    // False when it has taken longer than anybody waits.
    bool run_until(const std::function<bool()>& is_reached) {
        const auto late = clock.now() + std::chrono::minutes(9);
        while (!is_reached()) {
            if (clock.now() > late) {
                std::fprintf(stderr, "berth-bench-kube: stuck: %s\n", reflector->trouble().c_str());
                return false;
            }
            loop.run_one_for(std::chrono::milliseconds(100));
        }
        return true;
    }
    bool list(std::uint64_t lists) {
        return run_until([&] { return reflector->counts().lists >= lists; });
    }

    boost::asio::io_context loop;
    tests::SteadyClock clock;
    LoopTimers timers{loop, clock};
    Access access;
    std::unique_ptr<TlsDialer> dialer;
    std::unique_ptr<Credentials> credentials;
    std::unique_ptr<Requests> requests;
    kube::objects::PodPools pools;
    std::uint64_t changes = 0;
    std::unique_ptr<Cache<Pod>> cache;
    std::unique_ptr<Reflector> reflector;
};

struct Figures {
    double pods = 0;
    double pod_bytes = 0;
    double list_again_cpu_ms = 0;
    double list_again_more_mb = 0;
    double events = 0;
    double event_cpu_us = 0;
    double memory_growth = 0;  // the most by the least, from a tenth of the events on
};

bool list_twice(Client& client, Figures& figures) {
    const double before = heap_bytes();
    client.reflector->start();
    if (!client.list(1)) return false;
    figures.pods = static_cast<double>(client.cache->size());
    figures.pod_bytes = (heap_bytes() - before) / figures.pods;
    std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins again
    const double resident = memory_mb("VmRSS:");
    const double used = cpu_ms();
    client.changes = 0;
    if (!client.list(2)) return false;
    figures.list_again_cpu_ms = cpu_ms() - used;
    figures.list_again_more_mb = memory_mb("VmHWM:") - resident;
    return true;
}

bool live_an_hour(Client& client, Figures& figures, std::uint64_t events) {
    const double used = cpu_ms();
    std::vector<double> heaps;
    for (std::uint64_t part = 1; part <= 20; ++part) {
        const std::uint64_t until = events * part / 20;
        if (!client.run_until([&] { return client.reflector->counts().events >= until; })) {
            return false;
        }
        if (part >= 2) heaps.push_back(heap_bytes());
    }
    figures.events = static_cast<double>(client.reflector->counts().events);
    figures.event_cpu_us = 1000 * (cpu_ms() - used) / figures.events;
    figures.memory_growth = std::ranges::max(heaps) / std::ranges::min(heaps);
    // What the watches said is what a list says.
    client.changes = 0;
    if (!client.list(3)) return false;
    if (client.changes == 0) return true;
    std::fprintf(stderr, "berth-bench-kube: %llu pods differ from a fresh list\n",
                 static_cast<unsigned long long>(client.changes));
    return false;
}

int tell(const Figures& figures) {
    std::printf(
        "{\"bench\": \"kube\", \"pods\": %.0f, \"pod_bytes\": %.0f, "
        "\"list_again_cpu_ms\": %.1f, \"list_again_more_mb\": %.1f, \"events\": %.0f, "
        "\"event_cpu_us\": %.2f, \"memory_growth\": %.3f}\n",
        figures.pods, figures.pod_bytes, figures.list_again_cpu_ms, figures.list_again_more_mb,
        figures.events, figures.event_cpu_us, figures.memory_growth);
    const bool holds = figures.list_again_more_mb <= kMoreMemoryMaxMb &&
                       figures.memory_growth <= kGrowthMax && figures.pod_bytes <= kPodBytesMax;
    if (!holds) std::fprintf(stderr, "berth-bench-kube: memory is not what it should be\n");
    return holds ? 0 : 1;
}

int measure_cluster(const std::string& path) {
    const auto text = read_small_file(path);
    if (!text) return std::fprintf(stderr, "%s\n", text.error().message.c_str()), 1;
    const Kubeconfig file{path, *text};
    const auto access = read_kubeconfig({&file, 1}, "");
    if (!access) return std::fprintf(stderr, "%s\n", access.error().message.c_str()), 1;
    Client client(*access);
    Figures figures;
    client.reflector->start();
    if (!client.list(1)) return 1;
    // Another reflector on the same cache: nothing changes, all of it is read.
    Reflector again(*client.requests, client.timers, {"/api/v1/pods"}, *client.cache, 2);
    std::ofstream("/proc/self/clear_refs") << "5";
    const double resident = memory_mb("VmRSS:");
    const double used = cpu_ms();
    again.start();
    if (!client.run_until([&] { return again.counts().lists == 1; })) return 1;
    figures.list_again_cpu_ms = cpu_ms() - used;
    figures.list_again_more_mb = memory_mb("VmHWM:") - resident;
    figures.pods = static_cast<double>(client.cache->size());
    return tell(figures);
}

std::uint64_t number(const std::string& text) {
    std::uint64_t value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

}  // namespace

int main(int count, char** values) {
    const std::vector<std::string> words(values + 1, values + count);
    int pods = 10'000;
    std::uint64_t events = 720'000;
    for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
        if (words[at] == "--kubeconfig") return measure_cluster(words[at + 1]);
        if (words[at] == "--pods") pods = static_cast<int>(number(words[at + 1]));
        if (words[at] == "--events") events = number(words[at + 1]);
    }
    const bench::Served served = bench::serve(pods, events);
    Access access;
    access.host = "127.0.0.1";
    access.port = served.port;
    access.ca_pem = served.ca_pem;
    Figures figures;
    bool holds = false;
    {
        Client client(access);
        holds = list_twice(client, figures) && live_an_hour(client, figures, events);
    }
    bench::end(served);
    return holds ? tell(figures) : 1;
}
