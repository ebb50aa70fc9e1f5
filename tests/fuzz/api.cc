// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "codec/api/json_api.h"
#include "codec/api/policy_view.h"
#include "fuzz/target.h"
#include "fuzz/targets.h"

namespace berth::fuzz {
namespace {

// `parse` reads what `print` makes.
template <class Parse, class Print>
void check_body(std::string_view input, Parse parse, Print print) {
    const auto value = parse(input);
    if (!value) return;
    const std::string text = print(*value);
    const auto again = parse(text);
    expect(again.has_value(), "what was printed is taken");
    expect(print(*again) == text, "a body is read as it was printed");
}

// The same of a body that names nodes and jobs.
template <class Parse, class Print>
void check_answer(std::string_view input, Parse parse, Print print) {
    codec::NameTable names;
    const auto value = parse(input, names);
    if (!value) return;
    const std::string text = print(*value, names.source());
    codec::NameTable names_again;
    const auto again = parse(text, names_again);
    expect(again.has_value(), "what was printed is taken");
    expect(print(*again, names_again.source()) == text, "an answer is read as it was printed");
}

}  // namespace

void request_body(std::string_view input) {
    check_body(input, codec::parse_submission, codec::submission_json);
    check_body(input, codec::parse_project, codec::project_json);
    check_body(input, codec::parse_pool, codec::pool_json);
    check_body(input, codec::parse_launch_json, codec::launch_json);
    if (const auto asked = codec::parse_what_if_request(input)) {
        const codec::NameTable none;
        expect(!codec::what_if_request_json(*asked, none.source()).empty(), "it can be printed");
    }
}

void answer_body(std::string_view input) {
    if (input.empty()) return;
    const char which = input.front();
    input.remove_prefix(1);
    switch (which) {
        case 'j': return check_answer(input, codec::parse_job, codec::job_json);
        case 'J': return check_answer(input, codec::parse_job_list, codec::job_list_json);
        case 'v': return check_answer(input, codec::parse_verdict, codec::verdict_json);
        case 'p': return check_answer(input, codec::parse_plan, codec::plan_json);
        case 'w': return check_answer(input, codec::parse_what_if, codec::what_if_json);
        case 'e': return check_answer(input, codec::parse_event_json, codec::event_json);
        case 'E': return check_answer(input, codec::parse_event_list, codec::event_list_json);
        case 'N': return check_answer(input, codec::parse_node_list, codec::node_list_json);
        case 's': return check_body(input, codec::parse_share_account, codec::share_account_json);
        case 'R': return check_body(input, codec::parse_project_list, codec::project_list_json);
        case 'P': return check_body(input, codec::parse_pool_list, codec::pool_list_json);
        case 'y': return check_body(input, codec::parse_policy, codec::policy_json);
        default: expect(!codec::parse_problem(input).message.empty(), "an error says something");
    }
}

}  // namespace berth::fuzz
