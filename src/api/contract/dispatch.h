// SPDX-License-Identifier: Apache-2.0
//
// Who answers this request, if it may be asked?
#pragma once

#include "api/answers/site.h"

namespace berth::api {

// Answers now, or parks the request and answers later.
void answer(Site& site, Request request, Respond respond);

}  // namespace berth::api
