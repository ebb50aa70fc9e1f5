#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How many durable submissions a second? Four clients with the token over loopback TCP, each with
# several requests in flight on one connection; jobs of one GPU on simulated nodes with the
# simulated launcher. Each acknowledged submission is in the log, synced to the disk.
#   bench/submit_throughput.py [--nodes 64] [--seconds 5] [--clients 4] [--depth 64]
import argparse
import json
import multiprocessing
import re
import socket
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/support"))
from berth_server import Server, cpu_seconds, submission

NUMBER = re.compile(rb'"id":(\d+)')


def client(port, token, depth, seconds, environment_bytes, results):
    environment = [f"VARIABLE_{i}={'x' * 40}" for i in range(environment_bytes // 52)]
    body = json.dumps(submission(["true"], environment=environment)).encode()
    head = (f"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n")
    request = head.encode() + body
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    begin = time.monotonic()
    connection.sendall(request * depth)
    done, rest = 0, b""
    while True:
        rest += connection.recv(1 << 18)
        answers = 0
        while True:
            end = rest.find(b"\r\n\r\n")
            if end < 0:
                break
            length = int(re.search(rb"Content-Length: (\d+)", rest[:end]).group(1))
            if len(rest) < end + 4 + length:
                break
            if not rest.startswith(b"HTTP/1.1 201"):
                raise SystemExit(rest[:end + 4 + length])
            rest = rest[end + 4 + length:]
            answers += 1
        done += answers
        if time.monotonic() - begin > seconds:
            break
        if answers:
            connection.sendall(request * answers)
    results.put((done, time.monotonic() - begin))


def measure(nodes, arguments):
    with Server("--gpus", f"sim:{nodes}x8x80G", "--launcher", "simulated:1h") as server:
        port = int((server.data / "port").read_text())
        token = (server.data / "token").read_text().strip()
        results = multiprocessing.Queue()
        clients = [multiprocessing.Process(target=client, args=(
            port, token, arguments.depth, arguments.seconds, arguments.environment, results))
            for _ in range(arguments.clients)]
        for process in clients:
            process.start()
        answers = [results.get(timeout=arguments.seconds + 60) for _ in clients]
        for process in clients:
            process.join()
        cpu = cpu_seconds(server.pid)
        total = sum(done for done, _ in answers)
        rate = sum(done / took for done, took in answers)
        logged = server.get("status")["last_job"]
        assert logged >= total, (logged, total)
        return {"nodes": nodes, "submits_per_s": round(rate), "submits": total,
                "server_cpu_us_per_submit": round(cpu * 1e6 / logged)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, nargs="*", default=[64, 8192])
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--clients", type=int, default=4)
    parser.add_argument("--depth", type=int, default=64)
    parser.add_argument("--environment", type=int, default=2000, help="bytes in each submission")
    arguments = parser.parse_args()
    for nodes in arguments.nodes:
        print(json.dumps({"bench": "submit_throughput", **measure(nodes, arguments),
                          "clients": arguments.clients, "in_flight_each": arguments.depth,
                          "environment_bytes": arguments.environment}), flush=True)


if __name__ == "__main__":
    main()
