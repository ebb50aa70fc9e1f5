# SPDX-License-Identifier: Apache-2.0
"""Projects of a running server: made, changed, removed; what is refused changes nothing."""
from server_case import Refused, ServerCase, main


class Projects(ServerCase):
    def berth(self, *words, code=0):
        result = self.server.berth(*words, check=False)
        self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result.stdout + result.stderr

    def names(self):
        return [project["name"] for project in self.server.get("projects")["items"]]

    def test_a_removed_project_is_gone_and_its_finished_jobs_are_not(self):
        self.berth("project", "create", "vision", "--quota", "4")
        self.berth("project", "create", "nlp", "--quota", "4")
        ended = self.shell("echo done", project="vision")
        self.server.wait(ended)
        self.assertIn("berth ls -a -p vision", self.berth("project", "rm", "vision"))
        self.server.kill()
        self.server.up()
        self.assertEqual(self.names(), ["default", "nlp"])
        self.assertEqual(self.server.get(f"jobs/{ended}")["state"], "succeeded")
        self.assertEqual(self.log(ended), "done\n")
        self.assertEqual(self.berth("ls", "-a", "-p", "vision", "-q").split(), [str(ended)])
        self.assertNotIn("vision", self.berth("status") + self.berth("fairshare", "nlp"))
        self.assertIn("project vision removed", self.berth("events"))
        with self.assertRaises(Refused) as refused:
            self.shell("true", project="vision")
        self.assertEqual(refused.exception.status, 404)
        # The same name again is a new project, behind the others.
        self.berth("project", "create", "vision", "--quota", "1")
        self.assertEqual(self.names(), ["default", "nlp", "vision"])
        self.berth("down")
        self.server.up()
        self.assertEqual(self.names(), ["default", "nlp", "vision"])
        self.server.wait(self.shell("true", project="vision"))

    def test_what_is_in_use_stays_and_the_answer_says_why(self):
        self.berth("project", "create", "research")
        self.berth("project", "create", "vision", "--quota", "4", "--parent", "research")
        job = self.shell("sleep 600", project="vision")
        self.server.wait_for_state(job, "running")
        before = self.names()
        for code, name, why in (
                (1, "research", 'has projects below it such as "vision"; remove them first'),
                (1, "vision", f"has 1 job that has not ended, job {job};"),
                (1, "default", "takes the jobs that name none"),
                (127, "visoin", 'did you mean "vision"?')):
            self.assertIn(why, self.berth("project", "rm", name, code=code))
        for code, words, why in (
                (127, "fairshare visoin", 'does not exist, did you mean "vision"?'),
                (127, "run -p visoin -- true", 'does not exist, did you mean "vision"?'),
                (127, "run -p other -- true", "berth project create other"),
                (127, "project use visoin", 'did you mean "vision"?'),
                (124, "project create lab/x", 'without a slash, found "lab/x"'),
                (124, "project delete vision", "project has ls, create, set, rm or use")):
            self.assertIn(why, self.berth(*words.split(), code=code))
        self.assertEqual(self.names(), before)
        self.berth("cancel", str(job), "--wait")
        self.berth("project", "rm", "vision")
        self.berth("project", "rm", "research")
        self.assertEqual(self.names(), ["default"])
        with self.assertRaises(Refused) as refused:
            self.server.request("DELETE", "projects/vision")
        self.assertEqual(refused.exception.status, 404)

    def project(self, name):
        return next(one for one in self.server.get("projects")["items"] if one["name"] == name)

    def test_each_project_has_its_own_order_of_jobs_and_keeps_it_when_the_server_is_killed(self):
        self.berth("project", "create", "research", "--quota", "4", "--limit", "4",
                   "--order", "age")
        self.berth("project", "create", "vision", "--parent", "research", "--quota", "4")
        self.berth("project", "create", "nlp", "--quota", "4", "--limit", "4")
        first, wide, narrow = {}, {}, {}
        for name in ("vision", "nlp"):
            for jobs, gpus in ((first, 4), (wide, 4), (narrow, 1)):
                jobs[name] = self.shell("sleep 1000", project=name, gpus=gpus)
                if jobs is first:
                    self.server.wait_for_state(first[name], "running")
        self.server.kill()
        self.server.up()
        self.assertEqual(self.project("research")["job_order"], "age")
        self.assertIsNone(self.project("vision")["job_order"])
        for name in ("vision", "nlp"):
            self.berth("cancel", str(first[name]), "--wait")
        # By age the older is first, by what is learned of them the narrower.
        self.server.wait_for_state(wide["vision"], "running")
        self.server.wait_for_state(narrow["nlp"], "running")
        for job in (narrow["vision"], wide["nlp"]):
            self.assertEqual(self.server.get(f"jobs/{job}")["state"], "queued")
        # Set while they run and wait: vision goes by what is learned too.
        self.berth("cancel", str(narrow["vision"]), "--wait")
        older = self.shell("sleep 1000", project="vision", gpus=4)
        later = self.shell("sleep 1000", project="vision", gpus=1)
        self.berth("project", "set", "research", "--order", "inherit")
        self.server.kill()
        self.server.up()
        self.berth("cancel", str(wide["vision"]), "--wait")
        self.server.wait_for_state(later, "running")
        self.assertEqual(self.server.get(f"jobs/{older}")["state"], "queued")
        self.assertIsNone(self.project("research")["job_order"])
        self.berth("project", "set", "nlp", "--order", "age", "--tail", "33")
        self.assertEqual([self.project("nlp")[one] for one in ("job_order", "job_tail")],
                         ["age", 33])
        self.berth("project", "set", "nlp", "--order", "inherit", "--tail", "inherit")
        self.assertEqual([self.project("nlp")[one] for one in ("job_order", "job_tail")],
                         [None, None])
        for words, why in (("--tail 51", "from 0 to 50"), ("--tail half", "wanted"),
                           ("--order ages", "age")):
            self.assertIn(why, self.berth("project", "set", "nlp", *words.split(), code=124))
        self.assertIsNone(self.project("nlp")["job_tail"])


if __name__ == "__main__":
    main()
