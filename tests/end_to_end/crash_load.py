# SPDX-License-Identifier: Apache-2.0
"""Clients that submit without a pause to a server that dies, and what must be true afterwards.

Every job appends "NUMBER ATTEMPT" to one file. Every submission has a key, so that one whose
answer was lost in a crash is repeated safely.
"""
import http.client
import itertools
import json
import threading
import time

from server_case import UnixConnection, submission


class Load:
    def __init__(self, server, clients=4):
        self.server = server
        self.lines = server.data / "lines"
        self.answered = {}             # key -> job
        self.unanswered = set()
        self.lock = threading.Lock()
        self.numbers = itertools.count()
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.submit_for_ever) for _ in range(clients)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.is_over.set()
        for thread in self.threads:
            if thread.is_alive():
                thread.join()

    def body(self):
        script = f'echo "$BERTH_JOB_ID $BERTH_ATTEMPT" >> {self.lines}'
        return json.dumps(submission(["sh", "-c", script], request={"share": 0.25}))

    def submit_for_ever(self):
        connection = None
        body = self.body()
        while not self.is_over.is_set():
            key = f"key-{next(self.numbers)}"
            with self.lock:
                self.unanswered.add(key)
            try:
                if connection is None:
                    connection = UnixConnection(str(self.server.data / "berth.sock"), timeout=20)
                self.submit(connection, key, body)
            except (OSError, http.client.HTTPException):
                connection.close()
                connection = None
                time.sleep(0.005)
        if connection is not None:
            connection.close()

    def submit(self, connection, key, body):
        connection.request("POST", "/api/v1/jobs", body, {"Idempotency-Key": key})
        response = connection.getresponse()
        answer = response.read()
        if response.status == 503:
            return
        assert response.status == 201, answer
        with self.lock:
            self.answered[key] = json.loads(answer)["id"]
            self.unanswered.discard(key)

    def repeat_unanswered(self):
        connection = UnixConnection(str(self.server.data / "berth.sock"))
        for key in sorted(self.unanswered):
            self.submit(connection, key, self.body())
        connection.close()

    def check(self, case, seconds=120):
        """Everything that was acknowledged is there, ran, and ran once."""
        promised = dict(self.answered)
        self.repeat_unanswered()
        case.assertEqual({key: self.answered[key] for key in promised}, promised)
        for job in self.server.get("jobs?finished=0")["items"]:
            if job["command"].startswith("sleep") and job["state"] != "cancelling":
                self.server.request("POST", f"jobs/{job['id']}/cancel", {"grace": 0})
        numbers = sorted(self.answered.values())
        case.assertEqual(len(numbers), len(set(numbers)), "a number was used twice")
        deadline = time.monotonic() + seconds
        while sum(self.server.get("status")["jobs"].values()) > 0:
            case.assertLess(time.monotonic(), deadline, self.server.get("status"))
            time.sleep(0.05)
        ran = [tuple(map(int, line.split())) for line in self.lines.read_text().splitlines()]
        case.assertEqual(len(ran), len(set(ran)), "an attempt ran twice")
        case.assertEqual(sorted(job for job, _ in ran), numbers, "a job was lost or ran twice")
        for job in (numbers[0], numbers[len(numbers) // 2], numbers[-1]):
            case.assertEqual(self.server.get(f"jobs/{job}")["state"], "succeeded")
