// SPDX-License-Identifier: Apache-2.0
//
// Are the public trace formats read as their authors mean them?
#include "simulation/trace/trace.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <string>

namespace berth::simulation {
namespace {

ParsedTrace parse_all(std::string_view text, std::string_view format = "",
                      std::string_view columns = "") {
    const auto own = parse_columns(columns);
    REQUIRE_MESSAGE(own, own.error().message);
    auto trace = parse_trace(text, {.file = "t.csv", .format = format, .columns = *own});
    REQUIRE_MESSAGE(trace, trace.error().message);
    return *trace;
}

Trace parse(std::string_view text, std::string_view format = "", std::string_view columns = "") {
    return parse_all(text, format, columns).jobs;
}

std::string gzipped(const std::string& text) {
    std::string out(text.size() + 100, '\0');
    z_stream stream{};
    REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    std::string copy = text;
    stream.next_in = reinterpret_cast<Bytef*>(copy.data());
    stream.avail_in = static_cast<uInt>(copy.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
    out.resize(stream.total_out);
    deflateEnd(&stream);
    return out;
}

std::string error_of(std::string_view text, std::string_view format = "",
                     std::string_view columns = "") {
    const auto own = parse_columns(columns);
    REQUIRE_MESSAGE(own, own.error().message);
    const auto trace = parse_trace(text, {.file = "t.csv", .format = format, .columns = *own});
    return trace ? "" : trace.error().message;
}

}  // namespace

TEST_CASE("Muri's milliseconds become whole seconds: submission down, duration up") {
    const Trace trace = parse(
        "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration\n"
        "0,4,1999,10,bert,4,2001\n"
        "1,4,3500,10,bert,4,1\n");
    REQUIRE(trace.size() == 2);
    CHECK(trace[0].submitted == base::at_ms(0));
    CHECK(trace[1].submitted == base::at_ms(2000));  // from 1 s to 3 s
    CHECK(trace[0].work == Duration{3000});
    CHECK(trace[1].work == Duration{1000});
    CHECK(trace[0].gpus == 4);
    CHECK(trace[0].name == "bert");
}

TEST_CASE("a profile has columns of its own, whatever the format") {
    const Profile muri =
        parse(
            "job_id,num_gpu,submit_time,model_name,batch_size,duration,iteration_time,"
            "resource_time_0,resource_time_1,resource_time_2\n"
            "0,4,1999,bert,4,2001,190,0.5,163,18\n")[0]
            .profile;
    CHECK(muri == Profile{.iteration_ms = 190, .input_ms = 0.5, .gpu_ms = 163, .network_ms = 18});
    const Profile ours = parse(
                             "submit_s,duration_s,gpus,sm_percent,memory_percent\n"
                             "0,10,1,45,\n")[0]
                             .profile;
    CHECK(ours.sm_percent == 45);
    CHECK(ours.memory_percent == Profile::kUnknown);
    CHECK_FALSE(ours.has_stages());
    CHECK(error_of("submit_s,duration_s,gpus,sm_percent\n0,10,1,120\n") ==
          "t.csv:2: sm_percent: wanted a number from 0 to 100, found \"120\"");
}

TEST_CASE("Tiresias, Philly, Shockwave and our own are found by their columns") {
    CHECK(parse("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
                "0,8,30,133,vgg11,147,23\n")[0]
              .work == std::chrono::seconds(147));
    const Trace philly = parse(
        "timestamp,duration,num_gpus,gpu_time,cluster\r\n"
        "1970-01-02 00:00:01,66.5,1,66.0,11cb48\r\n"
        "1970-01-01 00:00:00,1,1,1,11cb48\r\n\r\n");
    REQUIRE(philly.size() == 2);
    CHECK(philly[1].submitted == base::at_ms(86'401'000));
    CHECK(philly[1].work == Duration{66'500});
    CHECK(philly[1].project == "11cb48");
    CHECK(parse("job_type,scale_factor,duration_s,arrival_time_s\nLM,2,10,5\n")[0].gpus == 2);
    const Trace own = parse("submit_s,duration_s,gpus,user\n2,10,1,\"maria, m\"\n1,10,1,tom\n");
    CHECK(own[0].user == "tom");  // in order of submission
    CHECK(own[1].user == "maria, m");
}

TEST_CASE("names of columns are found in any case, behind a byte order mark, by any separator") {
    const std::string_view headers[] = {"submit_s,duration_s,gpus", "Submit_S,DURATION_S,GPUs",
                                        "\xef\xbb\xbfsubmit,duration,gpus",
                                        "\"submit\" , \"Duration\",GPUS"};
    for (const std::string_view header : headers) {
        for (const char separator : {',', ';', '\t', '|'}) {
            for (const std::string_view end : {"\n", "\r\n"}) {
                std::string text = std::string(header) + "\n5,70,2";
                if (separator == '|') std::erase(text, '"');
                std::ranges::replace(text, ',', separator);
                for (std::size_t at = 0; (at = text.find('\n', at)) != std::string::npos;
                     at += end.size()) {
                    text.replace(at, 1, end);
                }
                INFO(text);
                const Trace trace = parse(text);
                REQUIRE(trace.size() == 1);
                CHECK(trace[0].work == std::chrono::seconds(70));
                CHECK(trace[0].gpus == 2);
            }
        }
    }
    CHECK(error_of("\xff\xfes\0u\0b\0") ==
          "t.csv:1: found text in UTF-16, wanted UTF-8; save the file as UTF-8");
}

TEST_CASE("a user's own columns are named by --columns, in any case") {
    const std::string text = "Begin;GPU count;Run time;Team\n2024-05-01;4;1:00:00;vision\n";
    const Trace trace =
        parse(text, "", "submit=begin,gpus=GPU COUNT,duration=Run time,project=Team");
    CHECK(trace[0].gpus == 4);
    CHECK(trace[0].work == std::chrono::hours(1));
    CHECK(trace[0].project == "vision");
    // The others are those of the format that fits.
    const std::string slurm = "Submit|Elapsed|AllocTRES|Partition\n0|5|gres/gpu=1|a100\n";
    CHECK(parse(slurm, "", "pool=partition")[0].pool == "a100");
    CHECK(error_of(text, "", "submit=begin,gpus=n,duration=t")
              .starts_with("t.csv:1: missing column \"t\" (duration), \"n\" (gpus); found "
                           "\"Begin\", \"GPU count\", "
                           "\"Run time\", \"Team\"; formats, in any case: muri ("));
    CHECK(parse(slurm, "", "pool = Partition , submit= Submit")[0].pool == "a100");
    CHECK(error_of(text, "", "gpus=Foo").find("\"Foo\" (gpus)") != std::string::npos);
    CHECK(error_of(slurm, "", "pool=Queue") ==
          "t.csv:1: missing column \"Queue\" (pool); found \"Submit\", \"Elapsed\", \"AllocTRES\", "
          "\"Partition\"");
    CHECK(
        parse_columns("gpu=x").error().message ==
        "found \"gpu=x\", wanted FIELD=COLUMN with one of the fields submit duration gpus project "
        "user name command kind pool");
    CHECK(parse_columns("gpus=x,GPUS=y").error().message == "found \"gpus\" twice, wanted it once");
    CHECK_FALSE(parse_columns("gpus="));
    CHECK_FALSE(parse_columns("gpus"));
}

TEST_CASE("Slurm's accounting is read as sacct --parsable2 writes it, its job steps left out") {
    const ParsedTrace trace = parse_all(
        "JobID|JobName|User|Account|Submit|Elapsed|AllocTRES|State\n"
        "7|train \"big\"|maria|vision|2024-05-01T10:00:00|1-02:03:04|"
        "billing=8,cpu=8,gres/gpu:a100=4,gres/gpu=4,mem=64G,node=1|COMPLETED\n"
        "7.batch|batch|||2024-05-01T10:00:01|1-02:03:04|cpu=8,gres/gpu=4|COMPLETED\n"
        "7.0|python|||2024-05-01T10:00:01|1-02:03:04|cpu=8,gres/gpu=4|COMPLETED\n"
        "8_1|cpu|tom|nlp|2024-05-01T10:00:30|00:10:00|billing=8,cpu=8|COMPLETED\n"
        "9|wait|tom|nlp|2024-05-01T10:00:40|00:00:00||PENDING\n"
        "10|none|tom|nlp|2024-05-01T10:01:00|00:00:00|gres/gpu=1|CANCELLED\n"
        "11|eval|tom|nlp|2024-05-01T10:01:00|00:10:00|gres/gpu=1|RUNNING\n");
    REQUIRE(trace.jobs.size() == 2);
    const TraceJob& first = trace.jobs[0];
    CHECK(first.name == "train \"big\"");
    CHECK(first.user == "maria");
    CHECK(first.project == "vision");
    CHECK(first.gpus == 4);
    CHECK(first.work == std::chrono::seconds(93'784));
    CHECK(trace.jobs[1].submitted == base::at_ms(60'000));
    CHECK(trace.left_out.text() ==
          "5 rows left out: 2 without GPUs, 1 without duration, 2 steps of other jobs");
    CHECK(parse("SUBMIT|ElapsedRaw|ReqTRES\n0|60|gres/gpu=2\n")[0].gpus == 2);
}

TEST_CASE("rows without GPUs or duration are no jobs, and are counted") {
    const ParsedTrace trace =
        parse_all("submit_s,duration_s,gpus\n1,0,1\n2,10,0\n3,10,1\n4,,1\n5,10,\n");
    CHECK(trace.jobs.size() == 1);
    CHECK(trace.left_out.without_gpus == 2);
    CHECK(trace.left_out.without_duration == 2);
    CHECK(parse_all("submit_s,duration_s,gpus\n1,1,1\n").left_out.text().empty());
    CHECK(parse_all("submit_s,duration_s,gpus\n1,0,1\n").left_out.text() ==
          "1 row left out: 1 without duration");
}

TEST_CASE("a quoted cell may hold separators, quotes and line ends; errors count all lines") {
    const Trace trace = parse(
        "submit_s,duration_s,gpus,name\n0,1,1,\"a, \"\"b\"\"\nc\"\n1,1,1,\"\"\n2,1,1,d\"e\"\n");
    CHECK(trace[0].name == "a, \"b\"c");  // a name is one line
    CHECK(trace[1].name.empty());
    CHECK(trace[2].name == "d\"e\"");
    const std::string header = "submit_s,duration_s,gpus,name\n";
    CHECK(error_of(header + "0,1,1,\"a\nb\"\n0,1,x,c\n") ==
          "t.csv:4: column \"gpus\": found \"x\", wanted whole GPUs such as 4, a part of one such "
          "as 0.5, H100:2 or gres/gpu=4; at most 1000000");
    CHECK(error_of(header + "0,1,1,\"a\n") ==
          "t.csv:2: found a quote that is never closed, wanted \" at its end");
    CHECK(error_of(header + "0,1,1,\"a\"b\n") ==
          "t.csv:2: found \"b\" behind a closing quote, wanted a separator");
}

TEST_CASE("parts of GPUs that were rounded are counted, of jobs alone") {
    const std::string header = "submit_s,duration_s,gpus\n";
    CHECK(parse_all(header + "0,1,0.3333\n0,0,0.3333\n0,1,0.5\n").note() ==
          "1 row left out: 1 without duration; 1 part of a GPU rounded to thousandths");
    CHECK(parse_all(header + "0,1,0.9999\n0,1,0.0001\n").note() ==
          "2 parts of GPUs rounded to thousandths");
    CHECK(parse_all(header + "0,1,0.125\n").note().empty());
}

TEST_CASE("less than a GPU is a part of one, more is whole GPUs") {
    const Trace trace = parse("submit_s,duration_s,gpus\n0,1,0.5\n1,1,2.0\n2,1,0.0001\n");
    CHECK(trace[0].gpus == 1);
    CHECK(trace[0].amount() == base::MilliGpu{500});
    CHECK(trace[1].is_whole());
    CHECK(trace[1].amount() == base::MilliGpu{2000});
    CHECK(trace[2].amount() == base::MilliGpu{1});
    CHECK(error_of("submit_s,duration_s,gpus\n0,1,1.5\n") ==
          "t.csv:2: column \"gpus\": found \"1.5\", wanted whole GPUs such as 4, a part of one "
          "such as 0.5, H100:2 or gres/gpu=4; at most 1000000");
}

TEST_CASE("a name of a trace becomes one that can stand in a table") {
    const std::string header = "submit_s,duration_s,gpus,name\n";
    CHECK(parse(header + "0,1,1,a\x1b[31mb\n")[0].name == "a[31mb");
    const std::string long_name(199, 'x');
    CHECK(parse(header + "0,1,1," + long_name + "\xc3\xa9\n")[0].name == long_name);
}

TEST_CASE("an error says the line, the column, what was found and what is wanted") {
    const std::string formats =
        "; formats, in any case: muri (submit_time duration num_gpu batch_size), tiresias "
        "(submit_time duration num_gpu), philly (timestamp duration num_gpus), shockwave "
        "(arrival_time_s duration_s scale_factor), sacct (Submit Elapsed AllocTRES), berth "
        "(submit_s duration_s gpus)";
    CHECK(error_of("").starts_with("t.csv:1: found nothing, wanted a line of column names; form"));
    CHECK(error_of("a,b\n") ==
          "t.csv:1: missing column \"submit_s\" (submit), \"duration_s\" "
          "(duration), \"gpus\" (gpus); found \"a\", \"b\"" +
              formats);
    CHECK(error_of("submit_s,gpus\n", "berth") ==
          "t.csv:1: missing column \"duration_s\" (duration); found \"submit_s\", \"gpus\"" +
              formats);
    // The nearest format is meant.
    CHECK(error_of("Submit|AllocTRES|User\n") ==
          "t.csv:1: missing column \"Elapsed\" (duration); found \"Submit\", \"AllocTRES\", "
          "\"User\"" +
              formats);
    CHECK(error_of("Submit Elapsed AllocTRES\n")
              .find("no comma, semicolon, tab or \"|\" between names") != std::string::npos);
    const std::string header = "submit_s,duration_s,GPUs\n";
    CHECK(error_of(header + "1,2,1\n1,x,1\n") ==
          "t.csv:3: column \"duration_s\": found \"x\", wanted seconds (at most 1000000000), or a "
          "time such as 02:03:04, 1-02:03:04 or 1h30m");
    const std::string muri = "submit_time,duration,num_gpu,batch_size\n";
    CHECK(error_of(muri + "1e14,1,1,1\n").find("wanted milliseconds (below 100000000000000), or") !=
          std::string::npos);
    CHECK(error_of(muri + "1,1e13,1,1\n").find("wanted milliseconds (at most 1000000000000), or") !=
          std::string::npos);
    for (const std::string_view moment : {"-1", "nan", "yesterday", "2024-13-01", "1e11", ""}) {
        CHECK(error_of(header + std::string(moment) + ",2,1\n") ==
              "t.csv:2: column \"submit_s\": found \"" + std::string(moment) +
                  "\", wanted seconds (below 100000000000), or a date such as 2024-05-01 or "
                  "2024-05-01T12:30:00Z");
    }
    CHECK(error_of(header + "1,2,-1\n") ==
          "t.csv:2: column \"GPUs\": found \"-1\", wanted whole GPUs such as 4, a part of one such "
          "as 0.5, H100:2 or gres/gpu=4; at most 1000000");
    CHECK(error_of(header + "1,2\n") ==
          "t.csv:2: found 2 cells, fewer than the line of column names; is it cut off?");
    CHECK(error_of(header + "1,2,1,4\n") ==
          "t.csv:2: found 4 cells, more than the 3 names of columns; does a cell hold the "
          "separator?");
    CHECK(error_of("submit_s,duration_s,gpus,GPUs\n0,1,1,2\n") ==
          "t.csv:1: found column \"gpus\" twice, wanted it once");
    CHECK(parse("submit_s,duration_s,gpus,x,x\n0,1,1,2,3\n").size() == 1);
    const std::string both = "submit_s,duration_s,gpus,Submit,Duration\n0,1,1,2,3\n";
    CHECK(error_of(both) ==
          "t.csv:1: found columns \"submit_s\" and \"Submit\" for submit, wanted one of them");
    CHECK(error_of(both, "", "submit=submit") ==
          "t.csv:1: found columns \"duration_s\" and \"Duration\" for duration, wanted one of "
          "them");
    CHECK(parse(both, "", "submit=submit,duration=duration_s").size() == 1);
    CHECK(error_of("submit_s,duration_s,gpus\n0,1,1\n", "", "duration=GPUS") ==
          "t.csv:1: found column \"gpus\" for duration and for gpus, wanted one for each");
    CHECK(error_of("a,b,c\n0,1,1\n", "", "submit=a,duration=b,gpus=c,kind=A") ==
          "t.csv:1: found column \"a\" for submit and for kind, wanted one for each");
    // A text may be said of several fields; which Slurm column counts is its own order.
    CHECK(parse("submit_s,duration_s,gpus,team\n0,1,1,a\n", "", "project=team,user=team")[0].user ==
          "a");
    CHECK(parse("Submit|Elapsed|ElapsedRaw|ReqTRES|AllocTRES\n"
                "2024-05-01|00:01:00|60|gres/gpu=2|gres/gpu=1\n")[0]
              .gpus == 1);
    CHECK(error_of("submit_s,duration_s,gpus,kind\n0,1,1,bild\n") ==
          "t.csv:2: column \"kind\": found \"bild\", wanted build, train or inference");
}

TEST_CASE("sizes are one column of GPU-seconds, with or without its name") {
    CHECK(parse_sizes("duration\n121\n1.5\n", "s.csv").value() ==
          std::vector<std::int64_t>{121'000, 1500});
    CHECK(parse_sizes("7\n", "s.csv").value() == std::vector<std::int64_t>{7000});
    CHECK(parse_sizes("duration\nx\n", "s.csv").error().message ==
          "s.csv:2: wanted GPU-seconds, found \"x\"");
    CHECK(parse_sizes("", "s.csv").error().message == "s.csv:1: wanted GPU-seconds, found none");
}

TEST_CASE("gzip is unpacked, plain text stays, a cut or too large file is refused") {
    const std::string text = "submit_s,duration_s,gpus\n" + std::string(100'000, '1');
    const std::string packed = gzipped(text);
    CHECK(unpacked(packed, 1 << 20).value() == text);
    CHECK(unpacked(text, 10).value() == text);
    CHECK_FALSE(unpacked(packed.substr(0, packed.size() / 2), 1 << 20));
    CHECK(unpacked(gzipped(std::string(3 << 20, '1')), 1 << 20).error().code ==
          base::ErrorCode::Exhausted);
}

}  // namespace berth::simulation
