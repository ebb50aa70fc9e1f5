// SPDX-License-Identifier: Apache-2.0
//
// The nouns of json_api.h that are written as their description says.
#include "codec/api/api_fields.h"
#include "codec/api/api_style.h"
#include "codec/api/foresight_fields.h"
#include "codec/api/node_view_fields.h"
#include "codec/api/replay_json.h"

namespace berth::codec {
namespace {

ApiStyle strict(std::string_view kind) { return {kind, Reading::Strict, nullptr}; }
ApiStyle lenient(std::string_view kind, NameTable* names) {
    return {kind, Reading::Lenient, names};
}

}  // namespace

std::string submission_json(const model::Submission& submission) {
    return document("Submission", submission, nullptr);
}
base::Result<model::Submission> parse_submission(std::string_view text) {
    return parse_document<model::Submission>(text, strict("Submission"));
}

std::string project_json(const model::Project& project) {
    return document("Project", project, nullptr);
}
base::Result<model::Project> parse_project(std::string_view text) {
    return parse_document<model::Project>(text, strict("Project"));
}

std::string pool_json(const model::Pool& pool) { return document("Pool", pool, nullptr); }
base::Result<model::Pool> parse_pool(std::string_view text) {
    return parse_document<model::Pool>(text, strict("Pool"));
}

std::string job_json(const JobView& job, const NameSource& names) {
    return document("Job", job, &names);
}
base::Result<JobView> parse_job(std::string_view text, NameTable& names) {
    return parse_document<JobView>(text, lenient("Job", &names));
}
std::string foresight_json(const Foresight& foresight, const NameSource& names) {
    return plain_json(foresight, &names);
}
std::string order_account_json(const model::OrderAccount& account, const NameSource& names) {
    return plain_json(account, &names);
}
std::string job_list_json(const Page<JobView>& jobs, const NameSource& names) {
    return document("JobList", jobs, &names);
}
base::Result<Page<JobView>> parse_job_list(std::string_view text, NameTable& names) {
    return parse_document<Page<JobView>>(text, lenient("JobList", &names));
}

std::string verdict_json(const model::Verdict& verdict, const NameSource& names) {
    return document("Verdict", verdict, &names);
}
base::Result<model::Verdict> parse_verdict(std::string_view text, NameTable& names) {
    return parse_document<model::Verdict>(text, lenient("Verdict", &names));
}

std::string plan_json(const PlanView& plan, const NameSource& names) {
    return document("Plan", plan, &names);
}
base::Result<PlanView> parse_plan(std::string_view text, NameTable& names) {
    return parse_document<PlanView>(text, lenient("Plan", &names));
}

std::string project_list_json(const Page<ProjectView>& projects) {
    return document("ProjectList", projects, nullptr);
}
base::Result<Page<ProjectView>> parse_project_list(std::string_view text) {
    return parse_document<Page<ProjectView>>(text, lenient("ProjectList", nullptr));
}

std::string pool_list_json(const Page<PoolView>& pools) {
    return document("PoolList", pools, nullptr);
}
base::Result<Page<PoolView>> parse_pool_list(std::string_view text) {
    return parse_document<Page<PoolView>>(text, lenient("PoolList", nullptr));
}

std::string node_list_json(const Page<NodeView>& nodes, const NameSource& names) {
    return document("NodeList", nodes, &names);
}
base::Result<Page<NodeView>> parse_node_list(std::string_view text, NameTable& names) {
    return parse_document<Page<NodeView>>(text, lenient("NodeList", &names));
}

std::string what_if_request_json(const WhatIfRequest& request, const NameSource& names) {
    return document("WhatIfRequest", request, &names);
}
base::Result<WhatIfRequest> parse_what_if_request(std::string_view text) {
    return parse_document<WhatIfRequest>(text, strict("WhatIfRequest"));
}
std::string what_if_json(const model::WhatIf& what_if, const NameSource& names) {
    return document("WhatIf", what_if, &names);
}
base::Result<model::WhatIf> parse_what_if(std::string_view text, NameTable& names) {
    return parse_document<model::WhatIf>(text, lenient("WhatIf", &names));
}

std::string replay_request_json(const model::ReplayRequest& request) {
    const NameSource no_names;
    return document("ReplayRequest", request, &no_names);
}
base::Result<model::ReplayRequest> parse_replay_request(std::string_view text) {
    return parse_document<model::ReplayRequest>(text, strict("ReplayRequest"));
}
std::string what_if_replay_json(const model::WhatIfReplay& replay, const NameSource& names) {
    return document("WhatIfReplay", replay, &names);
}
base::Result<model::WhatIfReplay> parse_what_if_replay(std::string_view text) {
    return parse_document<model::WhatIfReplay>(text, lenient("WhatIfReplay", nullptr));
}

std::string share_account_json(const model::ShareAccount& account) {
    return document("ShareAccount", account, nullptr);
}
base::Result<model::ShareAccount> parse_share_account(std::string_view text) {
    return parse_document<model::ShareAccount>(text, lenient("ShareAccount", nullptr));
}

std::string launch_json(const model::LaunchSpec& launch) {
    return document("Launch", launch, nullptr);
}
base::Result<model::LaunchSpec> parse_launch_json(std::string_view text) {
    return parse_document<model::LaunchSpec>(text, lenient("Launch", nullptr));
}

}  // namespace berth::codec
