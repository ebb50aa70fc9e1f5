// SPDX-License-Identifier: Apache-2.0
//
// The targets, by the file that holds them; targets.cc has the table.
#pragma once

#include <string_view>

namespace berth::fuzz {

// amounts.cc: short texts in files, flags and addresses
void amounts(std::string_view input);
void gpu_request(std::string_view input);
void node_filter(std::string_view input);
void settings(std::string_view input);
void task_groups(std::string_view input);
void time(std::string_view input);
// documents.cc: files of users
void json(std::string_view input);
void yaml(std::string_view input);
void job_file(std::string_view input);
void state_file(std::string_view input);
// api.cc: bodies of requests and answers
void request_body(std::string_view input);
void answer_body(std::string_view input);
// http.cc
void address(std::string_view input);
void http(std::string_view input);
// kube.cc: what a Kubernetes API server answers, and where it is
void kube_declared(std::string_view input);
void kube_http(std::string_view input);
void kube_watch(std::string_view input);
void kubeconfig(std::string_view input);
// log.cc: what the store gives back
void log(std::string_view input);
// supervision.cc: between server, supervisor, client and freezer
void frames(std::string_view input);
void messages(std::string_view input);
void order(std::string_view input);
void status(std::string_view input);
// sharing.cc: between arbiter and processes
void arbiter_order(std::string_view input);
// arbiter.cc
void arbiter(std::string_view input);
// server.cc
void server(std::string_view input);
// scenario.cc
void scenario(std::string_view input);
// trace.cc: files of the simulator
void trace(std::string_view input);
void speed_table(std::string_view input);

}  // namespace berth::fuzz
