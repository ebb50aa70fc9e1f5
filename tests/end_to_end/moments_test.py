# SPDX-License-Identifier: Apache-2.0
"""The cluster as it was at a moment: what was answered then is answered again, by the same words
and rows, whatever happened since."""
import datetime

from server_case import Refused, ServerCase, eventually, main

SAVES = "trap 'exit 0' TERM; while :; do sleep 0.1; done"
MEASURED = {"uuid", "utilization_percent", "memory_used", "power_watts", "shares_kept_by", "shares"}
# With the clock; and what the order remembers is kept up as decisions are made.
MOVES = {"now", "attained", "at", "order"}
# The server that answers says of itself what it is now.
ITS_OWN = ("Berth ", "  address ")


def without(value, names):
    if isinstance(value, dict):
        return {name: without(each, names) for name, each in value.items() if name not in names}
    return [without(each, names) for each in value] if isinstance(value, list) else value


class Moments(ServerCase):
    PATHS = ("overview", "jobs?finished=10", "jobs?order=importance&view=row", "projects", "pools",
             "projects/vision/fair-share", "state", "events?limit=1000")

    def setUp(self):
        super().setUp()
        self.server.berth("project", "create", "vision", "--quota", "8")
        self.server.berth("project", "create", "nlp")
        self.server.wait(self.shell("exit 3", name="short"))
        self.lent = self.shell(SAVES, project="nlp", gpus=8, name="lent")
        self.server.wait_for_state(self.lent, "running")
        self.owner = self.shell("sleep 600", project="vision", gpus=8, name="owner")
        self.server.wait_for_state(self.lent, "paused")
        self.server.wait_for_state(self.owner, "running")

    def now(self):
        """By the server's clock, in milliseconds: what comes next comes later."""
        def clock():
            return self.server.get(f"jobs/{self.owner}/timeline")["now"]
        moment = clock()
        eventually(lambda: clock() > moment)
        return moment

    def get_at(self, path, moment):
        return self.server.get(f"{path}{'&' if '?' in path else '?'}at={moment}")

    def sequence(self):
        return self.server.get("status")["sequence"]

    def quiet(self, ask):
        """A moment without events, and what was answered around it."""
        def once():
            before = self.sequence()
            answers = ask()
            moment = self.now()
            return (moment, answers) if self.sequence() == before else None
        return eventually(once)

    def go_on(self):
        """Much happens, also the end of the server and a new one."""
        self.server.berth("cancel", self.owner)
        self.server.wait(self.owner)
        self.server.wait_for_state(self.lent, "running")
        self.server.kill()
        self.server.up()
        self.server.berth("project", "set", "vision", "--quota", "2")
        self.shell("true", project="vision", name="later")
        self.server.berth("cancel", self.lent)
        self.server.wait(self.lent)

    def test_answers_are_those_that_were_given_then(self):
        moment, then = self.quiet(lambda: {path: self.server.get(path) for path in self.PATHS})
        nodes = self.server.get("nodes")
        self.go_on()
        for path in self.PATHS:
            with self.subTest(path):
                self.assertEqual(without(self.get_at(path, moment), MOVES),
                                 without(then[path], MOVES))
                self.assertNotEqual(without(self.server.get(path), MOVES),
                                    without(then[path], MOVES))
        self.assertEqual(without(self.get_at("nodes", moment), MEASURED), without(nodes, MEASURED))

    def test_the_command_line_prints_what_it_printed_then(self):
        def seen():
            return [self.server.berth(*words).stdout for words in (("status",), ("ls", "-q"))]

        def of_cluster(page):
            return [line for line in page.splitlines() if not line.startswith(ITS_OWN)]

        moment, (status, jobs) = self.quiet(seen)
        self.go_on()
        again = self.server.berth("status", "--at", moment)
        self.assertEqual(of_cluster(again.stdout), of_cluster(status))
        self.assertNotEqual(of_cluster(self.server.berth("status").stdout), of_cluster(status))
        self.assertRegex(again.stderr, "^as it was at 20.*, .* ago\n$")
        self.assertEqual(self.server.berth("ls", "-q", "--at", moment).stdout, jobs)
        shown = self.server.berth("show", str(self.lent), "--at", moment).stdout
        self.assertRegex(shown, "lent has been paused for ")
        self.assertRegex(shown, "paused .*, for .*owner \\(reclaim\\)")
        self.assertNotIn("cancel", shown)
        why = self.server.berth("why", str(self.lent), "--at", moment).stdout
        self.assertIn(f"{self.owner} vision/owner", why)

    def test_a_job_that_was_not_there_yet_is_not_found(self):
        moment = self.now()
        later = self.shell("true", name="later")
        with self.assertRaises(Refused) as refused:
            self.get_at(f"jobs/{later}", moment)
        self.assertEqual(refused.exception.status, 404)
        self.assertIn("was not there yet", str(refused.exception.body))

    def test_before_the_log_and_in_the_future_there_is_an_error_with_a_hint(self):
        ago = self.server.berth("status", "--at", "9h", check=False)
        self.assertEqual(ago.returncode, 124)
        self.assertIn("--at: nothing is known of that moment: the log begins at ", ago.stderr)
        hint = ago.stderr[ago.stderr.index("berth status --at "):].split()
        self.assertEqual(self.server.berth(*hint[1:]).returncode, 0)
        tomorrow = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
        ahead = self.server.berth("ls", "--at", tomorrow.strftime("%Y-%m-%dT%H:%M:%SZ"),
                                  check=False)
        self.assertEqual(ahead.returncode, 124)
        self.assertIn("--at: wanted a moment that is past", ahead.stderr)
        wrong = self.server.berth("ls", "--at", "soon", check=False)
        self.assertIn("--at: wanted a time such as 6h", wrong.stderr)


if __name__ == "__main__":
    main()
