# SPDX-License-Identifier: Apache-2.0
"""HTTP as clients meet it: errors, long polls, pipelining, limits."""
import gzip
import json
import re
import socket
import time

from server_case import Refused, ServerCase, UnixConnection, main, submission


class Api(ServerCase):
    def refused(self, status, method, path, body=None):
        with self.assertRaises(Refused) as refused:
            self.server.request(method, path, body)
        self.assertEqual(refused.exception.status, status, refused.exception.body)
        return json.loads(refused.exception.body)

    def status_of(self, method, path, body=None):
        try:
            return 200, self.server.request(method, path, body)
        except Refused as refused:
            return refused.status, refused.body

    def raw(self, data):
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(self.server.data / "berth.sock"))
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            answer = b""
            while piece := client.recv(65536):
                answer += piece
            return answer

    def test_what_is_wrong_is_said_with_the_right_status(self):
        self.assertEqual(self.refused(404, "GET", "jobs/99")["code"], "not_found")
        self.refused(404, "GET", "nonsense")
        self.refused(405, "POST", "status")
        self.refused(400, "GET", "jobs/x")
        self.refused(400, "GET", "jobs?state=runing")
        self.refused(400, "POST", "jobs", {"spec": {"nmae": "x"}})
        self.refused(400, "POST", "jobs", {"spec": {}, "launch": {"command": []}})
        self.refused(409, "GET", "jobs/" + str(self.shell("sleep 1000")) + "/why")
        self.assertIn("hint", self.refused(404, "GET", "what-if/replay/1"))
        self.refused(404, "DELETE", "what-if/replay/1")
        self.refused(400, "POST", "what-if/replay", {"days": 0})
        self.refused(400, "POST", "what-if/replay", {"suppose": [{"what": "submit"}]})
        self.refused(400, "PUT", "projects/p", {"qota": 1})
        self.refused(404, "PUT", "projects/p", {"parent": "missing"})

    def test_an_ended_job_cannot_be_steered(self):
        job = self.shell("true")
        self.server.wait(job)
        for verb in ("pause", "resume", "cancel"):
            self.refused(409, "POST", f"jobs/{job}/{verb}")
        self.refused(404, "POST", "jobs/99/pause")

    def test_a_key_makes_a_submission_safe_to_repeat(self):
        first = self.server.submit(["true"], key="k1")["id"]
        self.server.wait(first)
        self.assertEqual(self.server.submit(["true"], key="k1")["id"], first)
        with self.assertRaises(Refused) as refused:
            self.server.submit(["false"], key="k1")
        self.assertEqual(refused.exception.status, 409)

    def test_a_dry_run_tells_and_submits_nothing(self):
        body = submission(["true"])
        self.assertTrue(self.server.request("POST", "jobs?dryRun=true", body)["starts_now"])
        self.shell("sleep 1000", gpus=8)
        answer = self.server.request("POST", "jobs?dryRun=true", body)
        self.assertFalse(answer["starts_now"])
        self.assertEqual(self.server.get("status")["last_job"], 1)
        self.refused(422, "POST", "jobs?dryRun=true", submission(["true"], gpus=9))

    def test_a_long_poll_answers_when_it_happens_and_when_its_time_is_over(self):
        job = self.shell("sleep 0.3; exit 4")
        begin = time.monotonic()
        self.assertEqual(self.server.get(f"jobs/{job}?wait=60&until=final")["exit_code"], 4)
        self.assertLess(time.monotonic() - begin, 60)
        job = self.shell("sleep 1000")
        self.server.wait_for_state(job, "running")
        begin = time.monotonic()
        self.assertEqual(self.server.get(f"jobs/{job}?wait=1&until=final")["state"], "running")
        self.assertGreater(time.monotonic() - begin, 0.9)

    def test_events_come_to_those_who_wait(self):
        sequence = self.server.get("status")["sequence"]
        connection = UnixConnection(str(self.server.data / "berth.sock"))
        connection.request("GET", f"/api/v1/events?after={sequence}&wait=60")
        job = self.shell("true")
        answer = json.loads(connection.getresponse().read())
        kinds = [event["type"] for event in answer["items"]]
        self.assertEqual(kinds[:2], ["job_submitted", "job_starting"])
        self.server.wait(job)
        mine = self.server.get(f"events?job={job}")["items"]
        self.assertEqual([event["type"] for event in mine],
                         ["job_submitted", "job_starting", "job_running", "job_finished"])

    def test_pipelined_requests_are_answered_in_order(self):
        requests = b"".join(
            b"GET /api/v1/jobs/%d HTTP/1.1\r\nHost: x\r\n\r\n" % number for number in range(600))
        answers = self.raw(requests)
        self.assertEqual(answers.count(b"HTTP/1.1 404"), 600)
        places = [answers.index(b"job %d does" % number) for number in range(600)]
        self.assertEqual(places, sorted(places))

    def test_a_client_that_has_said_all_still_gets_its_answer(self):
        body = json.dumps(submission(["true"])).encode()
        head = f"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
        self.assertIn(b"HTTP/1.1 201", self.raw(head.encode() + body))

    def test_what_is_no_http_or_too_large_is_refused_and_the_server_lives(self):
        self.assertIn(b" 400 ", self.raw(b"nonsense\r\n\r\n"))
        large = b"POST /api/v1/jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n"
        self.assertIn(b" 413 ", self.raw(large))
        self.assertIn(b" 431 ", self.raw(b"GET / HTTP/1.1\r\nx: " + b"y" * 100_000 + b"\r\n\r\n"))
        self.assertIn(b" 400 ", self.raw(b"GET /api/v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n"))
        self.raw(b"GET /api/v1/sta")
        self.assertEqual(self.server.get("status")["last_job"], 0)

    def test_projects_change_by_the_fields_that_are_given(self):
        self.server.request("PUT", "projects/vision", {"quota": 2, "weight": 3})
        self.server.request("PUT", "projects/vision", {"limit": 4})
        self.server.request("PUT", "projects/vision", {"quota": None})
        project = next(p for p in self.server.get("projects")["items"] if p["name"] == "vision")
        self.assertEqual(project["rights"]["weight"], 3)
        self.assertEqual(project["rights"]["limit"], 4)
        self.assertIsNone(project["rights"]["quota"])
        self.server.request("PUT", "projects/vision", {"preemption_delay": "90s"})
        project = next(p for p in self.server.get("projects")["items"] if p["name"] == "vision")
        self.assertEqual(project["preemption_delay"], 90)

    def test_the_overview_says_in_words_what_it_counts_and_status_says_the_same(self):
        self.server.wait(self.shell("sleep 1000", gpus=2), "running")
        seen = self.server.request("GET", "overview")
        words = [sentence["text"] for sentence in seen["sentences"]]
        self.assertEqual(words[0], "Your job runs.")
        self.assertEqual(self.server.berth("status").stdout.splitlines()[:len(words)], words)
        gpus = seen["gpus"]
        parts = ("used", "starting", "leaving", "idle", "not_ready")
        self.assertEqual(sum(gpus[part] for part in parts), gpus["total"])
        other = self.server.request("GET", "overview?user=bob")
        self.assertEqual(other["sentences"][0]["text"], "You have no job that runs or waits.")
        self.assertEqual((other["own_jobs"]["running"], other["jobs"]["running"]), (0, 1))

    def test_what_has_not_changed_is_not_sent_again(self):
        def ask(path, known=""):
            answer = self.raw(f"GET /api/v1/{path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                              f"If-None-Match: {known}\r\n\r\n".encode()).decode()
            head, _, body = answer.partition("\r\n\r\n")
            return int(head.split()[1]), re.search("ETag: (.*)", head)[1].strip(), body

        for path in ("jobs", "overview", "projects", "pools", "policy"):
            with self.subTest(path):
                _, first, _ = ask(path)
                # The tenth second may end just then.
                again = [ask(path, f'"x", {first}') for _ in range(2)]
                self.assertIn((304, first, ""), again)
        _, before, _ = ask("jobs")
        self.shell("sleep 1000")
        status, after, body = ask("jobs", before)
        self.assertEqual(status, 200)
        self.assertNotEqual(after, before)
        self.assertIn("sleep 1000", body)

    def test_a_page_is_sent_as_the_browser_takes_it_and_once(self):
        def ask(*headers):
            request = ["GET / HTTP/1.1", "Host: x", "Connection: close", *headers, "", ""]
            head, _, body = self.raw("\r\n".join(request).encode()).partition(b"\r\n\r\n")
            return head.decode(), body

        head, body = ask()
        if "ETag" not in head:
            self.skipTest("this build has no dashboard")
        packed_head, packed = ask("Accept-Encoding: br, gzip")
        self.assertIn("Content-Encoding: gzip", packed_head)
        self.assertEqual(gzip.decompress(packed), body)
        known = re.search("ETag: (.*)", head)[1].strip()
        self.assertIn(" 304 ", ask(f"If-None-Match: {known}")[0])

    def test_nodes_show_who_is_on_each_gpu(self):
        job = self.shell("sleep 1000", request={"share": 0.5})
        self.server.wait_for_state(job, "running")
        node = self.server.get("nodes")["items"][0]
        self.assertEqual([gpu["used"] for gpu in node["devices"]], [0.5] + [0] * 7)
        self.assertEqual(node["devices"][0]["jobs"], [job])

    def test_numbers_beyond_all_sense_are_answered_and_nothing_breaks(self):
        job = self.shell("sleep 600")
        odd = ("", "x", "-1", "2147483648", "9223372036854775807", "99999999999999999999", "1e9")
        asked = [f"jobs?{name}=" for name in ("limit", "after", "finished", "finished_before")]
        asked += [f"events?{name}=" for name in ("after", "limit", "job")]
        asked += [f"jobs/{job}/log?{name}=" for name in ("offset", "tail", "attempt", "task")]
        asked += [f"jobs/{job}?since=", "jobs/"]
        for address in asked:
            for value in odd:
                status, _ = self.status_of("GET", address + value)
                self.assertIn(status, (200, 400, 404), address + value)
        sent = [("PUT", "projects/p", name) for name in
                ("quota", "limit", "weight", "priority", "preemption_delay", "pools")]
        sent += [("PUT", "pools/default", "exchange"), ("PUT", "policy", "min_run"),
                 ("PUT", "policy", "grace"), ("POST", f"jobs/{job}/pause", "grace")]
        for method, address, name in sent:
            for value in (2**31, 2**63 - 1, 2**70, -2**70, -2, 1e300, "", "x" * 300, [],
                          {"a": 2**70}):
                status, _ = self.status_of(method, address, {name: value})
                self.assertIn(status, (200, 201, 400, 404, 409, 422), f"{address} {name} {value}")
        for node in ({"gpus": 2**31}, {"gpus": 1, "gpu_memory": 2**62}, {"gpus": -1}, {"gpus": 65}):
            for count in (1, 0, -1, 2**31 - 1):
                what_if = {"suppose": [{"what": "node", "count": count, "node": node}]}
                self.assertIn(self.status_of("POST", "what-if", what_if)[0], (200, 400), what_if)
        self.assertEqual(self.server.get("status")["pid"], self.server.pid)

    def test_a_long_list_comes_in_pages(self):
        jobs = [self.server.submit(["sleep", "600"], gpus=8)["id"] for _ in range(5)]
        pages, after = [], "0"
        while after:
            page = self.server.get(f"jobs?limit=2&after={after}")
            pages.append([job["id"] for job in page["items"]])
            after = page.get("next", "")
        self.assertEqual(pages, [jobs[:2], jobs[2:4], jobs[4:]])

    def test_a_page_by_importance_has_what_runs_and_what_is_next(self):
        # None is pushed out before the page is looked at.
        self.server.berth("policy", "set", "min_runtime=1h")
        runs = self.shell("sleep 600", gpus=8)
        self.server.wait_for_state(runs, "running")
        last = self.server.submit(["true"], gpus=8, priority=10)["id"]
        queued = [self.server.submit(["true"], gpus=8)["id"] for _ in range(4)]
        urgent = self.server.submit(["true"], gpus=8, priority=90, preemptible=True)["id"]
        held = self.server.submit(["true"], gpus=8, priority=85, preemptible=True)["id"]
        self.server.request("POST", f"jobs/{held}/pause")
        page = self.server.get("jobs?order=importance&limit=4")
        self.assertEqual([job["id"] for job in page["items"]], [runs, *queued[:2], urgent])
        self.assertEqual((page["more"], page["next"]), (4, ""))
        whole = self.server.get("jobs?order=importance&limit=9")
        self.assertEqual({job["id"] for job in whole["items"]},
                         {runs, last, *queued, urgent, held})
        self.assertEqual(whole["more"], 0)
        self.refused(400, "GET", "jobs?order=beauty")
        self.refused(400, "GET", "jobs?finished=1001")

    def test_ended_jobs_come_in_pages_backwards(self):
        jobs = [self.shell("true") for _ in range(5)]
        for job in jobs:
            self.server.wait(job)
        newest = self.server.get("jobs?finished=2")["items"]
        self.assertEqual([job["id"] for job in newest], jobs[3:])
        earlier = self.server.get(f"jobs?finished=2&finished_before={jobs[3]}")["items"]
        self.assertEqual([job["id"] for job in earlier], jobs[1:3])

    def test_jobs_are_found_by_name(self):
        for name in ("one", "two", "one"):
            last = self.server.submit(["sleep", "600"], gpus=8, name=name)["id"]
        found = self.server.get("jobs?name=one")["items"]
        self.assertEqual([job["id"] for job in found], [last - 2, last])
        self.assertEqual(len(self.server.get("jobs?name=default/two")["items"]), 1)

    def test_the_events_of_one_job_come_in_pages_too(self):
        job = self.server.submit(["true"])["id"]
        self.server.submit(["true"])
        self.server.wait(job)
        whole = self.server.get(f"events?job={job}")["items"]
        pages, after = [], "0"
        while True:
            page = self.server.get(f"events?job={job}&limit=1&after={after}")
            if not page["items"]:
                break
            pages += page["items"]
            after = page["items"][-1]["sequence"]
        self.assertEqual(pages, whole)
        self.assertEqual({event["job"]["id"] if isinstance(event["job"], dict) else event["job"]
                          for event in whole}, {job})


if __name__ == "__main__":
    main()
