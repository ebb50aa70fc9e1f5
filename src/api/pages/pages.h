// SPDX-License-Identifier: Apache-2.0
//
// What is answered outside /api/? The dashboard, from memory. Its addresses are one level deep,
// such as /queue, so that all links are relative and hold behind any prefix: each such address that
// is no file's gets index.html. Deeper ones that are no file's get 404.
//
// Files named by a hash of what is in them are kept by browsers for good; the others are asked for
// each time, with their ETag. Nothing here may load from elsewhere or be shown in another page.
// Costs a search among a few dozen names and a copy of the file.
#pragma once

#include <string_view>
#include <vector>

#include "api/http/http.h"

namespace berth::api {

class Pages {
  public:
    // `packed` is what web/pack.js wrote, and outlives this; it is trusted. Empty: the build has no
    // dashboard, and one page says how to get it.
    explicit Pages(std::string_view packed = {});

    // GET and HEAD; 405 for other methods.
    Response answer(const Request& request) const;

  private:
    struct File {
        std::string_view path;  // below the prefix: "index.html"
        std::string_view type;
        std::string_view etag;  // with its quotes
        bool is_hashed = false;
        std::string_view plain;
        std::string_view gzipped;  // empty = not smaller
    };

    const File* find(std::string_view path) const;

    std::vector<File> files_;  // by path
};

}  // namespace berth::api
