# SPDX-License-Identifier: Apache-2.0
"""Elastic jobs: more tasks when GPUs idle, fewer when their owner returns, by starting again."""
import re

from server_case import ServerCase, eventually, main

# Rank 0 saves on TERM what it has counted and goes on from there; each start tells how many they
# are.
COUNTER = """
cd "$BERTH_CHECKPOINT_DIR"
count=$(cat count 2>/dev/null || echo 0)
trap '[ $RANK = 0 ] && echo $count > count; exit 0' TERM
echo "attempt $BERTH_ATTEMPT rank $RANK of $WORLD_SIZE from $count"
while [ ! -e stop ]; do count=$((count + 1)); sleep 0.01; done
exit $RANK
"""
STARTED = re.compile(r"attempt (\d+) rank (\d+) of (\d+) from (\d+)")


class Elastic(ServerCase):
    FLAGS = ("--gpus", "sim:8x80G", "--min-runtime", "0")

    def tasks(self, job):
        return len(self.server.get(f"jobs/{job}")["tasks"])

    def check_attempt(self, job, attempt, size):
        """Every rank of the attempt ran once, and knew how many they are."""
        eventually(lambda: self.server.get(f"jobs/{job}")["attempts"] >= attempt)
        for rank in range(size):
            text = eventually(
                lambda r=rank: self.server.get(f"jobs/{job}/log?attempt={attempt}&task={r}"))
            found = STARTED.findall(text.decode())
            self.assertEqual([(int(a), int(r), int(s)) for a, r, s, _ in found],
                             [(attempt, rank, size)])

    def counted(self, job, attempt):
        return int(STARTED.search(self.log(job, attempt))[4])

    def test_it_grows_and_shrinks_without_losing_a_rank_or_its_work(self):
        for name, quota in (("owner", 4), ("lab", 0)):
            self.server.request("PUT", f"projects/{name}", {"quota": quota})
        blocker = self.server.submit(["sleep", "600"], project="owner", gpus=5)["id"]
        job = self.shell(COUNTER, project="lab", tasks_min=2, tasks_max=6, elastic="restart")
        self.check_attempt(job, 1, 3)
        self.assertIn("3/6 tasks", self.server.berth("ls").stdout)
        self.server.request("POST", f"jobs/{blocker}/cancel")
        self.check_attempt(job, 2, 6)
        self.assertGreater(self.counted(job, 2), 0)
        owner = self.server.submit(["sleep", "600"], project="owner", gpus=4)["id"]
        self.server.wait(owner, until="running")
        self.check_attempt(job, 3, 4)
        self.assertGreaterEqual(self.counted(job, 3), self.counted(job, 2))
        record = self.server.get(f"jobs/{job}")
        self.assertEqual((record["attempts"], record["pauses"], self.tasks(job)), (3, 0, 4))
        (self.server.data / "jobs/0" / f"{job}.checkpoint/stop").touch()
        ended = self.server.wait(job)
        self.assertEqual((ended["state"], ended["exit_code"] in (1, 2, 3)), ("failed", True))

    def test_the_server_is_killed_while_a_job_saves_to_grow(self):
        blocker = self.server.submit(["sleep", "600"], gpus=6)["id"]
        slow = COUNTER.replace("trap '", "trap 'sleep 1; ")
        job = self.shell(slow, tasks_min=2, tasks_max=8, elastic="restart")
        self.check_attempt(job, 1, 2)
        self.server.request("POST", f"jobs/{blocker}/cancel")
        eventually(lambda: self.tasks(job) == 8)
        self.server.kill()
        self.server.up()
        self.check_attempt(job, 2, 8)
        self.check_attempt(job, 1, 2)


if __name__ == "__main__":
    main()
