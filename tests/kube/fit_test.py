# SPDX-License-Identifier: Apache-2.0
"""Does a pod fit a node for Berth where it does for kube-scheduler? Both run on one server, over
equal clusters of fake nodes (fit_worlds.py), and are asked for each node alone, for the cluster as
a whole, and both again after the clusters have changed.

Clusters stand beside each other: nodes have labels of their cluster and their name (fit/world,
fit/node), and a pod is held to one by a nodeSelector that comes to what its seed says. That both
have seen what is there is known when each has placed a pod on a node that was made after it.

Where Berth differs on purpose: a node that is not ready takes no pod, whatever that tolerates; nor
does one that has more on it than it has room for, which no seed begins with.

    fit_test.py PROGRAM [--seeds N] [--first S] [TEST ...]"""
import argparse
import contextlib
import json
import sys
import time

import fit_worlds
from install_case import KINDS
from kube_case import Refused, eventually, main
from scheduler_case import SYSTEM, SchedulerCase

NAMESPACES = {"kube": "elsewhere", "berth": "fit"}
NAMES = {"kube": "default-scheduler", "berth": "berth"}
TOGETHER = 60  # seeds whose clusters are there at a time
SHOWN = 20  # differences
LATER = {"gracePeriodSeconds": 1000}  # a pod that terminates is there until the end
AT_ONCE = {"gracePeriodSeconds": 0}
NODES = "/api/v1/nodes"

