# SPDX-License-Identifier: Apache-2.0
"""What changes is shown while it changes, and who was away goes on where it was."""
import json
import socket

from server_case import Refused, ServerCase, main

ADDRESS = "/api/v1/stream?topics="


class Viewer:
    """One stream; `heard` is what its messages made known so far."""

    def __init__(self, server, path, headers="", token=None, method="GET"):
        if token:
            self.socket = socket.create_connection(
                ("localhost", int((server.data / "port").read_text())))
            headers += f"Authorization: Bearer {token}\r\n"
        else:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(str(server.data / "berth.sock"))
        self.socket.settimeout(60)
        header = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n"
        self.socket.sendall(header.encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        while self.file.readline().strip():
            pass
        self.rows = {}
        self.explanations = {}
        self.last = ""

    def close(self):
        self.file.close()
        self.socket.close()

    def message(self):
        """The next one that is no sign of life: {field: text}; None at the end."""
        said = {}
        while True:
            line = self.file.readline()
            if not line:
                return None
            field, _, text = line.decode().rstrip("\n").partition(": ")
            if field in ("event", "id", "data"):
                said[field] = text
            if not line.strip() and said:
                self.last = said.get("id", self.last)
                return said

    def see(self, topic="jobs"):
        """The next news of the topic."""
        while True:
            said = self.message()
            if said is None or said.get("event") == topic:
                break
        news = json.loads(said["data"])
        if topic == "jobs":
            if news["whole"]:
                self.rows, self.explanations = {}, {}
            self.explanations.update(news["explanations"])
            self.rows.update((row["id"], row) for row in news["rows"])
            for job in news["gone"]:
                del self.rows[job]
        return news

    def until(self, is_so, topic="jobs"):
        while True:
            news = self.see(topic)
            if is_so(news):
                return news


class Streams(ServerCase):
    FLAGS = ("--gpus", "sim:2x80G")

    def viewer(self, topics, more="", **options):
        viewer = Viewer(self.server, ADDRESS + topics + more, **options)
        self.addCleanup(viewer.close)
        return viewer

    def state_in(self, viewer, job):
        return viewer.rows.get(job, {}).get("state")

    def test_jobs_are_seen_as_they_wait_start_and_end(self):
        viewer = self.viewer("jobs,overview")
        self.assertEqual(viewer.see()["rows"], [])
        self.assertEqual(viewer.see("overview")["own_jobs"]["running"], 0)
        runs = self.shell("sleep 1000", gpus=2)
        waits = self.shell("sleep 1000", gpus=2)
        viewer.until(lambda _: self.state_in(viewer, runs) == "running" and
                     viewer.rows.get(waits, {}).get("places", [[0, 0]])[0][1] > 0)
        row = viewer.rows[waits]
        why = viewer.explanations[str(row["explanation"])]
        self.assertEqual((row["state"], why["blockers"]), ("queued", [runs]))
        self.assertTrue(why["reason"] and why["why"], (row, why))
        viewer.until(lambda news: news["own_jobs"]["waiting"] == 1, "overview")
        self.server.berth("cancel", str(runs))
        viewer.until(lambda _: self.state_in(viewer, runs) == "cancelled" and
                     self.state_in(viewer, waits) == "running")

    def test_who_was_away_hears_what_is_new_and_after_a_restart_all(self):
        viewer = self.viewer("jobs")
        viewer.see()
        first = self.shell("sleep 1000")
        viewer.until(lambda _: self.state_in(viewer, first) == "running")
        other = self.viewer("jobs")  # so that rows are kept meanwhile
        viewer.close()
        second = self.shell("sleep 1000")
        other.until(lambda _: second in other.rows)
        again = self.viewer("jobs", headers=f"Last-Event-ID: {viewer.last}\r\n")
        news = again.see()
        self.assertFalse(news["whole"])
        self.assertEqual([row["id"] for row in news["rows"]], [second])
        self.server.berth("down")
        self.assertIsNone(again.message())
        self.server.up()
        once_more = self.viewer("jobs", headers=f"Last-Event-ID: {again.last}\r\n")
        news = once_more.see()
        self.assertTrue(news["whole"])
        self.assertEqual(sorted(once_more.rows), [first, second])

    def test_the_log_is_heard_from_any_event_on(self):
        job = self.shell("true")
        self.server.wait(job)
        log = self.viewer("events", "&after=2")
        events = [log.message() for _ in range(4)]
        self.assertEqual([event["id"] for event in events], ["3", "4", "5", "6"])
        of_job = self.viewer("events", f"&job={job}")
        types = [json.loads(of_job.message()["data"])["type"] for _ in range(4)]
        self.assertEqual(types, ["job_submitted", "job_starting", "job_running", "job_finished"])
        next_job = self.shell("true")
        while json.loads(log.message()["data"]).get("job") != next_job:
            pass

    def test_a_stream_ends_with_the_session_that_it_is_of(self):
        known = (self.server.data / "token").read_text().strip()
        code = self.server.berth("web", "-q").stdout.strip().partition("#code=")[2]
        session = self.server.request("POST", "session", {"code": code})
        viewer = self.viewer("jobs", token=session["token"])
        stays = self.viewer("jobs", token=known)
        viewer.see()
        leaves = Viewer(self.server, "/api/v1/session", token=session["token"], method="DELETE")
        self.addCleanup(leaves.close)
        self.assertEqual(leaves.status, 200)
        self.assertIsNone(viewer.message())
        job = self.shell("sleep 1000")
        stays.until(lambda _: job in stays.rows)

    def test_who_reads_late_has_missed_nothing_and_keeps_no_other_waiting(self):
        self.server.submit(["sleep", "1000"], gpus=2)
        late, viewer = self.viewer("events"), self.viewer("jobs")
        for number in range(500):
            self.server.submit(["true", "x" * 2000], gpus=2)
        last = self.shell("true", gpus=2)
        viewer.until(lambda _: last in viewer.rows)
        ids = []
        while json.loads((said := late.message())["data"]).get("job") != last:
            ids.append(int(said["id"]))
        self.assertEqual(ids, list(range(1, len(ids) + 1)))

    def test_of_jobs_that_have_ended_the_newest_stay(self):
        for _ in range(101):
            last = self.shell("true")
        self.server.wait(last)
        for job in range(1, last):
            self.server.wait(job)
        viewer = self.viewer("jobs")
        viewer.see()
        self.assertEqual(len(viewer.rows), 100)
        oldest = min(viewer.rows)
        newest = self.shell("true")
        viewer.until(lambda _: self.state_in(viewer, newest) == "succeeded")
        self.assertNotIn(oldest, viewer.rows)
        self.assertEqual(len(viewer.rows), 100)

    def test_what_is_asked_wrongly_is_said(self):
        with self.assertRaisesRegex(Refused, "409.*the log ends with event"):
            self.server.get("stream?topics=events&after=1000000")
        for address, said in (("", "topics"), ("jobs,job", "job"), ("events,jobs", "own"),
                              ("events&after=x", "after"), ("events&job=x", "job")):
            with self.assertRaisesRegex(Refused, f"400.*{said}"):
                self.server.get("stream?topics=" + address)
        self.assertEqual(self.viewer("events", headers="Last-Event-ID: x\r\n").status, 400)


if __name__ == "__main__":
    main()
