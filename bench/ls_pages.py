#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# How long is a look at a very long queue? Many jobs wait for one node of eight GPUs: the first page
# as the server answers it, `berth ls` as a user runs it, what another client notices of a reader of
# all pages, and `berth ls` while a thousand connections without the token drip on TCP.
#   bench/ls_pages.py [--pending 100000] [--rounds 100]
import argparse
import json
import multiprocessing
import pathlib
import selectors
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/support"))
from berth_server import BIN, Server, UnixConnection, quantile, submission  # noqa: E402

AT_ONCE = 200
FIRST_PAGE = "/api/v1/jobs?finished=0&order=importance&limit=50&foresee=true"
STRANGERS = 1000


def submit(server, count):
    body = json.dumps(submission(["true"])).encode()
    request = (f"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
               f"Content-Length: {len(body)}\r\n\r\n").encode() + body
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(server.data / "berth.sock"))
        left = count
        while left > 0:
            batch = min(left, AT_ONCE)
            client.sendall(request * batch)
            answers = b""
            while answers.count(b"HTTP/1.1 201 ") < batch or not answers.endswith(b"}"):
                answers += client.recv(1 << 18)
            left -= batch


def timed(action, rounds):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        action()
        times.append((time.perf_counter() - begin) * 1000)
    return times


def asker(server, path):
    connection = UnixConnection(str(server.data / "berth.sock"))

    def ask():
        connection.request("GET", path)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content[:300]
        return content
    return ask


def read_all(data, ready):
    """A client of its own that reads all pages over and over."""
    connection = UnixConnection(str(data / "berth.sock"))
    while True:
        after = "0"
        while after:
            connection.request("GET", f"/api/v1/jobs?finished=0&limit=250&after={after}")
            after = json.loads(connection.getresponse().read())["next"]
            ready.set()


def drip(port, stop, ready):
    """Keeps connections without the token open, each of which sends a byte now and then."""
    with selectors.DefaultSelector() as selector:
        while not stop.is_set():
            while len(selector.get_map()) < STRANGERS:
                client = socket.create_connection(("127.0.0.1", port))
                client.setblocking(False)
                selector.register(client, selectors.EVENT_READ)
            ready.set()
            for key, _ in selector.select(0):
                selector.unregister(key.fileobj)
                key.fileobj.close()
            for key in list(selector.get_map().values()):
                try:
                    key.fileobj.send(b"G")
                except OSError:
                    pass
            stop.wait(1)


def with_strangers(server, action):
    stop, ready = multiprocessing.Event(), multiprocessing.Event()
    port = int((server.data / "port").read_text())
    process = multiprocessing.Process(target=drip, args=(port, stop, ready))
    process.start()
    ready.wait(60)
    try:
        return action()
    finally:
        stop.set()
        process.join()


def measure(pending, rounds):
    with Server("--gpus", "sim:8x80G", "--launcher", "simulated:1h") as server:
        submit(server, pending + 8)
        command = [BIN / "berth", "ls"]

        def ls():
            subprocess.run(command, env=server.environment, check=True, stdout=subprocess.DEVNULL)

        first = asker(server, FIRST_PAGE)
        text = subprocess.run(command, env=server.environment, check=True, capture_output=True,
                              text=True).stdout
        assert f"{pending + 8 - 50:,} more: berth ls --all" in text, text[-200:]
        page = timed(first, rounds)
        client = timed(ls, rounds)
        alone = timed(asker(server, "/api/v1/status"), rounds)
        ready = multiprocessing.Event()
        reader = multiprocessing.Process(target=read_all, args=(server.data, ready), daemon=True)
        reader.start()
        ready.wait(60)
        beside = timed(asker(server, "/api/v1/status"), 5 * rounds)
        reader.kill()
        reader.join()
        dripping = with_strangers(server, lambda: timed(ls, rounds))
        return {"bench": "ls_pages", "pending": pending,
                "page_p50_ms": round(quantile(page, 0.5), 1),
                "page_p99_ms": round(quantile(page, 0.99), 1),
                "ls_p50_ms": round(quantile(client, 0.5), 1),
                "ls_p99_ms": round(quantile(client, 0.99), 1),
                "status_p99_ms": round(quantile(alone, 0.99), 1),
                "status_beside_reader_p99_ms": round(quantile(beside, 0.99), 1),
                "ls_beside_strangers_p99_ms": round(quantile(dripping, 0.99), 1)}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--pending", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=100)
    arguments = parser.parse_args()
    print(json.dumps(measure(arguments.pending, arguments.rounds)))


if __name__ == "__main__":
    main()
