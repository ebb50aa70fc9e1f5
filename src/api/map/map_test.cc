// SPDX-License-Identifier: Apache-2.0
//
// What is written of a map, read again as a page reads it; and what the desk does and does not do
// again.
#include <doctest/doctest.h>
#include <zlib.h>

#include <numeric>

#include "api/map/columns.h"
#include "api/map/gzip.h"
#include "codec/text/json.h"

using namespace berth;
using api::Activity;
using api::MapScene;
using model::GpuUse;
using overview::GpuPart;

namespace {

// Reads columns one after the other.
class ColumnReader {
  public:
    explicit ColumnReader(const std::string& bytes) : bytes_(bytes) {
        header = bytes.substr(4, number(4));
        at_ += header.size();
    }
    std::vector<std::int64_t> column(std::size_t many, std::size_t width) {
        std::vector<std::int64_t> found;
        for (std::size_t i = 0; i < many; ++i) {
            found.push_back(static_cast<std::int64_t>(number(width)));
        }
        return found;
    }
    bool is_at_end() const { return at_ == bytes_.size(); }

    std::string header;

  private:
    std::size_t number(std::size_t width) {
        std::size_t found = 0;
        for (std::size_t i = 0; i < width; ++i) {
            found |= std::size_t{static_cast<unsigned char>(bytes_.at(at_++))} << (8 * i);
        }
        return found;
    }

