// SPDX-License-Identifier: Apache-2.0
//
// What does kubectl describe show of a workload? An event when it is paused, and for whom; one when
// its kind is not known, so that each of its pods is placed alone.
//
// Events are for people: nothing depends on one, and they wait behind everything else.
#pragma once

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "kube/client/transport/requests.h"
#include "kube/client/transport/timers.h"
#include "kube/objects/meta.h"
#include "ports/clock.h"

namespace berth::kube::scheduler {

// What an event is about.
struct Subject {
    std::string api_version;  // batch/v1
    std::string kind;
    std::string name_space;
    std::string name;
    objects::Uid uid;
};

class Events {
  public:
    Events(client::Requests& requests, client::Timers& timers, const ports::Clock& clock)
        : requests_(requests), clock_(clock), timer_(timers) {}

    // `reason`: one word, such as Paused. `note`: a sentence.
    void say(const Subject& about, std::string_view reason, std::string_view note);
    // The same, once for each subject.
    void say_once(const Subject& about, std::string_view reason, std::string_view note);

  private:
    void send_some();

    client::Requests& requests_;
    const ports::Clock& clock_;
    std::deque<client::Request> waiting_;
    std::set<objects::Uid> said_;
    client::Timer timer_;
};

}  // namespace berth::kube::scheduler
