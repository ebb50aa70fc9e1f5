# SPDX-License-Identifier: Apache-2.0
"""What cluster and what pod does a seed stand for? One to three nodes, what is on them, how they
are a little later, and a pod that asks for a place; all that the API server takes and nothing that
Berth refuses by name. No node has more on it than it has room for: there Berth differs on purpose.

Names begin with "@", for which World.of() puts the name of one of several equal clusters. Nodes
have the labels fit/world and fit/node, by which a pod is held to one cluster or to one node."""
import functools
import json
import random

import fit_amounts
from fit_amounts import said

WORDS = ["a", "b", "8", "007", "8x", "", "9223372036854775808"]
KEYS = ["zone", "disk", "example.com/tier", "cores"]
TAINTS = ["dedicated", "example.com/gpu", "node.kubernetes.io/disk-pressure",
          "node.kubernetes.io/unschedulable"]
EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute"]
CLASSES = {"fit-low": -10, "fit-high": 1000}
RUNTIMES = {
    "fit-heavy": {"overhead": {"podFixed": {"cpu": "250m", "memory": "100M"}}},
    "fit-odd": {"overhead": {"podFixed": {"cpu": "0.1", "memory": "1500m",
                                          "ephemeral-storage": "1Ki"}}},
    "fit-somewhere": {"scheduling": {
        "nodeSelector": {"disk": "a"},
        "tolerations": [{"key": "dedicated", "operator": "Exists"}]}},
}


