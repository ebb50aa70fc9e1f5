// SPDX-License-Identifier: Apache-2.0
//
// How are certificates written in a kubeconfig? In base64 (RFC 4648, with padding).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth::kube::client {

// White space is skipped. No value: it is not base64.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace berth::kube::client
