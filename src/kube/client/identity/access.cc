// SPDX-License-Identifier: Apache-2.0
#include "kube/client/identity/access.h"

#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "codec/text/json.h"
#include "kube/client/identity/base64.h"

namespace berth::kube::client {
namespace {

using base::Result;
using codec::Value;

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;

// A part of a kubeconfig, with where it stands for errors.
struct Part {
    const Value* value = nullptr;
    std::string path;  // of the file
    std::string name;  // users[me].user

    std::string text(std::string_view field) const {
        const Value* found = value->find(field);
        return found != nullptr && found->is_scalar() ? found->text : std::string{};
    }
    bool is_true(std::string_view field) const { return text(field) == "true"; }
    tl::unexpected<base::Error> wrong(const std::string& what) const {
        return base::invalid(path + ": " + name + ": " + what);
    }
    std::string resolved(const std::string& file) const {
        return (std::filesystem::path(path).parent_path() / file).string();
    }
};

struct Parsed {
    std::string path;
    Value root;
};

// The entry of that name in the first file that has one.
Result<Part> find_entry(const std::vector<Parsed>& files, const std::string& list,
                        const std::string& member, const std::string& name) {
    for (const Parsed& file : files) {
        const Value* entries = file.root.find(list);
        if (entries == nullptr || entries->kind != Value::Kind::List) continue;
        for (const Value& entry : entries->items) {
            const Value* called = entry.find("name");
            const Value* found = entry.find(member);
            if (called == nullptr || called->text != name || found == nullptr) continue;
            return Part{found, file.path, list + "[" + name + "]." + member};
        }
    }
    std::string read;
    for (const Parsed& file : files) read += (read.empty() ? "" : ", ") + file.path;
    return base::fail(base::ErrorCode::NotFound,
                      "no \"" + name + "\" among the " + list + " of " + read);
}

// FIELD-data in base64, or the file that FIELD names; nothing when neither is there.
Result<std::string> read_pem(const Part& part, const std::string& field) {
    if (const std::string data = part.text(field + "-data"); !data.empty()) {
        auto pem = decode_base64(data);
        if (!pem) return part.wrong(field + "-data is not base64");
        return std::move(*pem);
    }
    const std::string file = part.text(field);
    if (file.empty()) return std::string{};
    return read_small_file(part.resolved(file));
}

// https://HOST[:PORT][/PATH], HOST perhaps an IPv6 address in brackets.
base::Status take_server(const Part& cluster, Access& access) {
    const std::string server = cluster.text("server");
    static constexpr std::string_view kScheme = "https://";
    if (!server.starts_with(kScheme)) {
        return cluster.wrong("server \"" + server +
                             "\": wanted an address that begins with https://");
    }
    std::string_view rest = std::string_view(server).substr(kScheme.size());
    const std::size_t slash = rest.find('/');
    std::string_view place = rest.substr(0, slash);
    if (slash != std::string_view::npos) access.base_path = rest.substr(slash);
    while (access.base_path.ends_with('/')) access.base_path.pop_back();
    const std::size_t bracket = place.rfind(']');
    const std::size_t colon = place.rfind(':');
    const bool has_port =
        colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket);
    access.port = has_port ? place.substr(colon + 1) : "443";
    if (has_port) place = place.substr(0, colon);
    if (place.starts_with('[') && place.ends_with(']')) place = place.substr(1, place.size() - 2);
    access.host = place;
    unsigned port = 0;
    const char* end = access.port.data() + access.port.size();
    const bool is_port = std::from_chars(access.port.data(), end, port).ptr == end &&
                         !access.port.empty() && port > 0 && port < 65536;
    const bool is_clean = access.host.find_first_of("\r\n @[]") == std::string::npos &&
                          access.base_path.find_first_of("\r\n ?#") == std::string::npos;
    if (access.host.empty() || !is_port || !is_clean) {
        return cluster.wrong("server \"" + server + "\" is not an address");
    }
    return {};
}

base::Status take_cluster(const Part& cluster, Access& access) {
    if (!cluster.text("proxy-url").empty()) return cluster.wrong("proxy-url is not supported");
    BERTH_TRY_VOID(take_server(cluster, access));
    access.server_name = cluster.text("tls-server-name");
    access.is_unverified = cluster.is_true("insecure-skip-tls-verify");
    BERTH_TRY(ca, read_pem(cluster, "certificate-authority"));
    access.ca_pem = std::move(ca);
    return {};
}

Result<ExecCommand> read_exec(const Part& user, const Value& exec) {
    const Part part{&exec, user.path, user.name + ".exec"};
    ExecCommand command;
    command.command = part.text("command");
    command.api_version = part.text("apiVersion");
    if (command.command.empty()) return part.wrong("no command");
    if (command.api_version != "client.authentication.k8s.io/v1" &&
        command.api_version != "client.authentication.k8s.io/v1beta1") {
        return part.wrong("apiVersion \"" + command.api_version +
                          "\": wanted client.authentication.k8s.io/v1 or v1beta1");
    }
    // A path is relative to the file, a bare name is looked up in PATH.
    if (command.command.find('/') != std::string::npos) {
        command.command = part.resolved(command.command);
    }
    if (const Value* arguments = exec.find("args"); arguments != nullptr) {
        for (const Value& argument : arguments->items) command.arguments.push_back(argument.text);
    }
    if (const Value* variables = exec.find("env"); variables != nullptr) {
        for (const Value& variable : variables->items) {
            const Value* name = variable.find("name");
            const Value* value = variable.find("value");
            if (name == nullptr || value == nullptr) return part.wrong("env wants name and value");
            command.environment[name->text] = value->text;
        }
    }
    return command;
}

base::Status take_user(const Part& user, Access& access) {
    for (const char* field : {"username", "password", "auth-provider", "as"}) {
        if (user.value->find(field) != nullptr) {
            return user.wrong(std::string(field) + " is not supported");
        }
    }
    BERTH_TRY(certificate, read_pem(user, "client-certificate"));
    BERTH_TRY(key, read_pem(user, "client-key"));
    if (certificate.empty() != key.empty()) {
        return user.wrong("a client certificate needs its key, and a key its certificate");
    }
    access.certificate_pem = std::move(certificate);
    access.key_pem = std::move(key);
    access.token = user.text("token");
    if (const std::string file = user.text("tokenFile"); !file.empty()) {
        access.token_file = user.resolved(file);
        access.token.clear();  // the file is the newer one
    }
    const Value* exec = user.value->find("exec");
    if (exec != nullptr && exec->kind == Value::Kind::Map) {
        BERTH_TRY(command, read_exec(user, *exec));
        access.exec = std::move(command);
    }
    return {};
}

}  // namespace