class World:
    """nodes, others (pods that are there) and asked (the spec of the pod); later is what becomes of
    the first two."""

    def __init__(self, seed):
        self.seed = seed
        self.dice = random.Random(seed)
        # Of all at once hardly anything would fit.
        self.is_tight = self._maybe(0.6)
        self.is_tainted, self.is_choosy = (self._maybe(0.35) for _ in range(2))
        self.nodes = [self._node(f"@-{at}") for at in range(self.dice.randint(1, 3))]
        self.others = [pod for node in self.nodes for pod in self._others(node)]
        self.asked = self._asked()
        self.later = {
            "nodes": [self._changed(node) if self._maybe(0.5) else node for node in self.nodes],
            "others": {pod["metadata"]["name"]: self.dice.choice(
                ["stays", "stays", "is deleted", "terminates", "ends"]) for pod in self.others}}

    def of(self, prefix):
        """(nodes, others, asked, later) under names of their own."""
        text = json.dumps([self.nodes, self.others, self.asked, self.later])
        return json.loads(text.replace("@", prefix))

    def _maybe(self, chance):
        return self.dice.random() < chance

    # --- nodes

    def _node(self, name):
        resources = fit_amounts.node_resources(self.dice, self.is_tight)
        return {
            "metadata": {"name": name, "labels": {
                "fit/world": "@", "fit/node": name,
                **{key: self.dice.choice(WORDS) for key in KEYS if self._maybe(0.6)}}},
            "spec": {"unschedulable": self.is_tainted and self._maybe(0.2),
                     "taints": self._taints()},
            "status": {"allocatable": resources, "capacity": resources, "conditions": [
                {"type": "Ready", "status": "True"}]}}

    def _taints(self):
        found = {}
        while self._maybe(0.5 if self.is_tainted else 0):
            taint = {"key": self.dice.choice(TAINTS), "effect": self.dice.choice(EFFECTS)}
            value = self.dice.choice(["", "a", "b"])
            found[taint["key"], taint["effect"]] = taint | ({"value": value} if value else {})
        return list(found.values())

    def _changed(self, node):
        """The same node, later."""
        other = self._node(node["metadata"]["name"])
        changed = json.loads(json.dumps(node))
        part = self.dice.choice(["labels", "taints", "cordon", "resources", "health"])
        if part == "labels":
            changed["metadata"]["labels"] = other["metadata"]["labels"]
        elif part == "taints":
            changed["spec"]["taints"] = other["spec"]["taints"]
        elif part == "cordon":
            changed["spec"]["unschedulable"] = not node["spec"]["unschedulable"]
        elif part == "resources":
            if has_room(other, on_node(node, self.others)):
                changed["status"] = other["status"]
        else:
            self._fail(changed)
        return changed

    def _fail(self, node):
        """As the node controller marks one that is not ready, or that nobody hears of."""
        status, key = self.dice.choice([("False", "node.kubernetes.io/not-ready"),
                                        ("Unknown", "node.kubernetes.io/unreachable")])
        node["status"]["conditions"] = [{"type": "Ready", "status": status}]
        node["spec"]["taints"] = node["spec"]["taints"] + [
            {"key": key, "effect": effect} for effect in ("NoSchedule", "NoExecute")]

    # --- pods that are there

    def _others(self, node):
        """Those of up to four that it has room for."""
        found = []
        for at in range(self.dice.choice([0, 0, 1, 2, 4])):
            pod = self._other(f"{node['metadata']['name']}-{at}", node)
            if has_room(node, [*found, pod]):
                found.append(pod)
        return found

    def _other(self, name, node):
        spec = {"nodeName": node["metadata"]["name"], **self._containers(small=not self.is_tight)}
        if self._maybe(0.2):
            spec["runtimeClassName"] = self.dice.choice(["fit-heavy", "fit-odd"])
        pod = {"metadata": {"name": name}, "spec": spec}
        phase = self.dice.choice(["Pending", "Running", "Running", "Running", "Succeeded",
                                  "Failed"])
        pod["status"] = {"phase": phase}
        if phase == "Running" and self._maybe(0.5):
            self._report(pod)
        pod["terminates"] = self._maybe(0.15)
        pod["owner"] = self.dice.choice(["kube", "berth"])
        return pod

    def _report(self, pod):
        """What the kubelet says of each container, some of which are being resized."""
        def status(container):
            requests = dict(container["resources"].get("requests", {}))
            allocated, actual = dict(requests), dict(requests)
            for name in ("cpu", "memory"):
                if name in requests and self._maybe(0.4):
                    allocated[name] = said(self.dice, fit_amounts.small(self.dice, name), name)
                if name in requests:
                    actual[name] = self.dice.choice([requests[name], allocated[name]])
            return {"name": container["name"], "image": "fake", "imageID": "", "ready": True,
                    "restartCount": 0, "allocatedResources": allocated,
                    "resources": {"requests": actual}, "state": {"running": {}}}
        spec = pod["spec"]
        pod["status"] |= {
            "containerStatuses": [status(each) for each in spec["containers"]],
            "initContainerStatuses": [status(each) for each in spec.get("initContainers", [])
                                      if "restartPolicy" in each]}
        if self._maybe(0.3):
            pod["status"]["conditions"] = [{
                "type": "PodResizePending", "status": "True",
                "reason": self.dice.choice(["Infeasible", "Deferred"])}]

    # --- the pod that asks

    def _asked(self):
        spec = self._containers(small=not self.is_tight)
        if self._maybe(0.15):
            self._add_pod_level(spec)
        if self._maybe(0.2):
            spec["runtimeClassName"] = self.dice.choice(list(RUNTIMES))
        if self._maybe(0.2):
            spec["priorityClassName"] = self.dice.choice(list(CLASSES))
        if self._maybe(0.03):
            spec["schedulingGates"] = [{"name": "example.com/later"}]
        if self.is_tight and self._maybe(0.7):
            self._aim(spec)
        if self.is_choosy and self._maybe(0.2):
            # "disk" is what a runtime class may choose by.
            spec["nodeSelector"] = {self.dice.choice([key for key in KEYS if key != "disk"]):
                                    self.dice.choice(["a", "b", "8"])}
        if self._maybe(0.8 if self.is_tainted else 0.1):
            spec["tolerations"] = self._tolerations()
        if self.is_choosy:
            spec["affinity"] = {"nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {
                    "nodeSelectorTerms": [self._term() for _ in range(self.dice.randint(1, 3))]}}}
        if self._maybe(0.1):
            spec["topologySpreadConstraints"] = [{
                "maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway",
                "labelSelector": {"matchLabels": {"app": "x"}}}]
        return spec

    def _containers(self, small=False):
        """Containers, and those that run before or beside them."""
        dice = self.dice
        spec = {"containers": [self._container(f"main-{at}", small)
                               for at in range(dice.choice([1, 1, 2]))]}
        before = []
        while self._maybe(0.3):
            each = self._container(f"before-{len(before)}", small)
            if self._maybe(0.5):
                each["restartPolicy"] = "Always"
            before.append(each)
        if before:
            spec["initContainers"] = before
        return spec

    def _container(self, name, small):
        return {"name": name, "image": "fake",
                "resources": fit_amounts.container_resources(self.dice, small)}

    def _add_pod_level(self, spec):
        needed = fit_amounts.requests_of(spec)
        requests = {}
        for name in self.dice.choice([["cpu"], ["memory"], ["cpu", "memory"]]):
            more = self.dice.choice([0, fit_amounts.small(self.dice, name)])
            requests[name] = said(self.dice, fit_amounts.whole(name, needed.get(name, 0)) + more,
                                  name)
        spec["resources"] = {"requests": requests}

    def _aim(self, spec):
        """It asks for all of one resource that a node has left, or just less, or just more."""
        node = self.dice.choice(self.nodes)
        name = self.dice.choice(["cpu", "memory", "memory", *node["status"]["allocatable"]])
        if name == "pods" or (name == "hugepages-2Mi" and "resources" in spec):
            return
        left = fit_amounts.read(node["status"]["allocatable"].get(name, "0"))
        for pod in on_node(node, self.others):
            left -= taken(pod, self.dice.choice).get(name, 0)
        wanted = left + fit_amounts.step(name) * self.dice.choice([-1, 0, 0, 1])
        fit_amounts.ask_in_all(self.dice, spec, name, wanted - overhead(spec).get(name, 0))

    def _tolerations(self):
        found = []
        while not found or self._maybe(0.5):
            key = self.dice.choice(["", *TAINTS, "node.kubernetes.io/not-ready",
                                    "node.kubernetes.io/unreachable"])
            toleration = {"key": key} if key else {}
            if not key or self._maybe(0.5):
                toleration["operator"] = "Exists"
            else:
                toleration |= {"value": self.dice.choice(["", "a", "b"])}
                if self._maybe(0.5):
                    toleration["operator"] = "Equal"
            if self._maybe(0.6):
                toleration["effect"] = self.dice.choice(EFFECTS)
            if toleration.get("effect") == "NoExecute" and self._maybe(0.6):
                toleration["tolerationSeconds"] = self.dice.choice([0, 60])
            found.append(toleration)
        return found

    def _term(self):
        term = {}
        if self._maybe(0.8):
            term["matchExpressions"] = [self._expression()
                                        for _ in range(self.dice.choice([0, 1, 1, 2, 3]))]
        if self._maybe(0.2):
            term["matchFields"] = [{"key": "metadata.name",
                                    "operator": self.dice.choice(["In", "NotIn"]),
                                    "values": [self.dice.choice(["@-0", "@-1", "elsewhere"])]}]
        return term

    def _expression(self):
        operator = self.dice.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
        said_values = {"In": self.dice.sample(WORDS, self.dice.randint(1, 3)),
                       "NotIn": self.dice.sample(WORDS, self.dice.randint(1, 3)),
                       "Gt": [self.dice.choice(["0", "7", "8", "007", "a"])],
                       "Lt": [self.dice.choice(["9", "8", "100", "b"])]}.get(operator)
        expression = {"key": self.dice.choice(KEYS), "operator": operator}
        return expression | ({"values": said_values} if said_values else {})


