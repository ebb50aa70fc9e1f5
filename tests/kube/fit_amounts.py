# SPDX-License-Identifier: Apache-2.0
"""Which amounts do seeds ask and offer, and how are they written? Exact, as fractions, so that a
pod can be aimed at just what a node has left."""
import math
from fractions import Fraction

GPU = "nvidia.com/gpu"
# Beside cpu and memory; Berth counts seven more names than pods.
COUNTED = [GPU, "rdma/hca", "example.com/fpga", "hugepages-2Mi", "ephemeral-storage"]
MEBI = 1 << 20
SUFFIXES = {"": Fraction(1), "m": Fraction(1, 1000), "k": Fraction(10**3), "M": Fraction(10**6),
            "G": Fraction(10**9), "Ki": Fraction(1 << 10), "Mi": Fraction(1 << 20),
            "Gi": Fraction(1 << 30)}

NODE = {"cpu": ["8", "2", "1500m", "4", "0.1", "1e1", "3.5"],
        "memory": ["1Gi", "328974848", "400M", "1Ki", "1e9", "523Mi", "0.5Gi", "500000000500m"],
        "pods": ["110", "110", "110", "110", "3", "4", "5"],
        GPU: ["8", "8", "1", "0"],
        "rdma/hca": ["1k", "4", "0"],
        "example.com/fpga": ["4", "1", "2"],
        "hugepages-2Mi": ["1Gi", "4Mi"],
        "ephemeral-storage": ["10G", "1Mi", "1e6"]}
POD = {"cpu": ["500m", "0.5", "250m", "1", "1.5", "0.1", "100m", "0", "1e-1"],
       "memory": ["64Mi", "50M", "1e6", "128974848", "1Ki", "1e3", "1500m", "0.5", "0", "100M",
                  "100.5"],
       GPU: ["1", "2", "0", "8"],
       "rdma/hca": ["1", "4", "0"],
       "example.com/fpga": ["1"],
       "hugepages-2Mi": ["2Mi", "4Mi", "4194304"],
       "ephemeral-storage": ["1M", "1Mi", "0", "500k"]}


def read(text):
    """The number that a quantity stands for."""
    digits = text.rstrip("kKMGim")
    if "e" in text:
        digits, _, exponent = text.partition("e")
        return Fraction(digits) * Fraction(10) ** int(exponent)
    return Fraction(digits) * SUFFIXES[text[len(digits):]]


def said(dice, number, name):
    """A quantity of that number, in one of its forms."""
    number = Fraction(number)
    forms = [f"{math.ceil(number * 1000)}m"]
    if number.denominator == 1:
        forms = [str(number), str(number), f"{number}000m"]
        forms += [f"{number / scale}{suffix}" for suffix, scale in SUFFIXES.items()
                  if suffix and scale > 1 and (number / scale).denominator == 1]
    is_counted = "/" in name or name.startswith("hugepages")
    return str(number) if is_counted else dice.choice(forms)


def step(name):
    """The least by which two amounts differ for a scheduler."""
    return {"cpu": Fraction(1, 1000), "hugepages-2Mi": Fraction(2 * MEBI)}.get(name, Fraction(1))


def whole(name, number):
    """Rounded up to what a scheduler counts."""
    return math.ceil(number / step(name)) * step(name)


def small(dice, name):
    return read(dice.choice(POD[name]))


def node_resources(dice, is_tight):
    """Of a node that is not tight the first of each, which is enough for most."""
    def offered(name):
        return dice.choice(NODE[name]) if is_tight else NODE[name][0]

    found = {name: offered(name) for name in ("cpu", "memory", "pods")}
    found |= {name: offered(name) for name in COUNTED if dice.random() < 0.8}
    if is_tight and dice.random() < 0.07:
        del found[dice.choice(["pods", "cpu"])]
    return found


def container_resources(dice, is_small):
    """Requests, limits or both."""
    requests, limits = {}, {}
    for name in ("cpu", "memory", "ephemeral-storage"):
        if dice.random() < (0.2 if name[0] == "e" else 0.6):
            amount = dice.choice(POD[name][:3] if is_small else POD[name])
            where = dice.choice(["requests", "requests", "limits", "both"])
            if where != "limits":
                requests[name] = amount
            if where != "requests":
                limits[name] = said(dice, read(amount) + (where == "both"), name)
    for name in ("nvidia.com/gpu", "rdma/hca", "example.com/fpga", "hugepages-2Mi"):
        if dice.random() < (0.05 if is_small else 0.1):
            limits[name] = dice.choice(POD[name][:1] if is_small else POD[name])
            if dice.random() < 0.3:
                requests[name] = limits[name]
    if "hugepages-2Mi" in limits and "memory" not in requests:
        requests["memory"] = "1Ki" if "memory" not in limits else limits["memory"]
    resources = {"requests": requests, "limits": limits}
    return {key: value for key, value in resources.items() if value}


def requested(container):
    resources = container.get("resources", {})
    return {name: read(text) for name, text in
            (resources.get("limits", {}) | resources.get("requests", {})).items()}


def added(left, right):
    return {name: left.get(name, 0) + right.get(name, 0) for name in left | right}


def larger(left, right):
    return {name: max(left.get(name, 0), right.get(name, 0)) for name in left | right}


def requests_of(spec, of_container=requested):
    """What a scheduler counts of a pod, without its overhead."""
    together, beside, at_start = {}, {}, {}
    for container in spec["containers"]:
        together = added(together, of_container(container))
    for container in spec.get("initContainers", []):
        own = of_container(container)
        alone = added(beside, own)
        if "restartPolicy" in container:
            beside, together = alone, added(together, own)
        at_start = larger(at_start, alone)
    return larger(together, at_start)


def ask_in_all(dice, spec, name, wanted):
    """Changes the pod's first container, or what it says for all, so that it asks `wanted` of a
    resource, where it can be had so."""
    pod_level = spec.get("resources", {}).get("requests", {})
    if name in pod_level:
        if wanted >= whole(name, requests_of(spec).get(name, 0)):
            pod_level[name] = said(dice, wanted, name)
        return
    resources = spec["containers"][0].setdefault("resources", {})
    before = requests_of(spec).get(name, 0)
    own = requested(spec["containers"][0]).get(name, 0)
    amount = own + wanted - before
    if amount < 0 or (amount.denominator != 1 and "/" in name):
        return
    text = said(dice, amount, name)
    is_counted = "/" in name or name.startswith("hugepages")
    for kind, is_wanted in (("requests", True), ("limits", is_counted)):
        resources.setdefault(kind, {}).pop(name, None)
        if is_wanted:
            resources[kind][name] = text
    if name.startswith("hugepages"):
        resources["requests"].setdefault("memory", resources["limits"].get("memory", "1Ki"))
