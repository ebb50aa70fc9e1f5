# SPDX-License-Identifier: Apache-2.0
"""What did a span of time cost a control plane: processor time of each process, writes to the API?

Processor time is the kernel's count of each process that lives at the end. Writes are the API
server's own count, of all clients.
"""
import time


class Spent:
    """From its making until stop()."""

    def __init__(self, plane):
        self.plane = plane
        # Asking for the writes costs the server too: outside of what is counted.
        self.writes_before = plane.writes()
        self.cost_before = plane.cost()
        self.began = time.monotonic()

    def stop(self):
        self.seconds = time.monotonic() - self.began
        after = self.plane.cost()
        self.cpu = {name: cost[0] - self.cost_before.get(name, (0, 0))[0]
                    for name, cost in after.items()}
        self.by_request = {what: count - self.writes_before.get(what, 0)
                           for what, count in self.plane.writes().items()}
        return self

    def all_cpu(self):
        """Seconds of all processes; what fake kubelets take is no control plane's."""
        return sum(self.cpu.values()) - self.cpu.get("kubelets", 0)

    def writes(self, *wanted):
        """How many of (verb, resource), or all. One that was refused counts."""
        return sum(count for (verb, what, _), count in self.by_request.items()
                   if not wanted or (verb, what) in wanted)
