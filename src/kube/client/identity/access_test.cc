// SPDX-License-Identifier: Apache-2.0
#include "kube/client/identity/access.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "kube/client/identity/base64.h"

using namespace berth;
using namespace berth::kube::client;

namespace {

base::Result<Access> read(const std::string& text, std::string_view context = "") {
    const Kubeconfig file{"/home/susan/.kube/config", text};
    return read_kubeconfig({&file, 1}, context);
}

std::string with(const std::string& cluster, const std::string& user) {
    return "current-context: c\n"
           "contexts: [{name: c, context: {cluster: k, user: u, namespace: ml}}]\n"
           "clusters: [{name: k, cluster: {" +
           cluster +
           "}}]\n"
           "users: [{name: u, user: {" +
           user + "}}]\n";
}

std::string refusal(const std::string& text) {
    const auto access = read(text);
    return access ? "none" : access.error().message;
}

}  // namespace

TEST_CASE("base64 is read with its padding and nothing else") {
    CHECK(decode_base64("") == "");
    CHECK(decode_base64("YQ==") == "a");
    CHECK(decode_base64("YWI=") == "ab");
    CHECK(decode_base64("YWJj\nZGVm") == "abcdef");
    CHECK(decode_base64("/+8=") == std::string("\xff\xef"));
    for (const char* text : {"Y", "YQ", "YQ=", "YQ===", "Y=Q=", "YQ==YQ==", "Y*==", "===="}) {
        CAPTURE(text);
        CHECK_FALSE(decode_base64(text).has_value());
    }
}

TEST_CASE("a kubeconfig says where the server is and who we are") {
    const auto access =
        read(with("server: 'https://10.0.0.1:6443/k8s/c-1/', "
                  "certificate-authority-data: Y2E=, tls-server-name: kube",
                  "client-certificate-data: Y3J0, client-key-data: a2V5"));
    REQUIRE_MESSAGE(access, access.error().message);
    CHECK(access->host == "10.0.0.1");
    CHECK(access->port == "6443");
    CHECK(access->base_path == "/k8s/c-1");
    CHECK(access->server_name == "kube");
    CHECK(access->ca_pem == "ca");
    CHECK(access->certificate_pem == "crt");
    CHECK(access->key_pem == "key");
    CHECK(access->name_space == "ml");
    CHECK_FALSE(access->is_unverified);
}

TEST_CASE("addresses: the port is 443 unless given, IPv6 has brackets") {
    const auto name = read(with("server: https://kube.example", ""));
    REQUIRE(name);
    CHECK(name->host == "kube.example");
    CHECK(name->port == "443");
    const auto six = read(with("server: 'https://[fd00::1]:6443'", ""));
    REQUIRE(six);
    CHECK(six->host == "fd00::1");
    CHECK(six->port == "6443");
    for (const char* bad : {"http://a", "https://", "https://a:0", "https://a:x", "https://a b",
                            "https://a:99999", "https://u@a", "a:443"}) {
        CAPTURE(bad);
        CHECK(refusal(with("server: '" + std::string(bad) + "'", "")).find("server \"") !=
              std::string::npos);
    }
}

TEST_CASE("exec credentials: command, arguments, environment") {
    const auto access = read(with("server: https://a",
                                  "exec: {apiVersion: client.authentication.k8s.io/v1, "
                                  "command: ./bin/login, args: [get, token], "
                                  "env: [{name: REGION, value: eu}]}"));
    REQUIRE_MESSAGE(access, access.error().message);
    REQUIRE(access->exec);
    CHECK(access->exec->command == "/home/susan/.kube/./bin/login");
    CHECK(access->exec->arguments == std::vector<std::string>{"get", "token"});
    CHECK(access->exec->environment.at("REGION") == "eu");
}

TEST_CASE("of several files the first that names a thing says what it is") {
    const std::vector<Kubeconfig> files{{"/a/config",
                                         "contexts: [{name: x, context: {cluster: k, user: u}}]\n"
                                         "users: [{name: u, user: {token: first}}]"},
                                        {"/b/config",
                                         "current-context: x\n"
                                         "clusters: [{name: k, cluster: {server: 'https://b'}}]\n"
                                         "users: [{name: u, user: {token: second}}]"}};
    const auto access = read_kubeconfig(files, "");
    REQUIRE_MESSAGE(access, access.error().message);
    CHECK(access->host == "b");
    CHECK(access->token == "first");
    CHECK(access->name_space == "default");
}

TEST_CASE("what is not supported or not there is named") {
    CHECK(refusal(with("server: https://a, proxy-url: http://p", "")) ==
          "/home/susan/.kube/config: clusters[k].cluster: proxy-url is not supported");
    CHECK(refusal(with("server: https://a", "username: susan")) ==
          "/home/susan/.kube/config: users[u].user: username is not supported");
    CHECK(refusal(with("server: https://a", "client-certificate-data: Y3J0")) ==
          "/home/susan/.kube/config: users[u].user: a client certificate needs its key, and a key "
          "its certificate");
    CHECK(
        refusal(with("server: https://a, certificate-authority-data: '*'", "")) ==
        "/home/susan/.kube/config: clusters[k].cluster: certificate-authority-data is not base64");
    CHECK(refusal(with("server: https://a, certificate-authority: gone.crt", "")) ==
          "\"/home/susan/.kube/gone.crt\" cannot be read");
    CHECK(refusal("current-context: x") ==
          "no \"x\" among the contexts of /home/susan/.kube/config");
    CHECK(refusal("{}") == "no kubeconfig names a current-context");
    CHECK_FALSE(read(with("server: https://a", ""), "other"));
}

TEST_CASE("a pod's ServiceAccount: its files, and a token that is read later") {
    const auto folder =
        std::filesystem::temp_directory_path() / ("berth-account-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "ca.crt") << "ca";
    std::ofstream(folder / "namespace") << "berth-system";
    const auto access = read_service_account({"10.96.0.1", "443", folder.string()});
    REQUIRE_MESSAGE(access, access.error().message);
    CHECK(access->host == "10.96.0.1");
    CHECK(access->name_space == "berth-system");
    CHECK(access->ca_pem == "ca");
    CHECK(access->token_file == (folder / "token").string());
    std::filesystem::remove_all(folder);
    CHECK_FALSE(read_service_account({"10.96.0.1", "443", folder.string()}));
    CHECK_FALSE(read_service_account({"", "", folder.string()}));
}
