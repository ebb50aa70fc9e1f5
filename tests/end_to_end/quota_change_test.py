# SPDX-License-Identifier: Apache-2.0
"""A quota is changed: shown before it is made, made only of what was read, taken back."""
import json

from server_case import PATIENCE, ServerCase, UnixConnection, eventually, main


class QuotaChange(ServerCase):
    def setUp(self):
        super().setUp()
        for name, quota in (("vision", 2), ("nlp", 2)):
            self.berth("project", "create", name, "--quota", str(quota))

    def berth(self, *words, code=0):
        result = self.server.berth(*words, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def ask(self, method, path, body=None, **headers):
        """Answers the status, the tag and the document."""
        connection = UnixConnection(str(self.server.data / "berth.sock"), PATIENCE)
        text = None if body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, "/api/v1/" + path, text, named)
        response = connection.getresponse()
        raw = response.read()
        connection.close()
        return response.status, response.headers["ETag"], json.loads(raw) if raw else None

    def test_a_change_is_made_only_of_what_was_read(self):
        status, read, project = self.ask("GET", "projects/nlp")
        self.assertEqual((status, project["rights"]["quota"]), (200, 2))
        status, written, _ = self.ask("PUT", "projects/nlp", {"quota": 3}, If_Match=read)
        self.assertEqual(status, 200)
        self.assertEqual(self.ask("GET", "projects/nlp")[:2], (200, written))
        self.assertEqual(self.ask("GET", "projects/nlp", If_None_Match=written)[:2],
                         (304, written))
        before = self.server.get("status")["sequence"]
        for tag in (read, '"x"', f"W/{read}"):
            status, _, problem = self.ask("PUT", "projects/nlp", {"quota": 4}, If_Match=tag)
            self.assertEqual(status, 412, tag)
            self.assertIn('project "nlp" has changed since it was read: its quota is now 3',
                          problem["detail"])
            self.assertEqual(problem["hint"], "berth project ls")
        self.assertEqual(self.server.get("status")["sequence"], before)
        # Back to what it was: also the tag is what it was.
        self.assertEqual(
            self.ask("PUT", "projects/nlp", {"quota": 2}, If_Match=f'"x", {written}')[:2],
            (200, read))
        # A proxy that packs answers makes tags weak.
        status, _, _ = self.ask("PUT", "projects/nlp", {"quota": 2}, If_Match=f"W/{read}")
        self.assertEqual(status, 200)
        self.assertEqual(self.ask("GET", "projects/nlp", If_None_Match=f"W/{read}")[0], 304)
        # Who names no version takes what is there; what is wrong is said before.
        self.assertEqual(self.ask("PUT", "projects/nlp", {"quota": 1})[0], 200)
        self.assertEqual(self.ask("PUT", "projects/nlp", {"quota": "many"})[0], 400)

    def test_what_is_gone_or_never_was_is_not_what_was_read(self):
        _, read, _ = self.ask("GET", "projects/nlp")
        self.berth("project", "rm", "nlp")
        self.assertEqual(self.ask("GET", "projects/nlp")[0], 404)
        for tag in (read, "*"):
            status, _, problem = self.ask("PUT", "projects/nlp", {"quota": 4}, If_Match=tag)
            self.assertEqual(status, 412)
            self.assertIn("does not exist any more", problem["detail"])
        status, made, _ = self.ask("PUT", "projects/nlp", {"quota": 4})
        self.assertEqual(status, 201)
        self.assertEqual(self.ask("GET", "projects/nlp")[1], made)

    def test_where_no_version_is_compared_none_may_be_named(self):
        for method, path in (("DELETE", "projects/nlp"), ("PUT", "pools/default"),
                             ("POST", "jobs/1/cancel")):
            status, _, problem = self.ask(method, path, {}, If_Match='"x"')
            self.assertEqual(status, 400, path)
            self.assertIn("If-Match", problem["detail"])
        self.assertEqual(self.ask("GET", "projects/nlp")[0], 200)

    def test_null_sets_a_right_back(self):
        self.ask("PUT", "projects/nlp", {"weight": 3, "priority": 7, "kind": "fixed"})
        self.ask("PUT", "projects/nlp", {"weight": None, "priority": None, "kind": None})
        rights = self.ask("GET", "projects/nlp")[2]["rights"]
        self.assertEqual((rights["weight"], rights["priority"], rights["kind"]),
                         (1, 100, "guaranteed"))

    def test_the_policy_is_changed_only_as_it_was_read(self):
        _, read, _ = self.ask("GET", "policy")
        self.shell("true")  # events that say nothing of the policy
        self.assertEqual(self.ask("GET", "policy", If_None_Match=read)[0], 304)
        status, written, _ = self.ask("PUT", "policy", {"grace": "90s"}, If_Match=read)
        self.assertEqual(status, 200)
        self.assertEqual(self.ask("GET", "policy")[1], written)
        status, _, problem = self.ask("PUT", "policy", {"grace": "80s"}, If_Match=read)
        self.assertEqual((status, problem["hint"]), (412, "berth policy show"))
        self.assertEqual(self.ask("PUT", "policy", {"grace": None}, If_Match=written)[:2],
                         (200, read))

    def fill(self):
        """nlp borrows four GPUs, vision uses its two and waits for four more."""
        jobs = {}
        for name, project, gpus in (("bert", "nlp", 2), ("gpt", "nlp", 4), ("clip", "vision", 2),
                                    ("large", "vision", 4)):
            jobs[name] = self.shell("trap 'exit 0' TERM; sleep 600 & wait", name=name,
                                    project=project, gpus=gpus)
            if name != "large":
                self.server.wait_for_state(jobs[name], "running")
        eventually(lambda: self.server.get(f"jobs/{jobs['large']}")["verdict"])
        return jobs

    def use(self, name):
        items = self.server.get("projects")["items"]
        (use,) = next(item for item in items if item["name"] == name)["use"]
        return {key: use[key] for key in ("quota", "used", "waiting", "fair_share")}

    def test_what_was_foreseen_is_what_then_happens(self):
        jobs = self.fill()
        suppose = [{"what": "quota", "name": "vision", "gpus": 6},
                   {"what": "weight", "name": "nlp", "weight_thousandths": 2000}]
        foreseen = self.ask("POST", "what-if", {"suppose": suppose})[2]
        fates = {change["job"]: change["then"]["fate"] for change in foreseen["jobs"]}
        paused = [job for job, fate in fates.items() if fate == "pauses"]
        self.assertEqual((paused, fates[jobs["large"]]), ([jobs["gpt"]], "promised"))
        self.assertEqual(foreseen["sentence"], "1 job would pause, and 1 would start; "
                                               "no job would wait, now 1 does.")
        self.assertEqual(self.use("vision")["quota"], 2)  # nothing was changed
        said = self.berth("whatif", "quota", "vision=6", "weight", "nlp=2")
        self.assertIn(foreseen["sentence"], said)
        self.assertRegex(said, r"(?m)^vision +default +2 -> 6 +none +1 ")
        self.assertRegex(said, r"(?m)^nlp +default +2 +none +1 -> 2 ")

        _, read, _ = self.ask("GET", "projects/vision")
        self.berth("project", "set", "nlp", "--weight", "2")
        status, written, _ = self.ask("PUT", "projects/vision", {"quota": 6}, If_Match=read)
        self.assertEqual(status, 200)
        self.server.wait_for_state(jobs["large"], "running")
        states = {name: self.state(job) for name, job in jobs.items()}
        self.assertEqual(states, {"bert": "running", "gpt": "paused", "clip": "running",
                                  "large": "running"})
        for change in foreseen["projects"]:
            then = {key: change["then"][key] for key in self.use(change["project"])}
            self.assertEqual(self.use(change["project"]), then, change["project"])
        self.assertEqual(sorted(change["project"] for change in foreseen["projects"]),
                         ["nlp", "vision"])

        # The receipt is in the accounts of both, and of no other project.
        for name in ("nlp", "vision"):
            (taking,) = self.server.get(f"receipts?project={name}")["items"]
            self.assertEqual((taking["job"], taking["beneficiary"], taking["sides"]["asked"]),
                             (jobs["gpt"], jobs["large"], 4))
        self.assertEqual(self.server.get("receipts?project=default")["items"], [])
        self.assertEqual(self.ask("PUT", "projects/vision", {"quota": 2}, If_Match=written)[:2],
                         (200, read))

    def test_another_pool_is_foreseen_and_changed_apart(self):
        self.berth("pool", "create", "h200", "--labels", "kind=h200")
        suppose = [{"what": "quota", "name": "nlp", "pool": "h200", "gpus": 1}]
        foreseen = self.ask("POST", "what-if", {"suppose": suppose})[2]["projects"]
        self.assertEqual([(change["project"], change["pool"], change["now"]["quota"],
                           change["then"]["quota"]) for change in foreseen],
                         [("nlp", "h200", 0, 1)])
        said = self.berth("whatif", "quota", "nlp=1", "--pool", "h200")
        self.assertRegex(said, r"(?m)^nlp +h200 +0 -> 1 ")
        _, read, _ = self.ask("GET", "projects/nlp")
        change = {"pools": {"h200": {"quota": 1}}}
        self.assertEqual(self.ask("PUT", "projects/nlp", change, If_Match=read)[0], 200)
        items = self.server.get("projects")["items"]
        use = next(item for item in items if item["name"] == "nlp")["use"]
        self.assertEqual({one["pool"]: one["quota"] for one in use}, {"default": 2, "h200": 1})
        lending = self.server.get("projects")["lending"]
        self.assertEqual([(pool["pool"], pool["quotas"]) for pool in lending],
                         [("default", 4), ("h200", 1)])
        status, _, problem = self.ask("POST", "what-if", {"suppose": [
            {"what": "weight", "name": "nlp", "pool": "h100", "weight_thousandths": 1}]})
        self.assertEqual((status, problem["detail"]), (404, 'pool "h100" does not exist'))

    def test_a_page_of_projects_begins_with_who_borrows(self):
        self.fill()
        (pool,) = self.server.get("projects")["lending"]
        said = [sentence["text"] for sentence in pool["sentences"]]
        self.assertEqual(said, ["nlp borrows 4 GPUs.", "No project leaves quota unused.",
                                "Quotas sum to 4 of 8 GPUs.",
                                "No project waits for GPUs of its quota."])
        self.assertEqual((pool["in_no_quota"], pool["borrowers"], pool["free"]),
                         (4, [{"project": "nlp", "gpus": 4}], 0))
        code, seen = self.on_terminal("project", "ls")
        self.assertEqual(code, 0)
        self.assertIn(" ".join(said), seen)
        self.assertNotIn(said[0], self.berth("project", "ls"))  # which programs read


if __name__ == "__main__":
    main()
