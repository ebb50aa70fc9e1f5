# SPDX-License-Identifier: Apache-2.0
"""The API over the Unix socket of a data directory, for benches and end-to-end tests."""

import http.client
import json
import pathlib
import socket
import time


class Refused(Exception):
    """The server's answer was an error; `status` and `problem` say which."""

    def __init__(self, status, problem):
        super().__init__(f"{status}: {problem}")
        self.status = status
        self.problem = problem


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)


class Client:
    """One kept-alive connection. Not for several threads."""

    def __init__(self, data):
        self.connection = _UnixConnection(str(pathlib.Path(data) / "berth.sock"))

    def call(self, method, path, body=None):
        text = None if body is None else json.dumps(body)
        self.connection.request(method, path, text, {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        content = answer.read()
        parsed = json.loads(content) if content else None
        if answer.status >= 400:
            raise Refused(answer.status, parsed)
        return parsed

    def all_finished(self, count):
        """The newest `count` finished jobs."""
        jobs, before = [], 2**62
        while len(jobs) < count:
            page = self.call("GET", f"/api/v1/jobs?finished={min(count - len(jobs), 1000)}"
                                    f"&finished_before={before}&limit=1")["items"]
            page = [job for job in page if job["finished"]]
            if not page:
                break
            jobs += page
            before = min(job["id"] for job in page)
        return jobs


def wait_for_server(data, process, patience_s=10.0):
    deadline = time.monotonic() + patience_s
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended: {process.stderr.read()}")
        try:
            client = Client(data)
            client.call("GET", "/api/v1/status")
            return client
        except OSError:
            time.sleep(0.02)
    raise RuntimeError("the server did not answer in time")
