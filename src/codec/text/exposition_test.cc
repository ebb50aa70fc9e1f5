// SPDX-License-Identifier: Apache-2.0
#include "codec/text/exposition.h"

#include <doctest/doctest.h>

TEST_CASE("a metric has its help and type once, and its samples behind them") {
    std::string text;
    berth::codec::Exposition metrics(text);
    metrics.metric("berth_gpus", "gauge", "GPUs by state.");
    metrics.sample("state", "idle", "2.5");
    metrics.sample("state", "used", 6);
    metrics.metric("berth_events_total", "counter", "Events of the log.");
    metrics.sample(24);
    CHECK(text ==
          "# HELP berth_gpus GPUs by state.\n"
          "# TYPE berth_gpus gauge\n"
          "berth_gpus{state=\"idle\"} 2.5\n"
          "berth_gpus{state=\"used\"} 6\n"
          "# HELP berth_events_total Events of the log.\n"
          "# TYPE berth_events_total counter\n"
          "berth_events_total 24\n");
}

TEST_CASE("no text of a label ends it") {
    std::string text;
    berth::codec::Exposition metrics(text);
    metrics.metric("m", "gauge", "M.");
    metrics.sample("project", "a\"} 1\n\\", 1);
    CHECK(text.ends_with("m{project=\"a\\\"} 1\\n\\\\\"} 1\n"));
    text.clear();
    metrics.sample("project", "a\x80\xffé", 1);
    CHECK(text == "m{project=\"a\xef\xbf\xbd\xef\xbf\xbdé\"} 1\n");
}
