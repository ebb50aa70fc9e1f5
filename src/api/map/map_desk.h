// SPDX-License-Identifier: Apache-2.0
//
// What does the map look like now? One picture for all viewers, at most kPictureLasts old. On the
// loop's thread is only looked at the state, O(GPUs); measuring, writing and packing are done on
// another one (ADR 0047).
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/map/columns.h"
#include "control/controller.h"
#include "ports/background.h"
#include "ports/clock.h"

namespace berth::api {

inline constexpr base::Duration kPictureLasts{1'000};

struct MapPicture {
    std::string bytes;  // columns.h
    std::string gzipped;
    std::string etag;  // the same as long as the bytes are
};

class MapDesk {
  public:
    using Done = std::function<void(std::shared_ptr<const MapPicture>)>;

    MapDesk(const control::Controller& controller, ports::GpuInventory& inventory,
            const ports::Clock& clock, ports::Background background);

    // `done` is called now or later; with null when too much else is asked of the other thread.
    void ask(Done done);
    std::shared_ptr<const Topology> topology();
    void on_events(std::span<const model::Event> events);

  private:
    struct Work;

    void begin();
    void finish(Work& work);

    const control::Controller& controller_;
    ports::GpuInventory& inventory_;
    const ports::Clock& clock_;
    ports::Background background_;
    std::shared_ptr<const Topology> topology_;  // null = to be made
    std::shared_ptr<const MapPicture> picture_;
    base::TimePoint made_;
    std::shared_ptr<Work> work_;  // under way
    std::vector<Done> waiting_;
    Activity activity_;  // with the work while there is one
};

}  // namespace berth::api