MATCHING = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}}
REQUIRED = {"requiredDuringSchedulingIgnoredDuringExecution": [MATCHING]}
# What Berth refuses, by the words for it.
REFUSED = {
    "required podAffinity": {"affinity": {"podAffinity": REQUIRED}},
    "required podAntiAffinity": {"affinity": {"podAntiAffinity": REQUIRED}},
    "topologySpreadConstraints": {"topologySpreadConstraints": [
        {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **MATCHING}]},
    "hostPort": {"hostNetwork": True, "containers": [
        {"name": "main", "image": "fake", "ports": [{"containerPort": 80}]}]},
    "persistentVolumeClaim": {"volumes": [
        {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]},
    "a disk as a volume": {"volumes": [{"name": "data", "iscsi": {
        "targetPortal": "192.0.2.1", "iqn": "iqn.2001-04.com.example:data", "lun": 0}}]},
    "resourceClaims": {"resourceClaims": [
        {"name": "gpu", "resourceClaimName": "gpu"}]},
}


def words():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--seeds", type=int, default=TOGETHER)
    parser.add_argument("--first", type=int, default=1)
    given, sys.argv[1:] = parser.parse_known_args()
    return given


WORDS = words()


def pods_of(namespace):
    return f"/api/v1/namespaces/{namespace}/pods"


class Copy:
    """The cluster of a seed as one scheduler has it, under names of its own. It is asked node by
    node, or as a whole."""

    def __init__(self, world, who, is_whole):
        self.name = f"{who}-{world.seed}" + ("-all" if is_whole else "")
        self.namespace = NAMESPACES[who]
        self.nodes, self.others, spec, self.later = world.of(self.name)
        holds = [{"fit/world": self.name}] if is_whole else [
            {"fit/node": node["metadata"]["name"]} for node in self.nodes]
        self.asked = [{
            "metadata": {"name": "asks-" + "".join(held.values()), "labels": {"fit": "asks"}},
            "spec": {"schedulerName": NAMES[who], **spec,
                     "nodeSelector": spec.get("nodeSelector", {}) | held}} for held in holds]

    def ready(self):
        """Places in the order of nodes."""
        return {at for at, node in enumerate(self.nodes)
                if node["status"]["conditions"][0]["status"] == "True"}

    def place_of(self, node):
        return [each["metadata"]["name"] for each in self.nodes].index(node)


class Seed:
    """A world, four times: for each scheduler node by node, and as a whole."""

    def __init__(self, number):
        world = fit_worlds.World(number)
        self.number = number
        self.copies = {(who, is_whole): Copy(world, who, is_whole)
                       for who in NAMES for is_whole in (False, True)}

    def differences(self, pods):
        """What Berth should have said and did not, in words; `pods` by name."""
        def fits(who, is_whole):
            copy = self.copies[who, is_whole]
            nodes = [pods[each["metadata"]["name"]]["spec"].get("nodeName") for each in copy.asked]
            return {copy.place_of(node) for node in nodes if node}

        wanted = fits("kube", False) & self.copies["kube", False].ready()
        found, chosen = fits("berth", False), fits("berth", True)
        if found == wanted and chosen <= wanted and bool(chosen) == bool(wanted):
            return []
        return [self._described(pods, f"fits {sorted(wanted)} for kube-scheduler, {sorted(found)} "
                                      f"for Berth, which chose {sorted(chosen)} of all")]

    def _described(self, pods, what):
        lines = [f"seed {self.number}: {what}"]
        for (who, _), copy in self.copies.items():
            for each in copy.asked:
                name = each["metadata"]["name"]
                lines.append(f"  {name}, {who}: {said_of(pods[name])}")
        copy = self.copies["berth", False]
        lines += [f"  {kind}: {json.dumps(each)}" for kind, all_of in (
            ("node", copy.nodes), ("there", copy.others), ("asked", copy.asked[:1]))
            for each in all_of]
        return "\n".join(lines)


def said_of(pod):
    """Where it is, or why it is nowhere; None: nothing yet."""
    if "nodeName" in pod["spec"]:
        return "on " + pod["spec"]["nodeName"]
    for condition in pod["status"].get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return condition["reason"] + ": " + condition.get("message", "")
    return None


class Fit(SchedulerCase):
    PROGRAM = WORDS.program
    OPTIONS = {"scheduler": True}

    @classmethod
    def make_nodes(cls):
        """None, and no kubelets; what seeds name. Then no controllers either, of which one ends
        pods for NoExecute: nothing changes by itself."""
        for name, value in fit_worlds.CLASSES.items():
            cls.api.create("/apis/scheduling.k8s.io/v1/priorityclasses", {
                "metadata": {"name": name}, "value": value, "preemptionPolicy": "Never"})
        for name, said in fit_worlds.RUNTIMES.items():
            cls.api.create("/apis/node.k8s.io/v1/runtimeclasses", {
                "metadata": {"name": name}, "handler": "fake", **said})
        for name in NAMESPACES.values():
            cls.api.create("/api/v1/namespaces", {"metadata": {"name": name}})
            account = f"/api/v1/namespaces/{name}/serviceaccounts/default"
            eventually(lambda: cls.api.send("GET", account)[0] == 200, f"{name} has its account")
        cls.plane.kill("kube-controller-manager")
        # The Deployment that was installed has a pod, which would be put on some seed's node.
        cls.api.delete(pods_of(SYSTEM), AT_ONCE)
        cls.markers = 0

    def test_a_pod_fits_where_it_fits_for_kube_scheduler(self):
        self.project(NAMESPACES["berth"], 1_000_000)
        self.await_admission()
        self.berth = self.start_deciding()
        end = WORDS.first + WORDS.seeds
        asked, placed, different = 0, 0, []
        for first in range(WORDS.first, end, TOGETHER):
            seeds = [Seed(number) for number in range(first, min(first + TOGETHER, end))]
            for pods in self.played(seeds):
                asked += len(pods)
                placed += sum("nodeName" in pod["spec"] for pod in pods.values())
                for seed in seeds:
                    different += seed.differences(pods)
        print(f"{WORDS.seeds} seeds from {WORDS.first}: {asked} pods asked, {placed} placed; "
              f"{len(different)} times the two differ")
        if WORDS.seeds >= TOGETHER:
            self.assertGreater(placed, asked / 5)  # of many seeds some fit, and some do not
            self.assertLess(placed, asked / 2)
        if different:
            self.fail("\n\n".join(different))

    def test_what_berth_does_not_do_is_refused_by_the_fields_name(self):
        self.project(NAMESPACES["berth"], 1_000_000)
        self.start_deciding()
        pods = pods_of(NAMESPACES["berth"])
        for at, spec in enumerate(REFUSED.values()):
            self.api.create(pods, {"metadata": {"name": f"refused-{at}"}, "spec": {
                "containers": [{"name": "main", "image": "fake"}],
                "schedulerName": NAMES["berth"], **spec}})
        for at, words_for_it in enumerate(REFUSED):
            with self.subTest(words_for_it):
                reason, message = eventually(lambda: self.reason(
                    NAMESPACES["berth"], f"refused-{at}")[1] and self.reason(
                    NAMESPACES["berth"], f"refused-{at}"), "it says why")
                self.assertEqual(reason, "Unschedulable")
                self.assertIn(words_for_it, message)

    def until(self, holds, what):
        """On a busy machine Berth may not renew its Lease in time, and ends: then the next begins,
        as in a Deployment."""
        def question():
            if self.berth.poll() is not None:
                self.berth = self.start()
            return holds()

        try:
            eventually(question, what)
        except TimeoutError as late:
            self.fail(f"{late}; not answered: {self.open}")

    def await_admission(self):
        """Admission knows the classes that seeds name."""
        for namespace in NAMESPACES.values():
            for kind, names in (("priorityClassName", fit_worlds.CLASSES),
                                ("runtimeClassName", fit_worlds.RUNTIMES)):
                for name in names:
                    eventually(lambda: self.is_taken(namespace, {kind: name}), f"{name} is known")

    def is_taken(self, namespace, spec):
        try:
            return self.api.create(pods_of(namespace) + "?dryRun=All", {
                "metadata": {"name": "tried"},
                "spec": {"containers": [{"name": "main", "image": "fake"}], **spec}})
        except Refused:
            return None

    def played(self, seeds):
        """The pods that ask, by name, once they are answered; and again after all has changed."""
        copies = [copy for seed in seeds for copy in seed.copies.values()]
        for copy in copies:
            self.make(copy)
        yield self.answers(copies)
        for copy in copies:
            self.change(copy)
        yield self.answers(copies)
        self.remove_all()

    def clear(self, name):
        self.remove_all()
        self.api.delete(f"{KINDS}/projects/{name}")

    def remove_all(self):
        """Also what terminates slowly."""
        for namespace in NAMESPACES.values():
            self.api.delete(pods_of(namespace), AT_ONCE)
        self.api.delete(NODES + "?labelSelector=fit/world")

    def make(self, copy):
        for node in copy.nodes:
            self.api.create(NODES, node)
        for pod in copy.others:
            namespace = NAMESPACES[pod["owner"]]
            name = pod["metadata"]["name"]
            self.api.create(pods_of(namespace), {
                "metadata": pod["metadata"],
                "spec": {"schedulerName": NAMES[pod["owner"]], **pod["spec"]}})
            if pod["status"]["phase"] != "Pending":
                self.api.patch(f"{pods_of(namespace)}/{name}/status", {"status": pod["status"]})
            if pod["terminates"]:
                self.api.delete(f"{pods_of(namespace)}/{name}", LATER)

    def change(self, copy):
        before, copy.nodes = copy.nodes, copy.later["nodes"]
        for was, node in zip(before, copy.nodes):
            if node != was:
                path = f"{NODES}/{node['metadata']['name']}"
                self.api.call("PUT", path, node)
                self.api.patch(f"{path}/status", {"status": {
                    "allocatable": None, "capacity": None}})
                self.api.patch(f"{path}/status", {"status": node["status"]})
        for pod in copy.others:
            path = f"{pods_of(NAMESPACES[pod['owner']])}/{pod['metadata']['name']}"
            pod["later"] = copy.later["others"][pod["metadata"]["name"]]
            with contextlib.suppress(Refused):  # one that was over and terminated is gone
                if pod["later"] == "ends":
                    self.api.patch(path + "/status", {"status": {"phase": "Succeeded"}})
                elif pod["later"] != "stays":
                    self.api.delete(path, AT_ONCE if pod["later"] == "is deleted" else LATER)

    def answers(self, copies):
        """Asks when both schedulers have seen all that is there."""
        self.mark()
        for copy in copies:
            for pod in copy.asked:
                self.api.create(pods_of(copy.namespace), pod)
        self.until(self.are_answered, "all are answered")
        self.mark()
        pods = self.asked()
        for namespace in NAMESPACES.values():
            self.api.delete(pods_of(namespace) + "?labelSelector=fit%3Dasks", AT_ONCE)
        return pods

    def asked(self):
        return {pod["metadata"]["name"]: pod for namespace in NAMESPACES.values()
                for pod in self.api.get(pods_of(namespace) + "?labelSelector=fit%3Dasks")["items"]}

    def are_answered(self):
        time.sleep(0.2)  # lists are long
        self.open = [name for name, pod in self.asked().items() if said_of(pod) is None]
        return not self.open

    def mark(self):
        """Each scheduler has seen what was there before: it places a pod on a newer node."""
        type(self).markers += 1
        for who, namespace in NAMESPACES.items():
            name = f"marker-{who}-{self.markers}"
            labels = {"fit/world": name}
            self.api.create(NODES, {
                "metadata": {"name": name, "labels": labels},
                "status": {"allocatable": {"pods": "1"}, "capacity": {"pods": "1"},
                           "conditions": [{"type": "Ready", "status": "True"}]}})
            self.api.create(pods_of(namespace), {
                "metadata": {"name": name}, "spec": {
                    "schedulerName": NAMES[who], "nodeSelector": labels,
                    "containers": [{"name": "main", "image": "fake"}]}})
            self.open = [name]
            self.until(lambda: "nodeName" in self.api.get(f"{pods_of(namespace)}/{name}")["spec"],
                       f"{who} places {name}")


if __name__ == "__main__":
    main()
