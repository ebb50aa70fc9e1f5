# SPDX-License-Identifier: Apache-2.0
"""What people may ask of a cluster, and what the
scheduler writes for it."""
import sys

from install_case import KINDS
from kube_case import eventually, main
from scheduler_case import SchedulerCase

PROGRAM = sys.argv.pop(1)


class Numbers(SchedulerCase):
    """What a Project's status says."""

    PROGRAM = PROGRAM

    def test_what_a_department_has_is_what_its_projects_have(self):
        self.start_deciding()
        self.project("research", 12)
        self.project("vision", 8, parent="research")
        self.project("nlp", 0)
        self.job("vision", "train", 2, 5)
        self.await_bound(2, "vision")
        self.job("nlp", "waits", 1, 8)
        eventually(lambda: self.use("vision") == (8, 10, 10, 2, 0) and
                   self.use("research") == (12, 10, 10, 0, 0), "who uses what is said")
        eventually(lambda: self.use("nlp")[4] == 1, "who waits is said")

    def test_each_pool_is_counted_by_itself_until_it_is_gone(self):
        pools = f"{KINDS}/pools"
        self.api.create(pools, {"apiVersion": "berth.dev/v1alpha1", "kind": "Pool",
                                "metadata": {"name": "apart"},
                                "spec": {"nodeSelector": {"kubernetes.io/hostname": "node-00001"}}})
        self.addCleanup(self.api.send, "DELETE", f"{pools}/apart")
        self.start_deciding()
        self.project("vision", 2, pools={"apart": {"quota": 8}})
        self.pod("vision", "here", 1, nodeSelector={"kubernetes.io/hostname": "node-00000"})
        self.pod("vision", "there", 8, nodeSelector={"kubernetes.io/hostname": "node-00001"})
        self.await_bound(2, "vision")
        eventually(lambda: self.use("vision", "default") == (2, 1, 1, 0, 0) and
                   self.use("vision", "apart") == (8, 8, 8, 0, 0) and
                   self.use("vision") == (10, 9, 9, 0, 0), "each pool is counted")
        self.api.send("DELETE", "/api/v1/namespaces/vision/pods")
        eventually(lambda: not self.pods("vision"), "its pods are gone")
        self.api.patch(f"{KINDS}/projects/vision", {"spec": {"pools": None}})
        self.api.delete(f"{pools}/apart")
        eventually(lambda: self.use("vision", "apart") == (None,) * 5, "it is not named any more")

    def test_a_project_that_is_made_again_is_told_again(self):
        self.start_deciding()
        self.project("vision", 2)
        eventually(lambda: self.use("vision")[0] == 2, "its numbers are there")
        self.api.delete(f"{KINDS}/projects/vision")
        self.api.create(f"{KINDS}/projects", {
            "apiVersion": "berth.dev/v1alpha1", "kind": "Project", "metadata": {"name": "vision"},
            "spec": {"quota": 2}})
        eventually(lambda: self.use("vision")[0] == 2, "its numbers are there again")


if __name__ == "__main__":
    main()
