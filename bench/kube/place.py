# SPDX-License-Identifier: Apache-2.0
"""What does it cost to place one-GPU pods, in turns with kube-scheduler and with a floor?"""
import statistics

import berth
from control_plane import ControlPlane
from placing import BERTH, DEFAULT, FLOOR, Placing
from report import Report

NODES, PODS, ROUNDS = 1000, 3000, 5
WHO = (FLOOR, BERTH, DEFAULT)


def measure(program, given):
    nodes, pods = given.nodes or NODES, given.pods or PODS
    how = "made while it runs" if given.live else "there before it starts"
    report = Report("place_live" if given.live else "place",
                    f"{pods:,} pods of one GPU on {nodes:,} nodes of 8, {how}", nodes=nodes,
                    pods=pods)
    with ControlPlane(scheduler=True) as plane:
        plane.end(DEFAULT)
        berth.install(plane, program)
        plane.tool("nodes", "-count", nodes)
        turns = Placing(plane, program, pods, is_live=given.live)
        rounds = [play_round(turns, report, number) for number in range(given.rounds or ROUNDS)]
    add_figures(report, rounds)
    return report


def play_round(turns, report, number):
    """The order of the three changes from round to round."""
    order = WHO[number % len(WHO):] + WHO[:number % len(WHO)]
    if turns.is_live:
        order = WHO  # the floor says what making them costs
    found = {who: turns.turn(who) for who in order}
    report.say(f"round {number + 1}: " + "; ".join(
        f"{who} {turn.rate:,.0f} pods/s, {turn.all:.2f} ms a pod, own {turn.own:.2f}"
        for who, turn in found.items()))
    return found


def add_figures(report, rounds):
    def median(figure):
        return statistics.median(figure(each) for each in rounds)

    report.add("all_cpu_ms", "CPU of all processes a pod, median",
               median(lambda each: each[BERTH].all), "ms", ("<=", 2.0))
    report.add("default_all_cpu_ms", "... with kube-scheduler",
               median(lambda each: each[DEFAULT].all), "ms")
    report.add("floor_all_cpu_ms", "... of the floor", median(lambda each: each[FLOOR].all), "ms")
    report.add("all_cpu_ratio", "... Berth over kube-scheduler, median of rounds",
               median(lambda each: each[BERTH].all / each[DEFAULT].all), "", ("<=", 0.33))
    report.add("floor_cpu_ratio", "... floor over kube-scheduler",
               median(lambda each: each[FLOOR].all / each[DEFAULT].all))
    report.add("own_cpu_ms", "CPU of the scheduler itself a pod",
               median(lambda each: each[BERTH].own), "ms", ("<=", 0.2))
    report.add("default_own_cpu_ms", "... of kube-scheduler",
               median(lambda each: each[DEFAULT].own), "ms")
    report.add("pods_per_s", "pods a second", median(lambda each: each[BERTH].rate))
    report.add("rate_ratio", "... over kube-scheduler's, median of rounds",
               median(lambda each: each[BERTH].rate / each[DEFAULT].rate), "", (">=", 3))
    report.add("floor_rate_ratio", "... the floor's over kube-scheduler's",
               median(lambda each: each[FLOOR].rate / each[DEFAULT].rate))
    report.add("writes_a_pod", "writes to the API a pod",
               max(each[BERTH].writes for each in rounds), "", ("<=", 1.1))
    report.add("default_writes_a_pod", "... with kube-scheduler",
               max(each[DEFAULT].writes for each in rounds))
