// SPDX-License-Identifier: Apache-2.0
//
// Which pages are part of this program? What web/build.js packed, as api/pages/pages.h reads it;
// empty where Berth was built without the dashboard.
#pragma once

#include <string_view>

namespace berth::app {

std::string_view packed_dashboard();

}  // namespace berth::app
