// SPDX-License-Identifier: Apache-2.0
//
// Where does a reflector put what it reads? Cache (cache.h) is one, of objects of one type.
#pragma once

#include <string>

#include "codec/text/json_reader.h"

namespace berth::kube::client {

class Shelf {
  public:
    virtual ~Shelf() = default;
    // A list begins. What is not put until it ends is gone at its end; a list that begins before
    // the last one has ended takes its place.
    virtual void begin_list() = 0;
    virtual void end_list() = 0;
    // Reads an object as it is now, or as it was last. Answers with its resourceVersion, which only
    // counts behind a list.
    virtual std::string put(codec::JsonReader& reader) = 0;
    virtual std::string remove(codec::JsonReader& reader) = 0;
};

}  // namespace berth::kube::client
