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
CORDON = "node.kubernetes.io/unschedulable"
TAINTS = ["dedicated", "example.com/gpu", "node.kubernetes.io/disk-pressure", CORDON]
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
        # Mostly one thing alone keeps the pod away: of several the second is not seen.
        subject = self.dice.choice(["room", "room", "taints", "labels"])
        self.is_tight, self.is_tainted, self.is_choosy = (
            subject == each or self._maybe(0.1) for each in ("room", "taints", "labels"))
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
            "spec": self._kept_away(),
            "status": {"allocatable": resources, "capacity": resources, "conditions": [
                {"type": "Ready", "status": "True"}]}}

    def _kept_away(self):
        """A cordon, and taints that may look like one."""
        if not self.is_tainted:
            return {"taints": []}
        is_cordoned = self._maybe(0.25)
        keys = [CORDON] * (is_cordoned and self._maybe(0.6))
        while self._maybe(0.6):
            keys.append(self.dice.choice(TAINTS))
        found = {}
        for key in keys:
            taint = {"key": key, "effect": self.dice.choice(EFFECTS)}
            value = self.dice.choice(["", "a", "b"])
            found[key, taint["effect"]] = taint | ({"value": value} if value else {})
        return {"unschedulable": is_cordoned, "taints": list(found.values())}

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
            changed["spec"]["unschedulable"] = not node["spec"].get("unschedulable", False)
        elif part == "resources":
            if has_room(other, on_node(node, self.others)):
                changed["status"] = other["status"]
        else:
            self._fail(changed)
        return changed

    def _fail(self, node):
        """As the node controller marks one that is not ready, or that is silent."""
        status, key = self.dice.choice([("False", "node.kubernetes.io/not-ready"),
                                        ("Unknown", "node.kubernetes.io/unreachable")])
        node["status"]["conditions"] = [{"type": "Ready", "status": status}]
        node["spec"]["taints"] = node["spec"]["taints"] + [
            {"key": key, "effect": effect} for effect in ("NoSchedule", "NoExecute")]

    # --- pods that are there

    def _others(self, node):
        """Those of up to four that it has room for."""
        found = []
        for at in range(self.dice.choice([2, 3, 4] if self.is_tight else [0, 0, 1, 2])):
            pod = self._other(f"{node['metadata']['name']}-{at}", node)
            if has_room(node, [*found, pod]):
                found.append(pod)
        return found

    def _other(self, name, node):
        spec = {"nodeName": node["metadata"]["name"], **self._containers()}
        if self._maybe(0.3):
            spec["runtimeClassName"] = self.dice.choice(["fit-heavy", "fit-odd"])
        if self._maybe(0.2):
            self._add_pod_level(spec)
        pod = {"metadata": {"name": name}, "spec": spec}
        phase = self.dice.choice(["Pending", "Running", "Running", "Running", "Succeeded",
                                  "Failed"])
        pod["status"] = {"phase": phase}
        if phase == "Running" and self._maybe(0.8):
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
                if name in requests and self._maybe(0.5):
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
        if "resources" in spec:
            requests = spec["resources"]["requests"]
            actual = {name: said(self.dice, fit_amounts.small(self.dice, name), name)
                      if self._maybe(0.5) else amount for name, amount in requests.items()}
            pod["status"] |= {"resources": {"requests": actual}, "allocatedResources": requests}
        if self._maybe(0.3):
            pod["status"]["conditions"] = [{
                "type": "PodResizePending", "status": "True",
                "reason": self.dice.choice(["Infeasible", "Deferred"])}]

    # --- the pod that asks

    def _asked(self):
        spec = self._containers()
        if self._maybe(0.15):
            self._add_pod_level(spec)
        if self._maybe(0.2):
            spec["runtimeClassName"] = self.dice.choice(list(RUNTIMES))
        if self._maybe(0.2):
            spec["priorityClassName"] = self.dice.choice(list(CLASSES))
        if self._maybe(0.03):
            spec["schedulingGates"] = [{"name": "example.com/later"}]
        if self.is_tight and self._maybe(0.9):
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

    def _containers(self):
        """Containers, and those that run before or beside them."""
        spec = {"containers": [self._container(f"main-{at}")
                               for at in range(self.dice.choice([1, 1, 2]))]}
        before = []
        while self._maybe(0.3):
            each = self._container(f"before-{len(before)}")
            if self._maybe(0.5):
                each["restartPolicy"] = "Always"
            before.append(each)
        if before:
            spec["initContainers"] = before
        return spec

    def _container(self, name):
        is_small = self._maybe(0.8)
        return {"name": name, "image": "fake",
                "resources": fit_amounts.container_resources(self.dice, is_small)}

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
        name = self.dice.choice(["cpu", "memory"] * 6 + list(node["status"]["allocatable"]))
        if name == "pods" or (name == "hugepages-2Mi" and "resources" in spec):
            return
        left = fit_amounts.read(node["status"]["allocatable"].get(name, "0"))
        for pod in on_node(node, self.others):
            choose = most if self._maybe(0.8) else self.dice.choice
            left -= taken(pod, choose).get(name, 0)
        wanted = left + fit_amounts.step(name) * self.dice.choice([-1, 0, 0, 1, 1])
        fit_amounts.ask_in_all(self.dice, spec, name, wanted - overhead(spec).get(name, 0))

    def _tolerations(self):
        """Mostly of what keeps pods off a node."""
        node = self.dice.choice(self.nodes)
        cordon = [{"key": CORDON, "effect": "NoSchedule"}]
        taints = node["spec"]["taints"] + cordon * node["spec"].get("unschedulable", False)
        found = [self._toleration(taint) for taint in taints if self._maybe(0.95)]
        while self._maybe(0.4):
            found.append(self._toleration(self.dice.choice([
                {"key": "node.kubernetes.io/not-ready", "effect": "NoExecute"},
                {"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"},
                {"key": self.dice.choice(TAINTS), "effect": self.dice.choice(EFFECTS)}])))
        return found

    def _toleration(self, taint):
        """One of the taint, or nearly so."""
        toleration = {}
        if self._maybe(0.85):
            toleration["key"] = taint["key"]
        if "key" not in toleration or self._maybe(0.4):
            toleration["operator"] = "Exists"
        else:
            toleration["value"] = (taint.get("value", "") if self._maybe(0.9) else
                                   self.dice.choice(["", "a", "b"]))
            if self._maybe(0.5):
                toleration["operator"] = "Equal"
        if self._maybe(0.7):
            toleration["effect"] = (taint["effect"] if self._maybe(0.9) else
                                    self.dice.choice(EFFECTS))
        if toleration.get("effect") == "NoExecute" and self._maybe(0.8):
            toleration["tolerationSeconds"] = self.dice.choice([0, 60])
        return toleration

    def _term(self):
        """Mostly one that a node satisfies."""
        labels = self.dice.choice(self.nodes)["metadata"]["labels"]
        term = {}
        if self._maybe(0.85):
            term["matchExpressions"] = [self._expression(labels)
                                        for _ in range(self.dice.choice([0, 1, 1, 2, 3]))]
        if self._maybe(0.2):
            term["matchFields"] = [{"key": "metadata.name",
                                    "operator": self.dice.choice(["In", "NotIn"]),
                                    "values": [self.dice.choice(["@-0", "@-1", "elsewhere"])]}]
        return term

    def _expression(self, labels):
        for _ in range(self.dice.choice([1, 4, 4])):
            operator = self.dice.choice(["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"])
            values = {"In": self.dice.sample(WORDS, self.dice.randint(1, 3)),
                      "NotIn": self.dice.sample(WORDS, self.dice.randint(1, 3)),
                      "Gt": [self.dice.choice(["0", "7", "8", "a", "x7"])],
                      "Lt": [self.dice.choice(["9", "8", "100", "b"])]}.get(operator)
            expression = {"key": self.dice.choice(KEYS), "operator": operator}
            expression |= {"values": values} if values else {}
            if holds(expression, labels):
                break
        return expression


def holds(expression, labels):
    value = labels.get(expression["key"])
    values = expression.get("values", [])
    numbers = [int(text) for text in [value or "", *values] if text.isdigit()]
    return {"In": value in values, "NotIn": value not in values,
            "Exists": value is not None, "DoesNotExist": value is None,
            "Gt": len(numbers) == 2 and numbers[0] > numbers[1],
            "Lt": len(numbers) == 2 and numbers[0] < numbers[1]}[expression["operator"]]


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
    of_pod = [{name: fit_amounts.read(text) for name, text in amounts.items()} for amounts in (
        [part["resources"]["requests"] for part in (pod["spec"], pod["status"])
         if "resources" in part] + [pod["status"].get("allocatedResources", {})])]
    requests |= choose(of_pod)
    return fit_amounts.added(requests, overhead(pod["spec"])) | {"pods": 1}


def has_room(node, pods):
    """Whether what they take at most is there."""
    offered = node["status"]["allocatable"]
    sums = functools.reduce(fit_amounts.added, (taken(pod, most) for pod in pods), {})
    return all(amount <= fit_amounts.read(offered.get(name, "0")) for name, amount in sums.items())
