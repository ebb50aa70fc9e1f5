// SPDX-License-Identifier: Apache-2.0
//
// Are the public trace formats read as their authors mean them?
#include "simulation/trace.h"

#include <doctest/doctest.h>
#include <zlib.h>

namespace berth::simulation {
namespace {

Trace parse(std::string_view text, std::string_view format = "") {
    auto trace = parse_trace(text, format, "t.csv");
    REQUIRE_MESSAGE(trace, trace.error().message);
    return *trace;
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

std::string error_of(std::string_view text, std::string_view format = "") {
    const auto trace = parse_trace(text, format, "t.csv");
    return trace ? "" : trace.error().message;
}

}  // namespace

TEST_CASE("Muri's milliseconds become whole seconds: submission down, duration up") {
    const Trace trace = parse(
        "job_id,num_gpu,submit_time,iterations,model_name,batch_size,duration\n"
        "0,4,1999,10,bert,4,2001\n");
    REQUIRE(trace.size() == 1);
    CHECK(trace[0].submitted == base::at_ms(1000));
    CHECK(trace[0].work == Duration{3000});
    CHECK(trace[0].gpus == 4);
    CHECK(trace[0].name == "bert");
}

TEST_CASE("a profile stands in columns of its own, whatever the format") {
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

TEST_CASE("Tiresias, Philly, Shockwave and our own are told by their columns") {
    CHECK(parse("job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n"
                "0,8,30,133,vgg11,147,23\n")[0]
              .work == std::chrono::seconds(147));
    const Trace philly = parse(
        "timestamp,duration,num_gpus,gpu_time,cluster\r\n"
        "1970-01-02 00:00:01,66.5,1,66.0,11cb48\r\n"
        "1970-01-01 00:00:00,0.0,1,0,11cb48\r\n\r\n");
    REQUIRE(philly.size() == 1);  // what took no time is no job
    CHECK(philly[0].submitted == base::at_ms(86'401'000));
    CHECK(philly[0].work == Duration{66'500});
    CHECK(philly[0].project == "11cb48");
    CHECK(parse("job_type,scale_factor,duration_s,arrival_time_s\nLM,2,10,5\n")[0].gpus == 2);
    const Trace own = parse("submit_s,duration_s,gpus,user\n2,10,1,\"maria, m\"\n1,10,1,tom\n");
    CHECK(own[0].user == "tom");  // in order of submission
    CHECK(own[1].user == "maria, m");
}

TEST_CASE("what cannot be read is told with its line, wanted and found") {
    CHECK(error_of("") == "t.csv:1: wanted a line of column names, found nothing");
    CHECK(error_of("a,b\n") ==
          "t.csv:1: no known trace has these columns; wanted, for example: "
          "submit_s,duration_s,gpus");
    CHECK(error_of("submit_s,gpus\n", "berth") ==
          "t.csv:1: no column \"duration_s\", which a berth trace has");
    const std::string header = "submit_s,duration_s,gpus\n";
    CHECK(error_of(header + "1,2,1\n1,x,1\n") ==
          "t.csv:3: duration_s: wanted a duration, found \"x\"");
    CHECK(error_of(header + "-1,2,1\n") == "t.csv:2: submit_s: wanted a time, found \"-1\"");
    CHECK(error_of(header + "nan,2,1\n") == "t.csv:2: submit_s: wanted a time, found \"nan\"");
    CHECK(error_of(header + "1,2,1.5\n") ==
          "t.csv:2: gpus: wanted a number of GPUs, found \"1.5\"");
    CHECK(error_of(header + "1,2\n") == "t.csv:2: gpus: wanted a number of GPUs, found \"\"");
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
