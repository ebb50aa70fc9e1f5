// SPDX-License-Identifier: Apache-2.0
//
// berth kube install, uninstall, manifest: Berth on the cluster that the user's kubeconfig names.
#include <cstdlib>
#include <memory>
#include <string>

#include "app/berth/kube.h"
#include "cli/command_line/arguments.h"
#include "cli/command_line/context.h"
#include "cli/terminal/yaml_text.h"
#include "codec/text/json.h"
#include "kube/client/identity/kubeconfig_files.h"
#include "kube/install/install.h"

namespace berth::app {
namespace {

namespace client = kube::client;
namespace setup = kube::install;

constexpr base::Duration kKubePatience = std::chrono::minutes(1);

constexpr cli::Flag kImageFlag{
    .name = "image",
    .value = "IMAGE",
    .help = "container image of the scheduler (default: berth:" BERTH_VERSION ")"};
constexpr cli::Flag kTimeoutFlag{
    .name = "timeout", .value = "TIME", .help = "time limit (default: 1m)"};

constexpr cli::Flag kInstallFlags[] = {kKubeconfigFlag, kContextFlag, kImageFlag, kTimeoutFlag};
constexpr cli::Flag kUninstallFlags[] = {
    {.name = "keep-projects", .help = "keep Projects, Pools, the Policy and their kinds"},
    {.name = "delete-projects", .help = "delete Projects, Pools and the Policy"},
    kKubeconfigFlag,
    kContextFlag,
    kTimeoutFlag};
constexpr cli::Flag kManifestFlags[] = {kImageFlag};

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr ? value : "";
}

base::Result<std::unique_ptr<setup::Session>> open(const cli::Arguments& arguments,
                                                   base::Duration patience) {
    BERTH_TRY(access, kubeconfig_access(arguments));
    return setup::Session::open(access, patience);
}

setup::InstallOptions options_of(const cli::Arguments& arguments) {
    return {.image = arguments.text("image", "berth:" BERTH_VERSION)};
}

void print_line(std::string_view line) { cli::print(std::string(line) + "\n"); }

// What helps, beside the words of the error.
std::string suggestion_of(const base::Error& error, std::string_view again) {
    if (error.code == base::ErrorCode::Forbidden) return "ask an administrator of the cluster";
    if (error.code == base::ErrorCode::Timeout) return std::string(again);
    return {};
}

int run_install(cli::Context& context, const cli::Arguments& arguments) {
    const auto patience = arguments.duration("timeout", kKubePatience);
    if (!patience) return cli::report(context, patience.error());
    const auto session = open(arguments, *patience);
    if (!session) return cli::report(context, cli::Failure::from(session.error()));
    const base::Status done = setup::install(**session, options_of(arguments), print_line);
    if (!done) {
        return cli::report(
            context,
            cli::Failure::from(done.error(), suggestion_of(done.error(), "berth kube install")));
    }
    cli::print("installed; next: kubectl label namespace NAME berth.dev/project=PROJECT\n");
    return cli::kDone;
}

int run_uninstall(cli::Context& context, const cli::Arguments& arguments) {
    const bool keeps = arguments.has("keep-projects");
    const bool deletes = arguments.has("delete-projects");
    if (keeps && deletes) {
        return cli::report(context, {cli::kBadUsage, "--keep-projects and --delete-projects: one",
                                     "berth help kube uninstall"});
    }
    const auto patience = arguments.duration("timeout", kKubePatience);
    if (!patience) return cli::report(context, patience.error());
    const auto session = open(arguments, *patience);
    if (!session) return cli::report(context, cli::Failure::from(session.error()));
    const auto declarations = keeps     ? setup::Declarations::Keep
                              : deletes ? setup::Declarations::Delete
                                        : setup::Declarations::Ask;
    const base::Status done = setup::uninstall(**session, declarations, print_line);
    if (!done) {
        const bool has_to_say = declarations == setup::Declarations::Ask &&
                                done.error().code == base::ErrorCode::Conflict;
        return cli::report(
            context,
            cli::Failure::from(done.error(),
                               has_to_say ? "berth kube uninstall --keep-projects, or "
                                            "--delete-projects"
                                          : suggestion_of(done.error(), "berth kube uninstall")));
    }
    cli::print("uninstalled; running pods go on\n");
    return cli::kDone;
}

int run_manifest(cli::Context& context, const cli::Arguments& arguments) {
    std::string text;
    for (const setup::Object& object : setup::objects_of(options_of(arguments))) {
        const auto value = codec::parse_json(object.json, object.title);
        if (!value) return cli::report(context, cli::Failure::from(value.error()));
        text += "---\n" + cli::yaml_text(*value);
    }
    cli::print(text);
    return cli::kDone;
}

}  // namespace

base::Result<client::Access> kubeconfig_access(const cli::Arguments& arguments) {
    BERTH_TRY(files, client::find_kubeconfigs(
                         {arguments.text("kubeconfig"), variable("KUBECONFIG"), variable("HOME")}));
    return client::read_kubeconfig(files, arguments.text("context"));
}

const cli::Verb kube_install_verb{
    .intent = cli::Intent::System,
    .name = "kube install",
    .synopsis = "[--kubeconfig FILE] [--context NAME] [--image IMAGE]",
    .summary = "install or update Berth on a Kubernetes cluster",
    .flags = kInstallFlags,
    .more = "  berth kube install --image registry.example.org/berth:" BERTH_VERSION
            "\n"
            "  berth kube manifest | kubectl apply -f -      the same by kubectl\n",
    .run = run_install};

const cli::Verb kube_uninstall_verb{
    .intent = cli::Intent::System,
    .name = "kube uninstall",
    .synopsis = "[--keep-projects | --delete-projects] [--kubeconfig FILE]",
    .summary = "remove Berth from a cluster; running pods continue",
    .flags = kUninstallFlags,
    .run = run_uninstall};

const cli::Verb kube_manifest_verb{.intent = cli::Intent::System,
                                   .name = "kube manifest",
                                   .synopsis = "[--image IMAGE]",
                                   .summary = "print what install applies, as YAML",
                                   .flags = kManifestFlags,
                                   .run = run_manifest};

}  // namespace berth::app
