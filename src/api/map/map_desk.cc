// SPDX-License-Identifier: Apache-2.0
#include "api/map/map_desk.h"

#include <algorithm>
#include <utility>

#include "api/map/gzip.h"
#include "base/hash.h"

namespace berth::api {

// Goes to the other thread and comes back.
struct MapDesk::Work {
    MapScene scene;
    ports::GpuInventory& inventory;
    std::shared_ptr<const MapPicture> before;  // null: there was none
    Activity activity;
    std::shared_ptr<const MapPicture> picture;

    void make() {
        const auto readings = inventory.read();
        // Where nothing can be measured, the map says so of each GPU.
        activity.hear(readings ? std::span<const ports::GpuReading>(*readings)
                               : std::span<const ports::GpuReading>(),
                      scene.topology, scene.map.first, scene.map.gpus.size(), scene.now);
        std::string bytes = map_columns(scene, activity);
        if (before && before->bytes == bytes) {
            picture = before;
            return;
        }
        auto made = std::make_shared<MapPicture>();
        made->gzipped = gzipped(bytes);
        made->etag = "\"" + std::to_string(base::hash(bytes)) + "\"";
        made->bytes = std::move(bytes);
        picture = std::move(made);
    }
};

MapDesk::MapDesk(const control::Controller& controller, ports::GpuInventory& inventory,
                 const ports::Clock& clock, ports::Background background)
    : controller_(controller),
      inventory_(inventory),
      clock_(clock),
      background_(std::move(background)) {}

std::shared_ptr<const Topology> MapDesk::topology() {
    if (!topology_) topology_ = topology_of(controller_.state().cluster);
    return topology_;
}

void MapDesk::on_events(std::span<const model::Event> events) {
    const bool has_changed = std::ranges::any_of(
        events, [](const model::Event& event) { return changes_topology(event.body); });
    if (has_changed) topology_.reset();
}

void MapDesk::ask(Done done) {
    const bool is_new = picture_ && clock_.now() < made_ + kPictureLasts;
    if (is_new) return done(picture_);
    waiting_.push_back(std::move(done));
    if (!work_) begin();
}

void MapDesk::begin() {
    work_ = std::make_shared<Work>(Work{scene_of(controller_.state(), topology(), clock_.now()),
                                        inventory_,
                                        picture_,
                                        std::move(activity_),
                                        {}});
    work_->scene.is_simulated = inventory_.is_simulated();
    const bool is_taken = background_([work = work_] { work->make(); }, [this] { finish(*work_); });
    if (!is_taken) finish(*work_);
}

void MapDesk::finish(Work& work) {
    if (work.picture) {
        picture_ = work.picture;
        made_ = work.scene.now;
    }
    activity_ = std::move(work.activity);
    const std::shared_ptr<const MapPicture> answer = std::exchange(work.picture, {});
    work_.reset();
    for (const Done& done : std::exchange(waiting_, {})) done(answer);
}

}  // namespace berth::api
