// SPDX-License-Identifier: Apache-2.0
//
// Does a description hang together? Names that refer to something that is not there, trees that
// are none, and tasks on GPUs that do not exist or are full. What one field says is checked where
// it is read (state_file.cc); this is what only the whole can tell.
// Cost: O(n log n) in the size of the description.
#pragma once

#include <string>
#include <vector>

#include "codec/text/field_reader.h"
#include "model/description.h"

namespace berth::codec {

// Where in the file an entry stands.
struct Place {
    int line = 1;
    std::string path;
};

struct StatePlaces {
    std::vector<Place> projects;  // in the order of Description::projects
    std::vector<Place> jobs;
    std::vector<std::vector<Place>> tasks;  // of each job
};

void check_state(const model::Description& state, const StatePlaces& places, Problems& problems);

}  // namespace berth::codec
