// SPDX-License-Identifier: Apache-2.0
#include "kube/scheduler/shown/histogram.h"

#include <doctest/doctest.h>

using namespace std::chrono_literals;
using berth::kube::scheduler::Histogram;

namespace {

std::string text_of(const Histogram& histogram) {
    std::string text;
    histogram.append(text, "wait_seconds");
    return text;
}

}  // namespace

TEST_CASE("a bucket counts what took as long or less, the last one everything") {
    Histogram histogram;
    for (const auto time : {70'000ns, 100'000ns, 100'001ns, 4'900'000ns, 5'000'000ns}) {
        histogram.add(time);
    }
    histogram.add(2s);
    histogram.add(1min);
    CHECK(text_of(histogram) ==
          "wait_seconds_bucket{le=\"0.00001\"} 0\n"
          "wait_seconds_bucket{le=\"0.00002\"} 0\n"
          "wait_seconds_bucket{le=\"0.00005\"} 0\n"
          "wait_seconds_bucket{le=\"0.0001\"} 2\n"
          "wait_seconds_bucket{le=\"0.0002\"} 3\n"
          "wait_seconds_bucket{le=\"0.0005\"} 3\n"
          "wait_seconds_bucket{le=\"0.001\"} 3\n"
          "wait_seconds_bucket{le=\"0.002\"} 3\n"
          "wait_seconds_bucket{le=\"0.005\"} 5\n"
          "wait_seconds_bucket{le=\"0.01\"} 5\n"
          "wait_seconds_bucket{le=\"0.02\"} 5\n"
          "wait_seconds_bucket{le=\"0.05\"} 5\n"
          "wait_seconds_bucket{le=\"0.1\"} 5\n"
          "wait_seconds_bucket{le=\"0.2\"} 5\n"
          "wait_seconds_bucket{le=\"0.5\"} 5\n"
          "wait_seconds_bucket{le=\"1\"} 5\n"
          "wait_seconds_bucket{le=\"2\"} 6\n"
          "wait_seconds_bucket{le=\"5\"} 6\n"
          "wait_seconds_bucket{le=\"+Inf\"} 7\n"
          "wait_seconds_sum 62.010171\n"
          "wait_seconds_count 7\n");
}

TEST_CASE("histograms add up") {
    Histogram one, other, both;
    one.add(1ms);
    other.add(1s);
    both.add(1s);
    both.add(1ms);
    one.add(other);
    CHECK(text_of(one) == text_of(both));
}
