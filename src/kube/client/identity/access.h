// SPDX-License-Identifier: Apache-2.0
//
// Where is the API server, and who are we to it? As kubeconfig files say, or as a pod's
// ServiceAccount does. Certificates are read here; a token in a file is read again by credentials.h
// when it changes.
//
// Refused by name: proxies, user names with passwords, auth-providers, addresses without TLS.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::kube::client {

// A program that prints credentials (client.authentication.k8s.io). It does not get the cluster
// (provideClusterInfo).
struct ExecCommand {
    std::string command;
    std::vector<std::string> arguments;
    std::map<std::string, std::string> environment;  // beside that of the process
    std::string api_version;
};

struct Access {
    std::string host = {};
    std::string port = {};
    std::string base_path = {};  // what stands before /api, often nothing
    std::string server_name = {};  // what the certificate must name, when it is not the host
    std::string ca_pem = {};  // empty: the authorities of the machine
    bool is_unverified = false;  // insecure-skip-tls-verify
    std::string certificate_pem = {};
    std::string key_pem = {};
    std::string token = {};
    std::string token_file = {};
    std::optional<ExecCommand> exec = {};
    std::string name_space = {};  // of the context; "default" when it says none
};

struct Kubeconfig {
    std::string path;  // for errors, and where its relative paths start
    std::string text;
};

// Of several files the first that names a thing says what it is, as kubectl has it.
// `context` empty: the current one. Errors: Invalid, NotFound, naming file and field.
base::Result<Access> read_kubeconfig(std::span<const Kubeconfig> files, std::string_view context);

struct ServiceAccount {
    std::string host;  // KUBERNETES_SERVICE_HOST
    std::string port;  // KUBERNETES_SERVICE_PORT
    std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount";
};
base::Result<Access> read_service_account(const ServiceAccount& account);

// A whole file of at most a megabyte. Errors: NotFound, Exhausted.
base::Result<std::string> read_small_file(const std::string& path);

}  // namespace berth::kube::client
