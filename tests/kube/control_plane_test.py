# SPDX-License-Identifier: Apache-2.0
"""The control plane of tests: it is a real one, has its own users, and leaves nothing behind."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

from kube_case import ROOT, ControlPlane, KubeCase, eventually, main

import folder as folders  # noqa: E402  (of tools/kube, as all below)
import processes  # noqa: E402
import programs  # noqa: E402
import starts  # noqa: E402

KUBE = ROOT / "tools/kube/kube"
PODS = "/api/v1/namespaces/default/pods"


def pod(name, gpus=1):
    return {"metadata": {"name": name}, "spec": {
        "schedulerName": "none", "restartPolicy": "Never",
        "containers": [{"name": "main", "image": "fake",
                        "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]}}


class Kept(KubeCase):
    def bind(self, name, node):
        self.api.create(f"{PODS}/{name}/binding", {
            "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}})

    def phase(self, name):
        return self.api.get(f"{PODS}/{name}")["status"].get("phase")

    def test_it_is_the_release_that_go_mod_pins(self):
        if "KUBEBUILDER_ASSETS" in os.environ:
            self.skipTest("KUBEBUILDER_ASSETS names others")
        self.assertEqual(self.api.get("/version")["gitVersion"], f"v{programs.RELEASE}")

    def test_a_pod_bound_by_hand_runs_on_the_fake_kubelet_of_its_node(self):
        self.plane.tool("nodes", "--count", 2)
        self.plane.run_kubelets()
        self.addCleanup(self.plane.kill, "kubelets")
        self.api.create(PODS, pod("bound"))
        self.api.create(PODS, pod("unbound"))
        self.bind("bound", "node-00001")
        eventually(lambda: self.phase("bound") == "Running", "the bound pod runs")
        self.assertEqual(self.phase("unbound"), "Pending")
        self.api.create(PODS, pod("eight", gpus=8))
        self.bind("eight", "node-00001")  # which has seven left
        eventually(lambda: self.phase("eight") == "Failed", "a pod without GPUs is refused")
        self.api.delete(f"{PODS}/bound")
        eventually(lambda: self.api.send("GET", f"{PODS}/bound")[0] == 404, "it is gone")

    def test_rbac_refuses_an_account_until_a_role_is_bound_to_it(self):
        account = self.plane.account("reader")
        self.assert_refused(403, account.get, PODS)
        roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
        self.api.create(f"{roles}/roles", {"metadata": {"name": "reader"}, "rules": [
            {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]})
        self.api.create(f"{roles}/rolebindings", {
            "metadata": {"name": "reader"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            "subjects": [{"kind": "ServiceAccount", "name": "reader", "namespace": "default"}]})
        eventually(lambda: account.send("GET", PODS)[0] == 200, "the role holds")
        self.assert_refused(403, account.create, PODS, pod("mine"))
        self.assert_refused(403, account.get, "/api/v1/namespaces/kube-system/pods")

    def test_users_have_certificates_and_groups_and_nobody_is_nobody(self):
        self.assert_refused(403, self.plane.user("jemma").get, PODS)
        self.plane.user("susan", ["system:masters"]).get(PODS)
        self.assert_refused(403, self.plane.client().get, PODS)
        self.assert_refused(401, self.plane.client(token="made up").get, PODS)
        config = self.plane.path / "pki/susan.kubeconfig"
        said = subprocess.run([self.plane.programs / "kubectl", f"--kubeconfig={config}",
                               f"--cache-dir={self.plane.path}/kubectl-cache", "auth", "whoami",
                               "-o", "json"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(json.loads(said)["status"]["userInfo"]["username"], "susan")

    def test_controllers_work(self):
        self.api.create("/apis/batch/v1/namespaces/default/jobs", {
            "metadata": {"name": "two"}, "spec": {"parallelism": 2, "template": {
                "spec": pod("two")["spec"]}}})
        chosen = f"{PODS}?labelSelector=job-name%3Dtwo"
        eventually(lambda: len(self.api.get(chosen)["items"]) == 2, "the Job has its pods")

    def test_writes_are_counted_by_verb_and_resource(self):
        before = self.plane.writes()
        self.plane.tool("pods", "--count", 7, "--prefix", "counted")
        self.bind("counted-00000", "node-nowhere")
        self.assert_refused(409, self.api.create, PODS, pod("counted-00001"))
        after = self.plane.writes()
        for key, count in ((("POST", "pods", "2xx"), 7), (("POST", "pods", "4xx"), 1),
                           (("POST", "pods/binding", "2xx"), 1)):
            self.assertEqual(after[key] - before.get(key, 0), count, key)

    def test_a_killed_api_server_comes_back_on_its_port_with_what_it_held(self):
        self.api.create(PODS, pod("kept"))
        uid = self.api.get(f"{PODS}/kept")["metadata"]["uid"]
        before = dict(processes.of(self.plane.path))
        self.plane.kill("kube-apiserver")
        with self.assertRaises(OSError):
            self.api.send("GET", PODS)
        self.plane.restart("kube-apiserver")
        eventually(self.plane.is_ready, "the API server is ready")
        self.assertEqual(self.api.get(f"{PODS}/kept")["metadata"]["uid"], uid)
        after = dict(processes.of(self.plane.path))
        self.assertNotEqual(after.pop("kube-apiserver"), before.pop("kube-apiserver"))
        self.assertEqual(after, before)

    def test_the_cost_of_each_process_is_known(self):
        cost = self.plane.cost()
        self.assertLessEqual({"etcd", "kube-apiserver", "kube-controller-manager"}, cost.keys())
        self.assertGreater(min(seconds for seconds, _ in cost.values()), 0)

    def test_nobody_else_can_read_its_keys(self):
        self.assertEqual(self.plane.path.stat().st_mode & 0o777, 0o700)
        for key in self.plane.path.glob("pki/*.key"):
            self.assertEqual(key.stat().st_mode & 0o077, 0, key)


class Starts(unittest.TestCase):
    def test_three_in_a_row_leave_no_process_port_or_file(self):
        for _ in range(3):
            start = starts.Start()
            print(f"{start.seconds:.2f} s, {start.processor_seconds:.2f} s of a processor")
            self.assertEqual(start.left, [])

    def test_what_stays_is_seen(self):
        """So that the test above can fail."""
        with ControlPlane(controllers=False) as plane:
            self.assertIn("etcd", starts.lives_in(plane.path))
            self.assertIn(int(plane.server.rpartition(":")[2]), starts.listening())
            with subprocess.Popen(["sleep", "1000"], cwd=plane.path) as child:
                self.assertIn("sleep", starts.lives_in(plane.path))
                child.kill()
                os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
                self.assertIn("sleep, ended", starts.lives_in(plane.path))

    def test_two_at_once_do_not_meet(self):
        with ControlPlane() as one, ControlPlane() as other:
            self.assertNotEqual(one.server, other.server)
            one.api.create("/api/v1/namespaces", {"metadata": {"name": "of-one"}})
            self.assertEqual(other.api.send("GET", "/api/v1/namespaces/of-one")[0], 404)
            token = one.account("berth").headers["Authorization"].split()[1]
            self.assertEqual(other.client(token=token).send("GET", PODS)[0], 401)
            one.stop()
            self.assertEqual(starts.lives_in(one.path), [])
            self.assertTrue(other.is_ready())


class Killed(unittest.TestCase):
    """Who starts one is killed with -9."""

    def starter(self, *words):
        child = subprocess.Popen(list(map(str, words)), stdout=subprocess.PIPE, text=True)
        self.addCleanup(child.stdout.close)
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def kill(self, child):
        child.send_signal(signal.SIGKILL)
        child.wait()

    def test_a_test_takes_its_control_plane_with_it_and_the_next_start_removes_the_folder(self):
        # Where no other test's start removes it first.
        home = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch.object(folders, "HOME", pathlib.Path(home)))
        for moment in ("etcd", "ready"):
            child = self.starter(
                sys.executable, "-B", "-c", "import sys, time\n"
                f"sys.path.insert(0, {str(ROOT / 'tools/kube')!r})\n"
                "import folder, pathlib\n"
                f"folder.HOME = pathlib.Path({home!r})\n"
                "from control_plane import ControlPlane\n"
                "plane = ControlPlane()\n"
                "run = plane.run\n"
                "def shown(name, command):\n"
                "    run(name, command)\n"
                "    print(name, plane.path, flush=True)\n"
                "plane.run = shown\n"
                "with plane:\n"
                "    print('ready', plane.path, flush=True)\n"
                "    time.sleep(1000)\n")
            path = next(pathlib.Path(line.split()[1]) for line in child.stdout
                        if line.split()[0] == moment)
            self.kill(child)
            eventually(lambda: not starts.lives_in(path), "its processes end")
            self.assertTrue(path.exists())
            folders.of_our_own().remove()
            self.assertFalse(path.exists())

    def test_what_is_started_by_somebody_who_ends_at_once_ends_too(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (folder / "log").mkdir()
        self.addCleanup(processes.end, folder)
        for number in range(20):
            child = os.fork()
            if child == 0:
                processes.start(folder, f"sleep-{number}", ["sleep", "1000"], ends_with_us=True)
                os.kill(os.getpid(), signal.SIGKILL)
            os.waitpid(child, 0)
        eventually(lambda: not processes.of(folder), "all have ended")

    def test_the_next_start_in_a_folder_of_ones_own_takes_its_place(self):
        with tempfile.TemporaryDirectory() as home:
            folder = pathlib.Path(home) / "plane"
            self.addCleanup(processes.end, folder)
            child = self.starter(KUBE, "start", folder)
            eventually(lambda: "kube-apiserver" in dict(processes.of(folder)), "it has begun")
            refused = kube("start", folder)
            self.assertIn("another start is at work", refused.stderr)
            self.kill(child)
            self.assertTrue(processes.of(folder))
            self.assertEqual(kube("start", folder, "--no-controllers").returncode, 0)
            names = [name for name, _ in processes.of(folder)]
            self.assertEqual(names, ["etcd", "kube-apiserver"])
            self.assertEqual(kube("stop", folder).returncode, 0)
            self.assertEqual(starts.lives_in(folder), [])
            self.assertFalse(folder.exists())


class Verbs(unittest.TestCase):
    def test_from_start_to_stop(self):
        with tempfile.TemporaryDirectory() as home:
            folder = pathlib.Path(home) / "my plane"
            started = kube("start", folder, "--scheduler")
            self.assertEqual(started.returncode, 0, started.stderr)
            self.addCleanup(processes.end, folder)
            self.assertRegex(started.stdout, r"^https://127.0.0.1:\d+ is ready after \d")
            self.assertIn("runs in", kube("start", folder).stderr)
            self.assertIn("create nodes: 3 in", kube("tool", folder, "nodes", "-count", 3).stdout)
            self.assertEqual(kube("tool", folder, "pods", "-count", 2).returncode, 0)
            waited = kube("tool", folder, "wait", "-count", 2)
            self.assertIn("all 2 bound", waited.stdout)
            nodes = kube("kubectl", folder, "get", "nodes", "-o", "name").stdout
            self.assertEqual(nodes.split(), [f"node/node-0000{i}" for i in range(3)])
            self.assertRegex(kube("status", folder).stdout, r"kube-scheduler +\d")
            self.assertRegex(kube("writes", folder).stdout, r" 2 POST pods/binding 2xx")
            self.assertEqual(kube("kill", folder, "kube-apiserver").returncode, 0)
            self.assertNotIn("kube-apiserver", kube("status", folder).stdout)
            self.assertEqual(kube("restart", folder, "kube-apiserver").returncode, 0)
            self.assertEqual(len(kube("kubectl", folder, "get", "nodes", "-o",
                                      "name").stdout.split()), 3)
            self.assertEqual(kube("stop", folder).returncode, 0)
            self.assertEqual(starts.lives_in(folder), [])
            self.assertEqual(list(pathlib.Path(home).iterdir()), [])

    def test_what_is_not_a_control_plane_is_left_alone(self):
        with tempfile.TemporaryDirectory() as home:
            self.addCleanup(processes.end, home)
            (pathlib.Path(home) / "thesis.tex").write_text("mine")
            self.assertIn("has other files, such as thesis.tex", kube("start", home).stderr)
            self.assertIn("no control plane in", kube("stop", home).stderr)
            self.assertEqual([path.name for path in pathlib.Path(home).iterdir()], ["thesis.tex"])

    def test_a_name_that_does_not_run_is_refused(self):
        with ControlPlane(controllers=False) as plane:
            self.assertIn('no process "kubelet"', kube("kill", plane.path, "kubelet").stderr)
            self.assertIn("is still at work with it", kube("stop", plane.path).stderr)
            self.assertTrue(plane.is_ready())


def kube(*words):
    return subprocess.run([KUBE, *map(str, words)], capture_output=True, text=True)


if __name__ == "__main__":
    main()