def on_node(node, pods):
    return [pod for pod in pods if pod["spec"]["nodeName"] == node["metadata"]["name"]]


def overhead(spec):
    said_by_class = RUNTIMES.get(spec.get("runtimeClassName"), {}).get("overhead", {})
    return {name: fit_amounts.read(text)
            for name, text in said_by_class.get("podFixed", {}).items()}


def most(amounts):
    return functools.reduce(fit_amounts.larger, amounts)


def taken(pod, choose):
    """By a pod that is there: of what is requested, allocated and run in a container, a choice."""
    if pod["status"]["phase"] in ("Succeeded", "Failed"):
        return {}
    reports = {each["name"]: [each["allocatedResources"], each["resources"]["requests"]]
               for kind in ("containerStatuses", "initContainerStatuses")
               for each in pod["status"].get(kind, [])}

    def of_container(container):
        reported = [{name: fit_amounts.read(text) for name, text in report.items()}
                    for report in reports.get(container["name"], [])]
        return choose([fit_amounts.requested(container), *reported])

    requests = fit_amounts.requests_of(pod["spec"], of_container)
    return fit_amounts.added(requests, overhead(pod["spec"])) | {"pods": 1}


def has_room(node, pods):
    """Whether what they take at most is there."""
    offered = node["status"]["allocatable"]
    sums = functools.reduce(fit_amounts.added, (taken(pod, most) for pod in pods), {})
    return all(amount <= fit_amounts.read(offered.get(name, "0")) for name, amount in sums.items())
