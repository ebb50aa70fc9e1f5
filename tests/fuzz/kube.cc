// SPDX-License-Identifier: Apache-2.0
//
// What an API server answers, and the files that say where it is.
#include <memory>
#include <string>
#include <utility>

#include "fuzz/target.h"
#include "fuzz/targets.h"
#include "kube/client/caches/watch.h"
#include "kube/client/identity/access.h"
#include "kube/client/transport/connection.h"
#include "kube/client/transport/outcome.h"
#include "kube/objects/declared.h"
#include "kube/objects/disruption_budget.h"
#include "kube/objects/node.h"
#include "kube/objects/pod.h"
#include "model/limits.h"

namespace berth::fuzz {
namespace {

using codec::JsonReader;
using namespace kube::client;
using namespace kube::objects;

void check(const Meta& meta) {
    expect(meta.uid && !meta.name.empty(), "what is taken has a name and a uid");
    expect(Uid::parse(format(meta.uid)) == meta.uid, "a uid is read as it is written");
}

// Hands on what the "server" says in pieces of a few bytes, as soon as it is asked to.
class Pieces final : public Channel {
  public:
    explicit Pieces(std::string_view all) : all_(all) {}
    void open(Done done) override { done({}); }
    void write(std::string, Done done) override { done({}); }
    void read(Got got) override { got_ = std::move(got); }

    // False when nothing reads any more.
    bool go_on() {
        if (!got_) return false;
        const std::string_view piece = all_.substr(0, 1 + all_.size() % 7);
        all_.remove_prefix(piece.size());
        std::exchange(got_, nullptr)(piece);
        return true;
    }

  private:
    std::string_view all_;
    Got got_;
};

}  // namespace

// Lines of a watch; of what is an event, its object as each of those that we know.
void kube_watch(std::string_view input) {
    PodPools pods;
    NodePools nodes;
    Lines lines;
    const auto goes_on = lines.add(input, [&](std::string_view line) {
        Pod pod;
        Node node;
        const auto read_as = [&](auto read) {
            return read_event(line, [&](EventType, JsonReader& reader) { read(reader); });
        };
        if (read_as([&](JsonReader& reader) { pod = read_pod(reader, pods); })) check(pod.meta);
        if (read_as([&](JsonReader& reader) { node = read_node(reader, nodes); })) check(node.meta);
        DisruptionBudget budget;
        if (read_as([&](JsonReader& r) { budget = read_disruption_budget(r, pods.meta); })) {
            check(budget.meta);
            const bool selects_it = selects(budget, *pod.meta.labels);
            expect(budget.problem.empty() || selects_it, "what cannot be read selects every pod");
        }
        (void)read_as([](JsonReader& reader) { read_status(reader); });
        return true;
    });
    expect(goes_on.has_value(), "a short line is taken");
    const Outcome outcome = outcome_of(Effect::Write, {409, {}}, std::string(input));
    expect(outcome.kind == Outcome::Kind::Refused, "a refusal is one, whatever it says");
}

// An object that people declared, as each of the kinds: what it says is within the limits, or it
// says what is wrong.
void kube_declared(std::string_view input) {
    MetaPools pools;
    JsonReader as_project(input);
    const DeclaredProject project = read_project(as_project, pools);
    // No object of a server has another name.
    if (!as_project.is_failed() && model::is_name(project.meta.name)) {
        check(project.meta);
        expect(model::check_limits(project.project).has_value(), "a project is within the limits");
    }
    JsonReader as_pool(input);
    const DeclaredPool pool = read_pool(as_pool, pools);
    if (!as_pool.is_failed() && model::is_name(pool.meta.name)) {
        expect(model::check_limits(pool.pool).has_value(), "a pool is within the limits");
    }
    JsonReader as_policy(input);
    const DeclaredPolicy policy = read_policy(as_policy, pools);
    if (as_policy.is_failed()) return;
    const auto profile = model::policy_named(policy.profile);
    expect(profile && model::changed_policy(*profile, policy.settings), "settings are known");
    expect(model::check_limits(policy.levels).has_value(), "levels are within the limits");
}

void kube_http(std::string_view input) {
    auto channel = std::make_unique<Pieces>(input);
    Pieces& server = *channel;
    Connection connection(std::move(channel));
    std::size_t size = 0;
    int ends = 0;
    connection.exchange(
        "GET / HTTP/1.1\r\n\r\n",
        [&](const Head& head, std::string_view piece) {
            expect(head.code >= 100, "a body has a status");
            size += piece.size();
            return true;
        },
        [&](const Connection::End& end) {
            ++ends;
            const bool is_whole = end.kind == Connection::End::Kind::Whole;
            expect(!is_whole || end.head.code >= 100, "a whole answer has a status");
        });
    for (std::size_t steps = 0; server.go_on(); ++steps) {
        expect(steps <= input.size() + 1, "a server that has said all is let go");
    }
    expect(ends == 1, "an exchange ends, once");
    expect(size <= input.size(), "no more is handed on than was said");
}

void kubeconfig(std::string_view input) {
    const Kubeconfig file{"config", std::string(input)};
    const auto access = read_kubeconfig({&file, 1}, "");
    if (!access) return;
    expect(!access->host.empty() && !access->port.empty(), "there is somewhere to go");
    expect(access->certificate_pem.empty() == access->key_pem.empty(), "a key has its certificate");
}

}  // namespace berth::fuzz
