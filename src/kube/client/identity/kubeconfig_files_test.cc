// SPDX-License-Identifier: Apache-2.0
#include "kube/client/identity/kubeconfig_files.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

using namespace berth;
using namespace berth::kube::client;

namespace {

class Home {
  public:
    Home() { std::filesystem::create_directories(path / ".kube"); }
    ~Home() { std::filesystem::remove_all(path); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(path / name) << text;
        return (path / name).string();
    }
    std::filesystem::path path = std::filesystem::temp_directory_path() /
                                 ("berth-kubeconfigs-" + std::to_string(::getpid()));
};

std::string texts(const KubeconfigPlaces& places) {
    const auto files = find_kubeconfigs(places);
    if (!files) return "error: " + files.error().message;
    std::string all;
    for (const Kubeconfig& file : *files) all += file.text + ";";
    return all;
}

}  // namespace

TEST_CASE("the flag's file, else those of the variable, else the one at home") {
    const Home home;
    const std::string at_home = home.write(".kube/config", "home");
    const std::string one = home.write("one", "one");
    const std::string two = home.write("two", "two");
    CHECK(texts({"", "", home.path.string()}) == "home;");
    CHECK(texts({"", one + "::" + two, home.path.string()}) == "one;two;");
    CHECK(texts({two, one, home.path.string()}) == "two;");
}

TEST_CASE("of the variable a file that is not there is passed over; the flag's has to be") {
    const Home home;
    const std::string one = home.write("one", "one");
    const std::string none = (home.path / "none").string();
    CHECK(texts({"", none + ":" + one, ""}) == "one;");
    CHECK(texts({none, one, ""}) == "error: \"" + none + "\" cannot be read");
    CHECK(texts({"", none, home.path.string()}) ==
          "error: no kubeconfig at " + none + "; --kubeconfig or KUBECONFIG names one");
    CHECK(texts({"", "", ""}).find("no kubeconfig at ~/.kube/config") != std::string::npos);
}