    const std::string& bytes_;
    std::size_t at_ = 0;
};

using Column = std::vector<std::int64_t>;

constexpr std::int64_t code(GpuUse use) { return static_cast<std::int64_t>(use); }

// One node of three GPUs: a job's, one that two jobs share, a free one.
MapScene three_gpus() {
    auto topology = std::make_shared<api::Topology>();
    topology->etag = "\"t\"";
    topology->nodes = {{"n0", 0}};
    topology->gpu_memory = {base::Bytes{80LL << 30}};
    MapScene scene;
    scene.topology = topology;
    scene.projects = {"", "nlp", "vision"};
    scene.nodes = {api::NodeCondition::Drained};
    scene.now = base::at_ms(100'000);
    const GpuPart whole{{70000}, {1}, GpuUse::NotMeasured, base::kWholeGpu};
    const GpuPart half{{8}, {2}, GpuUse::NotMeasured, base::MilliGpu{500}};
    const GpuPart quarter{{9}, {1}, GpuUse::Starting, base::MilliGpu{250}};
    scene.map.first = {0};
    scene.map.gpus = {whole, half, {}};
    scene.map.shared = {{1, half}, {1, quarter}};
    scene.counts.total = base::gpus(3);
    scene.counts.used = base::gpus(2);
    scene.counts.idle = base::gpus(1);
    scene.counts.idle_together = 1;
    return scene;
}

ports::GpuReading reading(int index, int percent, std::int64_t gibibytes) {
    ports::GpuReading reading;
    reading.node = "n0";
    reading.index = index;
    reading.utilization_percent = percent;
    reading.memory_used = base::Bytes{gibibytes << 30};
    return reading;
}

void hear(Activity& activity, const MapScene& scene, std::vector<ports::GpuReading> readings) {
    activity.hear(readings, scene.topology, scene.map.first, scene.map.gpus.size(), scene.now);
}

}  // namespace

TEST_CASE("columns say what the map and the readings say") {
    const MapScene scene = three_gpus();
    Activity activity;
    hear(activity, scene, {reading(0, 50, 40), reading(1, 0, 1)});
    const std::string bytes = api::map_columns(scene, activity);
    ColumnReader read(bytes);
    CHECK((4 + read.header.size()) % 4 == 0);
    const auto header = codec::parse_json(read.header, "header");
    REQUIRE(header.has_value());
    CHECK(read.header.find(R"("topology":"\"t\"","gpus":3,"nodes":1,"shared":2)") !=
          std::string::npos);
    CHECK(read.header.find(R"(["2 of 3 GPUs are allocated, 0.5 of them idle.","Free: 1."])") !=
          std::string::npos);
    CHECK(read.column(2, 4) == Column{1, 1});
    CHECK(read.column(2, 4) == Column{8, 9});
    CHECK(read.column(3, 2) == Column{1, 2, 65535});
    CHECK(read.column(2, 2) == Column{2, 1});
    CHECK(read.column(2, 2) == Column{500, 250});
    const Column low = read.column(3, 1);
    const Column next = read.column(3, 1);
    const Column high = read.column(3, 1);
    const Column highest = read.column(3, 1);
    std::uint32_t job = 0;
    for (const std::uint32_t wanted : {70000U, 8U, 0U}) {
        const std::size_t gpu = wanted == 70000U ? 0 : wanted == 8U ? 1 : 2;
        job += static_cast<std::uint32_t>(low[gpu] | next[gpu] << 8 | high[gpu] << 16 |
                                          highest[gpu] << 24);
        CHECK(job == wanted);
    }
    CHECK(read.column(3, 1) ==
          Column{code(GpuUse::Busy), code(GpuUse::AllocatedIdle), code(GpuUse::Free)});
    CHECK(read.column(3, 1) == Column{8, 0, 255});
    CHECK(read.column(3, 1) == Column{8, 1, 255});
    CHECK(read.column(2, 1) == Column{code(GpuUse::AllocatedIdle), code(GpuUse::Starting)});
    CHECK(read.column(1, 1) == Column{1});
    CHECK(read.is_at_end());
}

TEST_CASE("a GPU that did nothing is idle only ten seconds after it last did something") {
    MapScene scene = three_gpus();
    Activity activity;
    hear(activity, scene, {});
    CHECK(activity.measured(GpuUse::NotMeasured, 0) == GpuUse::NotMeasured);
    hear(activity, scene, {reading(0, 1, 0)});
    CHECK(activity.busy(0) == 1);
    CHECK(activity.measured(GpuUse::NotMeasured, 0) == GpuUse::Busy);
    scene.now += api::kIdleAfter - base::Duration{1};
    hear(activity, scene, {reading(0, 0, 0)});
    CHECK(activity.busy(0) == 0);
    CHECK(activity.measured(GpuUse::NotMeasured, 0) == GpuUse::Busy);
    scene.now += base::Duration{1};
    hear(activity, scene, {reading(0, 0, 0)});
    CHECK(activity.measured(GpuUse::NotMeasured, 0) == GpuUse::AllocatedIdle);
    CHECK(activity.measured(GpuUse::Starting, 0) == GpuUse::Starting);
}

TEST_CASE("readings of GPUs that the map does not know say nothing") {
    const MapScene scene = three_gpus();
    Activity activity;
    ports::GpuReading elsewhere = reading(0, 50, 1);
    elsewhere.node = "n9";
    hear(activity, scene, {elsewhere, reading(3, 50, 1)});
    for (const std::size_t gpu : {0, 1, 2}) CHECK(activity.busy(gpu) == api::kNotMeasured);
}

TEST_CASE("what is gzipped is the text again when it is unpacked") {
    std::string text(100'000, 'x');
    std::iota(text.begin(), text.begin() + 1000, '\0');
    const std::string packed = api::gzipped(text);
    CHECK(packed.size() < 2000);
    z_stream stream{};
    REQUIRE(inflateInit2(&stream, 16 + MAX_WBITS) == Z_OK);
    std::string again(text.size(), '\0');
    std::string in = packed;
    stream.next_in = reinterpret_cast<Bytef*>(in.data());
    stream.avail_in = static_cast<uInt>(in.size());
    stream.next_out = reinterpret_cast<Bytef*>(again.data());
    stream.avail_out = static_cast<uInt>(again.size());
    CHECK(inflate(&stream, Z_FINISH) == Z_STREAM_END);
    inflateEnd(&stream);
    CHECK(again == text);
}
