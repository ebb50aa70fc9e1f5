// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "codec/log/event_log.h"
#include "fuzz/target.h"
#include "fuzz/targets.h"

namespace berth::fuzz {
namespace {

// `parse` reads what `append` writes.
template <class Parse, class Append>
void check_log(std::string_view input, Parse parse, Append append) {
    const auto value = parse(input);
    if (!value) return;
    std::string text;
    append(text, *value);
    const auto again = parse(text);
    expect(again.has_value(), "what was written in the log is taken");
    std::string text_again;
    append(text_again, *again);
    expect(text_again == text, "the log is read as it was written");
}

}  // namespace

void log(std::string_view input) {
    check_log(input, codec::parse_event, codec::append_event);
    check_log(input, codec::parse_launch, codec::append_launch);
    check_log(input, codec::parse_snapshot, codec::append_snapshot);
    check_log(input, codec::parse_finished, [](std::string& out, const codec::FinishedJob& job) {
        codec::append_finished(out, job.record);
    });
}

}  // namespace berth::fuzz
