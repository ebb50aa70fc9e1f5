# SPDX-License-Identifier: Apache-2.0
"""A wall clock that is set, while the server runs and between two servers: no job waits longer, or
shorter, for it."""
import datetime
import pathlib
import tempfile
import time
import unittest

from server_case import Server, main
from berth_server import build_wall_clock

DAY = 24 * 3600
YEAR = 365 * DAY
DELAY = 2  # before the owner has its GPU, in seconds


class TheClock(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.offset = folder / "offset"
        self.set_clock(0)
        self.server = Server(
            "--gpus", "sim:1x80G",
            environment={"LD_PRELOAD": build_wall_clock(folder),
                         "BERTH_TEST_WALL_CLOCK": str(self.offset)})
        self.enterContext(self.server)
        self.server.berth("project", "create", "owner", "--quota", "1",
                          "--preemption-delay", f"{DELAY}s")
        self.server.berth("project", "create", "guest", "--quota", "0")

    def set_clock(self, seconds):
        self.offset.write_text(str(seconds))

    def owner_waits(self):
        """How long the owner's job waits for the GPU that a guest has, by our own clock."""
        guest = self.server.submit(["sleep", "1000"], project="guest", grace=0)["id"]
        self.server.wait_for_state(guest, "running")
        begin = time.monotonic()
        owner = self.server.submit(["sleep", "1000"], project="owner")["id"]
        self.server.wait_for_state(owner, "running")
        waited = time.monotonic() - begin
        for job in (guest, owner):
            self.server.request("POST", f"jobs/{job}/cancel", {"grace": 0})
            self.server.wait(job)
        return waited

    def check_owner(self, when):
        self.assertGreaterEqual(self.owner_waits(), DELAY - 0.1, when)

    def check_dates(self):
        """What people read is what the wall clock says."""
        started = self.server.get("status")["started"]
        job = self.server.get(f"jobs/{self.server.submit(['true'])['id']}")
        now = time.time() + int(self.offset.read_text())
        for date in (started, job["created"]):
            shown = datetime.datetime.fromisoformat(date.replace("Z", "+00:00")).timestamp()
            self.assertLess(abs(shown - now), 60, date)

    def test_it_is_set_between_two_servers(self):
        self.server.berth("down")
        for before, after in ((DAY, 0), (0, -DAY), (-DAY, DAY), (DAY, YEAR), (YEAR, 0)):
            with self.subTest(before=before, after=after):
                self.set_clock(before)
                self.server.up()
                self.check_owner("before")
                self.server.berth("down")
                self.set_clock(after)
                self.server.up()
                self.check_owner("after")
                self.check_dates()
                self.server.berth("down")

    def test_it_is_set_while_a_server_runs(self):
        for offset in (DAY, -DAY, YEAR, 0):
            with self.subTest(offset=offset):
                self.set_clock(offset)
                self.check_owner("at once")
                self.check_dates()

    def test_it_jumps_while_an_owner_waits(self):
        guest = self.server.submit(["sleep", "1000"], project="guest", grace=0)["id"]
        self.server.wait_for_state(guest, "running")
        begin = time.monotonic()
        owner = self.server.submit(["sleep", "1000"], project="owner")["id"]
        self.set_clock(DAY)
        self.server.submit(["true"])  # something happens, so that it looks at the clock
        self.server.wait_for_state(owner, "running")
        self.assertGreaterEqual(time.monotonic() - begin, DELAY - 0.1)

    def test_a_killed_server_goes_on_too(self):
        self.set_clock(DAY)
        self.check_owner("ahead")
        self.server.kill()
        self.set_clock(0)
        self.server.up()
        self.check_owner("right again")


if __name__ == "__main__":
    main()