Result<std::string> read_small_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::error_code is_none;
    if (!file || std::filesystem::is_directory(path, is_none)) {
        return base::fail(base::ErrorCode::NotFound, "\"" + path + "\" cannot be read");
    }
    std::string text(kFileBytesMax + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > kFileBytesMax) {
        return base::fail(base::ErrorCode::Exhausted, "\"" + path + "\" is larger than 1 MiB");
    }
    return text;
}

Result<Access> read_kubeconfig(std::span<const Kubeconfig> files, std::string_view context) {
    std::vector<Parsed> parsed;
    std::string wanted(context);
    for (const Kubeconfig& file : files) {
        BERTH_TRY(root, codec::parse_yaml(file.text, file.path));
        const Value* current = root.find("current-context");
        if (wanted.empty() && current != nullptr) wanted = current->text;
        parsed.push_back({file.path, std::move(root)});
    }
    if (wanted.empty()) {
        return base::fail(base::ErrorCode::NotFound, "no kubeconfig names a current-context");
    }
    BERTH_TRY(chosen, find_entry(parsed, "contexts", "context", wanted));
    BERTH_TRY(cluster, find_entry(parsed, "clusters", "cluster", chosen.text("cluster")));
    Access access;
    BERTH_TRY_VOID(take_cluster(cluster, access));
    if (const std::string name = chosen.text("user"); !name.empty()) {
        BERTH_TRY(user, find_entry(parsed, "users", "user", name));
        BERTH_TRY_VOID(take_user(user, access));
    }
    access.name_space = chosen.text("namespace");
    if (access.name_space.empty()) access.name_space = "default";
    return access;
}

Result<Access> read_service_account(const ServiceAccount& account) {
    if (account.host.empty() || account.port.empty()) {
        return base::fail(base::ErrorCode::NotFound,
                          "KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set: "
                          "this is not a pod with a ServiceAccount");
    }
    Access access;
    access.host = account.host;
    access.port = account.port;
    BERTH_TRY(ca, read_small_file(account.folder + "/ca.crt"));
    access.ca_pem = std::move(ca);
    BERTH_TRY(name_space, read_small_file(account.folder + "/namespace"));
    access.name_space = std::move(name_space);
    access.token_file = account.folder + "/token";
    return access;
}

}  // namespace berth::kube::client
