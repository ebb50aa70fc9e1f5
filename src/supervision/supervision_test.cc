// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "base/rng.h"
#include "supervision/frame.h"
#include "supervision/freezing.h"
#include "supervision/order.h"
#include "supervision/status_file.h"

using namespace berth::supervision;

namespace {

Order sample_order() {
    Order order;
    order.cluster = "c1";
    order.job = 12;
    order.attempt = 3;
    order.command = {"python", "train.py", "", "a b"};
    order.environment = {"A=1", "B=\n\t="};
    order.tasks = {{0, 0, 2, 0, "0,1"}, {1, 1, 2, 0, ""}};
    order.resumes = true;
    order.saved_file = "/jobs/12.3.saved";
    order.log_limit = 1 << 30;
    order.umask = 027;
    return order;
}

}  // namespace

TEST_CASE("an order survives packing, and damaged bytes are refused") {
    const std::string bytes = pack(sample_order());
    CHECK(unpack_order(bytes) == sample_order());
    for (std::size_t length = 0; length < bytes.size(); ++length) {
        CHECK_FALSE(unpack_order(std::string_view(bytes).substr(0, length)).has_value());
    }
    CHECK_FALSE(unpack_order(bytes + "x").has_value());
}

TEST_CASE("no bytes make the reader of orders read outside them") {
    const std::string bytes = pack(sample_order());
    berth::base::Rng rng(7);
    for (int round = 0; round < 20'000; ++round) {
        std::string damaged = bytes;
        for (std::int64_t count = rng.between(1, 4); count > 0; --count) {
            damaged[8 + rng.index(damaged.size() - 8)] = static_cast<char>(rng.next());
        }
        (void)unpack_order(damaged);
    }
}

TEST_CASE("an exit survives the status file") {
    const ExitReport report{143, 15, true, false, "task 3 was ended by TERM\nsecond"};
    const StatusReading reading =
        parse_status(starting_line("boot-1", 77) + "running 12 13\n" + exit_line(report));
    CHECK(reading.started);
    CHECK(reading.running);
    CHECK(reading.boot == "boot-1");
    REQUIRE(reading.exit);
    CHECK(reading.exit->exit_code == 143);
    CHECK(reading.exit->signal == 15);
    CHECK(reading.exit->stop_asked);
    CHECK_FALSE(reading.exit->killed);
    CHECK(reading.exit->detail == "task 3 was ended by TERM second");
}

TEST_CASE("a torn last line of a status file is not read") {
    CHECK_FALSE(parse_status("").started);
    CHECK_FALSE(parse_status("starting boot").started);
    const std::string whole = starting_line("b", 1) + exit_line({1, 0, false, false, "x"});
    const StatusReading torn = parse_status(std::string_view(whole).substr(0, whole.size() - 1));
    CHECK(torn.started);
    CHECK_FALSE(torn.exit.has_value());
}

TEST_CASE("frames cut at any place arrive whole and in order") {
    std::string stream;
    append_frame(stream, FrameType::Stop, pack(StopRequest{StopKind::Cancel, 250}));
    append_frame(stream, FrameType::Output, std::string(1000, '\0'), 5);
    append_frame(stream, FrameType::Running);
    for (std::size_t piece = 1; piece < 40; ++piece) {
        FrameReader reader;
        std::vector<FrameType> types;
        for (std::size_t at = 0; at < stream.size(); at += piece) {
            reader.feed(std::string_view(stream).substr(at, piece));
            while (std::optional<Frame> frame = reader.next()) {
                types.push_back(frame->type);
                if (frame->type == FrameType::Stop) {
                    CHECK(unpack_stop(frame->payload)->kind == StopKind::Cancel);
                    CHECK(unpack_stop(frame->payload)->grace_ms == 250);
                }
                if (frame->type == FrameType::Output) {
                    CHECK(frame->task == 5);
                    CHECK(frame->payload == std::string(1000, '\0'));
                }
            }
        }
        CHECK(types == std::vector{FrameType::Stop, FrameType::Output, FrameType::Running});
    }
}

TEST_CASE("bytes of a stream travel in as many frames as they need") {
    for (const std::size_t size :
         {std::size_t{0}, kStreamFrameMax, kStreamFrameMax + 1, 10 * kStreamFrameMax + 7}) {
        std::string bytes(size, 'a');
        if (size > 0) bytes.back() = 'z';
        std::string stream;
        append_frame(stream, FrameType::Output, bytes, 3);
        FrameReader reader;
        reader.feed(stream);
        std::string arrived;
        std::size_t frames = 0;
        while (const auto frame = reader.next()) {
            CHECK(frame->type == FrameType::Output);
            CHECK(frame->task == 3);
            CHECK(frame->payload.size() <= kStreamFrameMax);
            arrived += frame->payload;
            ++frames;
        }
        CHECK(arrived == bytes);
        CHECK(frames == std::max<std::size_t>(1, (size + kStreamFrameMax - 1) / kStreamFrameMax));
    }
}

TEST_CASE("the places of a gang as large as any fit into one message") {
    GpuLists lists(100'000, "63");
    std::string stream;
    append_frame(stream, FrameType::Resume, pack(lists));
    FrameReader reader;
    reader.feed(stream);
    const auto frame = reader.next();
    REQUIRE(frame);
    CHECK(unpack_gpu_lists(frame->payload) == lists);
}

TEST_CASE("a message that is too long is cut, and so is not understood, and nothing aborts") {
    std::string stream;
    append_frame(stream, FrameType::Resume, std::string(kMessageMax + 1, 'x'));
    FrameReader reader;
    reader.feed(stream);
    REQUIRE(reader.next());
    CHECK_FALSE(reader.is_broken());
}

TEST_CASE("an exit line is bounded, however much there was to say") {
    const std::string line = exit_line({126, 0, false, false, std::string(1'000'000, 'x')});
    CHECK(line.size() < kDetailMax + 64);
    const auto report = parse_exit_line(line);
    REQUIRE(report);
    CHECK(report->exit_code == 126);
    CHECK(report->detail.ends_with("..."));
}

TEST_CASE("a frame that claims to be larger than any breaks the stream") {
    FrameReader reader;
    reader.feed(std::string("\xff\xff\xff\x7f\x01\x00\x00\x00", 8));
    CHECK_FALSE(reader.next().has_value());
    CHECK(reader.is_broken());
}
