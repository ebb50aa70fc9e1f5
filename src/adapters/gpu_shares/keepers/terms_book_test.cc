// SPDX-License-Identifier: Apache-2.0
//
// What was written down of a tenant is whole, whenever the server that wrote it died.
#include "adapters/gpu_shares/keepers/terms_book.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

using namespace berth::gpu_shares;
namespace fs = std::filesystem;

TEST_CASE("new terms take the place of the old ones at once, and the next server reads them") {
    char name[] = "/tmp/berth-terms-XXXXXX";
    REQUIRE(::mkdtemp(name) != nullptr);
    const fs::path home = name;
    const fs::path folder = home / "terms";
    fs::create_directory(folder);
    const TenantTerms before{"tenant 9.1.0 share=250", "GPU-0", berth::base::Bytes{16}, "n0", true};
    TenantTerms after = before;
    after.order = "tenant 9.1.0 share=500";
    TermsBook book(folder.string());
    book.put("9.1.0", before);

    // Who has the old file open reads the old terms to their end: nothing is written over them.
    std::ifstream open(folder / "9.1.0");
    book.put("9.1.0", after);
    const std::string old((std::istreambuf_iterator<char>(open)), {});
    CHECK(read_terms(old) == before);

    const TermsBook next(folder.string());
    CHECK(next.tenants().size() == 1);
    CHECK(next.tenants().at("9.1.0") == after);
    fs::remove_all(home);
}
