// SPDX-License-Identifier: Apache-2.0
//
// Do the reports say what was measured, in the form that was promised?
#include "simulation/report/report.h"

#include <doctest/doctest.h>

#include "codec/text/json.h"
#include "reference/named.h"
#include "simulation/report/chart_file.h"
#include "simulation/report/gpu_picture.h"
#include "simulation/report/line_chart.h"

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
    CHECK(figure("pauses") == "0");
    CHECK(figure("moves") == "0");
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
    CHECK(page.find("<title>&lt;b&gt;&amp;&quot; and srsf compared on a &lt; b</title>") !=
          std::string::npos);
    CHECK(page.find("srsf (reference: not what the server runs)") != std::string::npos);
}

TEST_CASE("the page can be read aloud: tables have headers, pictures say what they show") {
    std::vector<Run> all = runs();
    all[0].is_reference = false;
    all[0].policy = "age";
    const std::string page = html_report(experiment(), all, "t");
    const auto has = [&](std::string_view text) {
        INFO(text);
        CHECK(page.find(text) != std::string::npos);
    };
    has("<html lang=\"en\">");
    has("<th scope=\"row\">age</th>");
    has("scope=\"colgroup\" colspan=\"4\">Completion time</th>");
    has("scope=\"rowgroup\" colspan=\"14\">reference: not what the server runs</th>");
    has("age: half of the jobs within 15s, 95% within 20s");
    has("age: 100% in use on average");
    has("age: 1 job on average, 1 at most");
    has("2 jobs on 1 GPU. From the first submission to the last end: 20s.");
    has("<dt>Finish-time fairness</dt>");
    // Every picture is either described or hidden from those who listen.
    std::size_t pictures = 0;
    for (std::size_t at = 0; (at = page.find("<svg", at)) != std::string::npos; ++at) {
        const std::string tag = page.substr(at, page.find('>', at) - at);
        const bool is_described = tag.find("role=\"img\" aria-label=\"") != std::string::npos;
        CHECK_MESSAGE((is_described || tag.find("aria-hidden") != std::string::npos), tag);
        ++pictures;
    }
    CHECK(pictures == 3 * 3 + 2);  // a chart and two keys, thrice; a picture for each run
}

TEST_CASE("the page has one word for a thing: pauses and waits, as the table and the documents") {
    std::string page = html_report(experiment(), runs(), "t");
    for (const char* foreign :
         {"preempt", "Preempt", "requeue", "pending", "Pending", "ueue", "cluster", "Cluster"}) {
        INFO(foreign);
        CHECK(page.find(foreign) == std::string::npos);
    }
    CHECK(page.find("<dt>Pauses</dt>") != std::string::npos);
}

TEST_CASE("where no job finished the page says so, and tells no times") {
    const Trace wide{{base::at_ms(0), std::chrono::seconds(10), 2, "", "", ""}};
    const Experiment stuck{wide, {1, 1}, Placement::Count};
    const auto order = reference::order_named("fifo", {.gpus = 1, .sizes = {}});
    Run run{.policy = "fifo", .replay = replay(stuck, **order), .metrics = {}};
    run.metrics = measure(stuck, run.replay);
    const std::string page = html_report(stuck, std::vector<Run>{run, run}, "t");
    CHECK(page.find("No job finished.") != std::string::npos);
    CHECK(page.find("<td class=\"first\">none</td>") != std::string::npos);
    for (const char* time : {"0s", "1s.", "<strong>", "<figure>"}) {
        const std::string_view body = std::string_view(page).substr(page.find("<p>1 job on"));
        INFO(time);
        CHECK(body.substr(0, body.find("<details>")).find(time) == std::string::npos);
    }
}

TEST_CASE("of several policies of a server the best of a column is strong, references never") {
    std::vector<Run> all = runs();
    for (Run& run : all) run.is_reference = false;
    all[0].metrics.avg_jct_s = 10;
    all[1].metrics.avg_jct_s = 16;
    std::string page = html_report(experiment(), all, "t");
    CHECK(
        page.find("Shortest average completion time: <strong>fifo</strong> with 10s, 38% less than "
                  "srsf with 16s.") != std::string::npos);
    CHECK(page.find("<td class=\"first\"><strong>10s</strong>") != std::string::npos);
    CHECK(page.find("<strong>16s") == std::string::npos);
    all[0].is_reference = true;
    page = html_report(experiment(), all, "t");
    CHECK(page.find("<strong>") == std::string::npos);
}

TEST_CASE("GPUs that jobs share are drawn as such, the others by their job") {
    Trace two = kTrace;
    for (TraceJob& job : two) job.share = base::MilliGpu{500};
    const Experiment shared{two, {2, 1}, Placement::Count, Duration{}};
    Run run{.policy = "age", .replay = {}, .metrics = {}};
    run.replay.intervals = {{0, base::at_ms(0), base::at_ms(10'000), 0},
                            {1, base::at_ms(5'000), base::at_ms(20'000), 1}};
    run.replay.gpus = {0, 0};
    const std::string picture = gpu_picture(shared, run, {0, 20});
    // From 0 to 5 s the first, to 10 s both, to 20 s the second: quarters of 644, and a half.
    CHECK(picture.find("class=\"job0\" stroke-width=\"15\" d=\"M64 8h161\"") != std::string::npos);
    CHECK(picture.find("class=\"shared\" stroke-width=\"15\" d=\"M225 8h161\"") !=
          std::string::npos);
    CHECK(picture.find("class=\"job1\" stroke-width=\"15\" d=\"M386 8h322\"") != std::string::npos);
    CHECK(picture.find(">node 2</text>") != std::string::npos);
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
