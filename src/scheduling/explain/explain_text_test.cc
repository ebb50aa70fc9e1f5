// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "scheduling/explain/explain.h"

namespace berth::scheduling {
namespace {

TEST_CASE("every cause has a sentence of its own, with all its parts") {
    std::vector<std::string> sentences;
    for (int i = 0; i < model::kCauseCount; ++i) {
        model::Verdict verdict;
        verdict.because(static_cast<model::Cause>(i));
        verdict.what = "rack";
        const std::string text = explain_text(verdict);
        CAPTURE(text);
        CHECK_FALSE(text.empty());
        CHECK(text.find('{') == std::string::npos);
        CHECK(std::ranges::find(sentences, text) == sentences.end());
        sentences.push_back(text);
    }
}

TEST_CASE("the end of a wait is shown with its day where that is another one") {
    model::Verdict verdict;
    verdict.because(model::Cause::PreemptionDelay);
    verdict.at = base::at_ms(0);
    verdict.until = base::at_ms(3'600'000);
    CHECK(explain_text(verdict).find(" before 01:00:00 UTC: ") != std::string::npos);
    verdict.until = base::at_ms(30LL * 3'600'000);
    CHECK(explain_text(verdict).find(" before 1970-01-02 06:00:00 UTC: ") != std::string::npos);
}

}  // namespace
}  // namespace berth::scheduling
