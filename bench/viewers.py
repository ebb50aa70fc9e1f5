#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# What do pages that stay open cost? Jobs wait for one node of eight GPUs; a client submits and
# cancels jobs one after the other, alone and beside viewers of the stream, in turns.
#   bench/viewers.py [--viewers 1000] [--pending 1000] [--rounds 6] [--submits 200]
import argparse
import json
import multiprocessing
import pathlib
import selectors
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/support"))
from berth_server import Server, UnixConnection, quantile, submission  # noqa: E402

ASK = b"GET /api/v1/stream?topics=jobs,overview HTTP/1.1\r\nHost: localhost\r\n\r\n"


def view(data, count, stop, ready, bytes_read):
    """A process that opens the streams and takes all that comes."""
    with selectors.DefaultSelector() as selector:
        for _ in range(count):
            client = socket.socket(socket.AF_UNIX)
            client.connect(str(data / "berth.sock"))
            client.sendall(ASK)
            selector.register(client, selectors.EVENT_READ)
        silent = set(selector.get_map())
        while not stop.is_set():
            for key, _ in selector.select(0.2):
                bytes_read.value += len(key.fileobj.recv(1 << 20))
                silent.discard(key.fd)
            if not silent:
                ready.set()


def submit_and_cancel(server, count):
    """Milliseconds until each submit was acknowledged, which a decision follows at once."""
    connection = UnixConnection(str(server.data / "berth.sock"))
    body = json.dumps(submission(["true"]))
    times = []
    for _ in range(count):
        begin = time.perf_counter()
        connection.request("POST", "/api/v1/jobs", body)
        job = json.loads(connection.getresponse().read())["id"]
        times.append((time.perf_counter() - begin) * 1000)
        connection.request("POST", f"/api/v1/jobs/{job}/cancel")
        connection.getresponse().read()
        time.sleep(0.005)
    return times


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def memory_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0


def beside_viewers(server, args):
    stop, ready = multiprocessing.Event(), multiprocessing.Event()
    bytes_read = multiprocessing.Value("q", 0)
    viewers = multiprocessing.Process(
        target=view, args=(server.data, args.viewers, stop, ready, bytes_read))
    viewers.start()
    ready.wait()
    began, cpu = time.monotonic(), cpu_seconds(server.pid)
    times = submit_and_cancel(server, args.submits)
    passed = time.monotonic() - began
    figures = {"server_cpu_part": (cpu_seconds(server.pid) - cpu) / passed,
               "memory_mb": memory_mb(server.pid),
               "kb_per_viewer": bytes_read.value / args.viewers / 1024}
    stop.set()
    viewers.join()
    return times, figures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--viewers", type=int, default=1000)
    parser.add_argument("--pending", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--submits", type=int, default=200)
    args = parser.parse_args()
    with Server("--gpus", "sim:8x80G") as server:
        for _ in range(args.pending):
            server.submit(["sleep", "1000"], gpus=8)
        alone, beside = [], []
        memory_alone = memory_mb(server.pid)
        for _ in range(args.rounds):
            alone += submit_and_cancel(server, args.submits)
            times, figures = beside_viewers(server, args)
            beside += times
    result = {"bench": "viewers", "viewers": args.viewers, "pending": args.pending,
              "alone_p50_ms": quantile(alone, 0.5), "alone_p99_ms": quantile(alone, 0.99),
              "beside_p50_ms": quantile(beside, 0.5), "beside_p99_ms": quantile(beside, 0.99),
              "p50_over_alone": quantile(beside, 0.5) / quantile(alone, 0.5),
              "memory_alone_mb": memory_alone, **figures}
    print(json.dumps({key: round(value, 3) if isinstance(value, float) else value
                      for key, value in result.items()}))


if __name__ == "__main__":
    main()
