// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "lifecycle/apply.h"
#include "lifecycle/invariants.h"
#include "lifecycle/write_down.h"

using namespace berth;
using berth::base::JobId;
using berth::base::NodeId;

namespace {

constexpr JobId kMovedJob{1};

// A pool of one node whose spares are in the default pool, where one stands.
class NodeLife {
  public:
    NodeLife() {
        happen(model::PoolSet{{"cells", {{"cells", "a"}}, {}, "default"}});
        add("c0", {{"cells", "a"}});
        add("s0", {});
        model::Project project;
        project.name = "a";
        happen(model::ProjectSet{project});
        model::JobSpec spec;
        spec.name = "x";
        spec.project = "a";
        spec.pools = {"cells", "default"};
        happen(model::JobSubmitted{kMovedJob, spec, {}, {}});
    }

    void happen(model::EventBody body) {
        REQUIRE(lifecycle::check(state, body));
        lifecycle::apply(state, {state.sequence + 1, base::at_ms(1000), "test", std::move(body)});
        CHECK(lifecycle::violations(state.cluster) == std::vector<std::string>{});
        const auto restored = lifecycle::restore(lifecycle::snapshot(state));
        CHECK(lifecycle::dump(restored.cluster) == lifecycle::dump(state.cluster));
    }

    void add(const std::string& name, model::Labels labels,
             model::NodeHealth health = model::NodeHealth::Ready) {
        model::Node node;
        node.name = name;
        node.gpus = 2;
        node.labels = std::move(labels);
        node.health = health;
        happen(model::NodeSet{node});
    }

    void start_on(const std::string& node) {
        const model::TaskPlacement place{0, state.cluster.find_node(node), 1, base::kWholeGpu, {},
                                         {}};
        happen(model::JobStarting{kMovedJob, 1, {}, {place}});
        happen(model::JobRunning{kMovedJob});
    }

    std::string pool_of(const std::string& node) const {
        const auto id = state.cluster.find_node(node);
        return state.cluster.pool(state.cluster.nodes()[id.index()].pool).name;
    }
    base::MilliGpu capacity(const std::string& pool) const {
        return state.cluster.pool(state.cluster.find_pool(pool)).capacity;
    }
    std::string refusal(const model::EventBody& body) const {
        const auto possible = lifecycle::check(state, body);
        return possible ? "none" : possible.error().message;
    }

    lifecycle::State state;
};

}  // namespace

TEST_CASE("two nodes that swap their pools stay there when one of them is back") {
    NodeLife life;
    life.add("c0", {{"cells", "a"}}, model::NodeHealth::Down);
    life.happen(model::NodeMoved{"s0", "cells", "c0"});
    CHECK(life.pool_of("s0") == "cells");
    CHECK(life.pool_of("c0") == "default");
    CHECK(life.capacity("cells") == base::gpus(2));
    CHECK(life.capacity("default") == base::gpus(0));
    life.add("c0", {{"cells", "a"}});
    CHECK(life.pool_of("c0") == "default");
    CHECK(life.capacity("default") == base::gpus(2));
    life.add("s0", {}, model::NodeHealth::Drained);
    life.happen(model::NodeMoved{"c0", "cells", "s0"});
    CHECK(cluster::places(life.state.cluster).empty());
}

TEST_CASE("a node that is bound goes where its labels say when they say something else") {
    NodeLife life;
    life.add("c0", {{"cells", "a"}}, model::NodeHealth::Down);
    life.happen(model::NodeMoved{"s0", "cells", "c0"});
    const NodeId c0 = life.state.cluster.find_node("c0");
    CHECK(life.state.cluster.membership().misplaced.empty());
    life.happen(model::PoolSet{{"cells", {{"cells", "b"}}, {}, "default"}});
    CHECK(life.state.cluster.membership().bound.size() == 1);
    CHECK(life.state.cluster.belongs_to(c0) == life.state.cluster.nodes()[c0.index()].pool);
    life.add("s0", {{"cells", "b"}, {"new", "yes"}});
    CHECK(life.state.cluster.membership().bound.empty());
}

TEST_CASE(
    "a node with work whose labels change takes no more, and joins its pool when it is empty") {
    NodeLife life;
    life.start_on("s0");
    life.add("s0", {{"cells", "a"}});
    CHECK(life.pool_of("s0") == "default");
    CHECK(life.capacity("default") == base::gpus(0));
    CHECK(life.capacity("cells") == base::gpus(2));
    CHECK(life.refusal(model::NodeMoved{"s0", "cells", ""}) == "node \"s0\" has work");
    const auto places = lifecycle::written_down(life.state, base::at_ms(2000)).places;
    CHECK(places == std::vector<model::NodePlace>{{"s0", "default", false}});
    life.happen(model::JobFinished{kMovedJob, model::JobState::Succeeded, 0, {}});
    life.happen(model::NodeMoved{"s0", "cells", ""});
    CHECK(life.capacity("cells") == base::gpus(4));
    CHECK(cluster::places(life.state.cluster).empty());
}

