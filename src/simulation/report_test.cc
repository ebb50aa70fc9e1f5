// SPDX-License-Identifier: Apache-2.0
//
// Do the reports say what was measured, in the form that was promised?
#include "simulation/report.h"

#include <doctest/doctest.h>

#include "codec/json.h"
#include "reference/named.h"
#include "simulation/chart_file.h"
#include "simulation/line_chart.h"

namespace berth::simulation {
namespace {

const Trace kTrace{{base::at_ms(0), std::chrono::seconds(10), 1, "", "", ""},
                   {base::at_ms(0), std::chrono::seconds(10), 1, "", "", ""}};

const Experiment& experiment() {
    static const Experiment whole{kTrace, {1, 1}, Placement::Count, Duration{}};
    return whole;
}

std::vector<Run> runs() {
    std::vector<Run> all;
    for (const std::string policy : {"fifo", "srsf"}) {
        const auto order = reference::order_named(policy, {.gpus = 1, .sizes = {}});
        Run run{.policy = policy, .replay = replay(experiment(), **order), .metrics = {}};
        run.metrics = measure(experiment(), run.replay);
        run.is_reference = true;
        all.push_back(std::move(run));
    }
    return all;
}

}  // namespace

TEST_CASE("JSON: a list with one object for each policy, figures by name") {
    const auto report = codec::parse_json(json_report(runs()), "report");
    REQUIRE(report);
    REQUIRE(report->items.size() == 2);
    const codec::Value& fifo = report->items[0];
    const auto figure = [&](const char* key) {
        const codec::Value* value = fifo.find(key);
        REQUIRE_MESSAGE(value, key);
        return value->text;
    };
    CHECK(figure("policy") == "fifo");
    CHECK(figure("reference") == "true");
    CHECK(figure("jobs") == "2");
    CHECK(figure("finished") == "2");
    CHECK(figure("avg_jct_s") == "15");
    CHECK(figure("median_jct_s") == "15");
    CHECK(figure("p95_jct_s") == "19.5");
    CHECK(figure("p99_jct_s") == "19.9");
    CHECK(figure("max_jct_s") == "20");
    CHECK(figure("makespan_s") == "20");
    CHECK(figure("avg_queue_s") == "5");
    CHECK(figure("preemptions") == "0");
    CHECK(figure("utilization") == "1");
    CHECK(figure("rho_mean") == "0.916667");
    CHECK(figure("rho_max") == "1.333333");
}

TEST_CASE("the page stands alone: nothing is fetched, nothing is run, names are escaped") {
    std::vector<Run> all = runs();
    all[0].policy = "<b>&\"";
    const std::string page = html_report(experiment(), all, "a < b");
    CHECK(page.starts_with("<!doctype html>"));
    for (const char* foreign : {"http", "<script", "url(", "@import", "<b>"}) {
        INFO(foreign);
        CHECK(page.find(foreign) == std::string::npos);
    }
    CHECK(page.find("&lt;b&gt;&amp;&quot;") != std::string::npos);
    CHECK(page.find("<title>a &lt; b</title>") != std::string::npos);
    CHECK(page.find("srsf (reference, no server runs it)") != std::string::npos);
}

TEST_CASE("a chart can be a file of its own, with its title, its lines' names and its colours") {
    std::vector<Run> all = runs();
    all[0].policy = "a < b";
    const std::string file = chart_file(use_chart(experiment(), all, {0, 20}));
    CHECK(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(file.find("share of GPUs in use over time") != std::string::npos);
    CHECK(file.find(">a &lt; b</text>") != std::string::npos);
    CHECK(file.find("--c0:") != std::string::npos);
    CHECK(file.find("<script") == std::string::npos);
}

TEST_CASE("what happens after the end of a chart over time is not in it") {
    const std::vector<Run> all = runs();
    const Chart chart = waiting_chart(all, {0, 5});
    // One of two jobs waits for ten seconds.
    for (const Point& point : chart.lines[0].points) CHECK(point.y == doctest::Approx(1));
}

TEST_CASE("a chart puts points where they belong") {
    const Axes axes{.title = "t",
                    .x_scale = Scale::Log,
                    .x_from = 1,
                    .x_to = 100,
                    .y_to = 4,
                    .x_ticks = {10},
                    .x_text = coordinate,
                    .y_text = coordinate};
    const std::vector<Line> lines{{"a", {{1, 0}, {10, 2}, {100, 4}}}};
    // 720 x 260 with margins of 64, 12, 12 and 32: ten is half way between one and a hundred.
    CHECK(line_chart(axes, lines).find("d=\"M64 228L386 120L708 12\"") != std::string::npos);
    CHECK(coordinate(1.25) == "1.3");
    CHECK(coordinate(-0.04) == "0");
}

}  // namespace berth::simulation