TEST_CASE("a pool has its spares in another one, which has none") {
    NodeLife life;
    const auto pool = [](std::string name, std::string spares) {
        const model::Labels labels =
            name == "default" ? model::Labels{} : model::Labels{{"x", "y"}};
        return model::PoolSet{{std::move(name), labels, {}, std::move(spares)}};
    };
    CHECK(life.refusal(pool("p", "q")) ==
          "pool \"p\": its spares are in pool \"q\", which does not exist; declare it before");
    CHECK(life.refusal(pool("p", "cells")) ==
          "pool \"p\": its spares are in pool \"cells\", which has to be another one without "
          "spares of its own");
    CHECK(life.refusal(pool("cells", "cells")) ==
          "pool \"cells\": its spares are in pool \"cells\", which has to be another one without "
          "spares of its own");
    CHECK(life.refusal(pool("default", "cells")) ==
          "pool \"default\": its spares are in pool \"cells\", which has to be another one without "
          "spares of its own");
    CHECK(life.refusal(model::PoolSet{{"default", {{"x", "y"}}, {}, ""}}) ==
          "pool \"default\" takes the nodes that match no other pool; it has no labels");
    life.happen(pool("other", ""));
    CHECK(life.refusal(pool("default", "other")) ==
          "pool \"default\": it has the spares of pool \"cells\" and can have none of its own");
    CHECK(life.refusal(model::NodeMoved{"n9", "cells", ""}) == "node \"n9\" does not exist");
    CHECK(life.refusal(model::NodeMoved{"s0", "nope", ""}) == "pool \"nope\" does not exist");
    CHECK(life.refusal(model::NodeMoved{"c0", "cells", "s0"}) ==
          "node \"s0\" is not in pool \"cells\"");
}

TEST_CASE("a pool without spares any more has its nodes back, and gives the spares back") {
    NodeLife life;
    life.add("c0", {{"cells", "a"}}, model::NodeHealth::Down);
    life.happen(model::NodeMoved{"s0", "cells", "c0"});
    life.happen(model::PoolSet{{"cells", {{"cells", "a"}}, {}, ""}});
    CHECK(life.state.cluster.membership().misplaced.size() == 2);
    life.happen(model::NodeMoved{"s0", "default", ""});
    life.happen(model::NodeMoved{"c0", "cells", ""});
    CHECK(cluster::places(life.state.cluster).empty());
}

TEST_CASE("a pool goes when it is empty and unused") {
    NodeLife life;
    const model::PoolRemoved gone{"cells"};
    CHECK(life.refusal(model::PoolRemoved{"nope"}) == "pool \"nope\" does not exist");
    CHECK(life.refusal(model::PoolRemoved{"default"}) == "pool \"default\" is always there");
    CHECK(
        life.refusal(gone) ==
        "pool \"cells\" has nodes such as c0; first take its spares away, and its labels from its "
        "nodes");
    life.add("c0", {});
    life.happen(model::NodeMoved{"c0", "default", ""});
    CHECK(life.refusal(gone) == "pool \"cells\" is named by job 1, which has not ended");
    life.happen(model::JobFinished{kMovedJob, model::JobState::Succeeded, 0, {}});
    model::Project project;
    project.name = "a";
    project.pools["cells"].quota = base::gpus(2);
    life.happen(model::ProjectSet{project});
    CHECK(life.refusal(gone) ==
          "pool \"cells\" is in the rights of project \"a\"; take them away first");
    project.pools.clear();
    life.happen(model::ProjectSet{project});
    life.happen(model::PoolSet{{"spares", {{"spare", "yes"}}, {}, ""}});
    life.happen(model::PoolSet{{"other", {{"other", "yes"}}, {}, "spares"}});
    CHECK(life.refusal(model::PoolRemoved{"spares"}) == "pool \"spares\" has the spares of other");
    life.happen(gone);
    CHECK_FALSE(life.state.cluster.find_pool("cells").is_valid());
    life.happen(model::PoolSet{{"cells", {{"cells", "b"}}, {}, ""}});
    life.add("c0", {{"cells", "b"}});
    life.happen(model::NodeMoved{"c0", "cells", ""});
    CHECK(life.capacity("cells") == base::gpus(2));
    project.pools["gone"].quota = base::gpus(2);
    CHECK(life.refusal(model::ProjectSet{project}) == "pool \"gone\" does not exist");
}
