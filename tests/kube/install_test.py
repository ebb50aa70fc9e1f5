# SPDX-License-Identifier: Apache-2.0
"""berth kube install, manifest and uninstall on a real server, and what the policies do to pods."""
import http.server
import json
import os
import pathlib
import re
import ssl
import subprocess
import sys
import tempfile
import threading

from install_case import ADMISSION, CRDS, KINDS, InstallCase
from kube_case import Refused, eventually, main

PROGRAM = sys.argv.pop(1)

POLICIES = [f"{ADMISSION}/{kind}" for kind in (
    "validatingadmissionpolicies", "validatingadmissionpolicybindings",
    "mutatingadmissionpolicies", "mutatingadmissionpolicybindings")]
WEBHOOKS = [f"{ADMISSION}/{kind}" for kind in (
    "validatingwebhookconfigurations", "mutatingwebhookconfigurations")]
RBAC = "/apis/rbac.authorization.k8s.io/v1"
SYSTEM = "/namespaces/berth-system"
# Where our objects are, the namespaced ones last.
PLACES = [CRDS, "/api/v1/namespaces", f"{RBAC}/clusterroles", f"{RBAC}/clusterrolebindings",
          *POLICIES, f"/api/v1{SYSTEM}/serviceaccounts", f"/api/v1{SYSTEM}/resourcequotas",
          f"{RBAC}{SYSTEM}/roles", f"{RBAC}{SYSTEM}/rolebindings",
          f"/apis/apps/v1{SYSTEM}/deployments"]
OURS = "?labelSelector=app.kubernetes.io/part-of%3Dberth"
ACCOUNT = "system:serviceaccount:berth-system:berth-scheduler"
# What the server writes into an object.
SERVERS = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "generation",
           "annotations", "selfLink")


def pod(name, spec=None, **meta):
    return {"metadata": {"name": name, **meta}, "spec": {
        "restartPolicy": "Never", "containers": [{"name": "main", "image": "fake"}],
        **(spec or {})}}


class Installation(InstallCase):
    PROGRAM = PROGRAM

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.plane.tool("nodes", "--count", 1)

    def empty(self):
        """Begins on a cluster without Berth, whatever was before."""
        self.berth("uninstall", "--delete-projects")
        self.assertEqual(self.ours(), {})

    def ours(self):
        """Every object of ours by its place and name, as it was wanted."""
        found = {}
        for place in PLACES:
            for item in self.api.get(place + OURS)["items"]:
                meta = {key: value for key, value in item["metadata"].items()
                        if key not in SERVERS}
                item = {key: value for key, value in item.items() if key != "status"}
                item.pop("apiVersion", None)
                found[place, meta["name"]] = {**item, "metadata": meta}
        return found

    def versions(self):
        """Of their specs, as controllers write status when they come to it."""
        metas = [item["metadata"] for place in PLACES if not place.endswith("/resourcequotas")
                 for item in self.api.get(place + OURS)["items"]]
        return {meta["uid"]: meta.get("generation", meta["resourceVersion"]) for meta in metas}

    def namespace(self, name, **labels):
        self.api.call("PATCH", f"/api/v1/namespaces/{name}?fieldManager=tests&force=true", {
            "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}},
            "application/apply-patch+yaml")
        eventually(lambda: "default" in self.names(f"/api/v1/namespaces/{name}/serviceaccounts"),
                   "the namespace has its account")
        return f"/api/v1/namespaces/{name}/pods"

    def make(self, path, what):
        """Made, looked at, taken away."""
        made = self.api.create(path, what)
        self.api.delete(f"{path}/{what['metadata']['name']}", {"gracePeriodSeconds": 0})
        return made["spec"]["schedulerName"]

    def await_policies(self, path):
        """A policy that was just made holds a moment later."""
        eventually(lambda: self.make(path, pod("first")) == "berth", "the policy holds")

    # --- install -----------------------------------------------------------------------------

    def test_install_on_an_empty_cluster_makes_all_and_again_changes_nothing(self):
        self.empty()
        said = self.berth("install", "--image", "example.org/berth:7").stdout
        self.assertRegex(said, r"(?m)^Kubernetes v1\.\d+\.\d+ at https://")
        self.assertIn("  made   CustomResourceDefinition projects.berth.dev\n", said)
        self.assertTrue(said.endswith(
            "installed; next: kubectl label namespace NAME berth.dev/project=PROJECT\n"))
        first = self.ours()
        self.assertEqual(len(first), said.count("  made   "))
        self.assertEqual(self.names(f"{KINDS}/projects"), set())  # served
        deployment = first[f"/apis/apps/v1{SYSTEM}/deployments", "berth-scheduler"]["spec"]
        self.assertEqual(deployment["replicas"], 2)
        container = deployment["template"]["spec"]["containers"][0]
        self.assertEqual((container["image"], container["args"]),
                         ("example.org/berth:7", ["kube", "scheduler", "--listen", ":8080"]))
        for place in WEBHOOKS:
            self.assertEqual(self.names(place), set())
        versions = self.versions()
        said = self.berth("install", "--image", "example.org/berth:7").stdout
        self.assertNotIn("made", said)
        self.assertEqual(self.ours(), first)
        self.assertEqual(self.versions(), versions)

    def test_its_pods_are_as_strict_as_their_namespace_wants_them(self):
        self.berth("install")
        pods = f"/api/v1{SYSTEM}/pods"
        found = eventually(lambda: self.api.get(pods)["items"], "the deployment has pods")
        self.assertEqual(found[0]["spec"]["schedulerName"], "default-scheduler")
        self.assertEqual(found[0]["spec"]["priorityClassName"], "system-cluster-critical")
        self.assert_refused(403, self.api.create, pods, pod("loose"))

    def test_what_kubectl_applies_of_the_manifest_is_the_same(self):
        self.empty()
        self.berth("install")
        installed = self.ours()
        self.berth("uninstall")
        manifest = self.berth("manifest").stdout
        subprocess.run([*self.plane.kubectl_command(), "apply", "-f", "-"], input=manifest,
                       text=True, check=True, capture_output=True)
        self.assertEqual(self.ours(), installed)
        said = self.berth("install").stdout  # takes over what kubectl has made
        self.assertNotIn("made", said)
        self.assertEqual(self.ours(), installed)

    def test_what_was_changed_by_hand_is_as_it_should_be_again(self):
        self.berth("install")
        role = f"{RBAC}/clusterroles/berth-scheduler"
        rules = self.api.get(role)["rules"]
        self.api.patch(role, {"rules": []})
        self.berth("install")
        self.assertEqual(self.api.get(role)["rules"], rules)

    def test_what_is_still_being_deleted_is_waited_for_and_made_again(self):
        self.berth("install")
        old = self.api.get("/api/v1/namespaces/berth-system")["metadata"]["uid"]
        self.api.delete("/api/v1/namespaces/berth-system")
        self.berth("install")
        new = self.api.get("/api/v1/namespaces/berth-system")["metadata"]
        self.assertNotEqual(new["uid"], old)
        self.assertNotIn("deletionTimestamp", new)

    # --- policies ----------------------------------------------------------------------------

    def test_a_pod_that_says_nothing_in_a_projects_namespace_is_ours_and_no_other(self):
        self.berth("install")
        ours = self.namespace("ours", **{"berth.dev/project": "vision"})
        other = self.namespace("other")
        self.await_policies(ours)
        cases = [
            (ours, pod("nothing"), "berth"),
            (ours, pod("default", {"schedulerName": "default-scheduler"}), "berth"),
            (ours, pod("own", {"schedulerName": "volcano"}), "volcano"),
            (ours, pod("bound", {"nodeName": "n1"}), "default-scheduler"),
            (ours, pod("ignored", labels={"berth.dev/ignore": "true"}), "default-scheduler"),
            (ours, pod("named", labels={"berth.dev/ignore": "false"}), "berth"),
            (other, pod("nothing"), "default-scheduler"),
            (other, pod("label", labels={"berth.dev/project": "vision"}), "default-scheduler"),
            ("/api/v1/namespaces/kube-system/pods", pod("nothing"), "default-scheduler"),
        ]
        system = "/api/v1/namespaces/kube-system"
        self.api.patch(system, {"metadata": {"labels": {"berth.dev/project": "vision"}}})
        self.addCleanup(self.api.patch, system, {"metadata": {"labels": {
            "berth.dev/project": None}}})
        for path, what, scheduler in cases:
            with self.subTest(what["metadata"]["name"], path=path):
                self.assertEqual(self.make(path, what), scheduler)

    def test_only_our_account_writes_what_berth_says_of_pods_and_jobs(self):
        self.berth("install")
        pods = self.namespace("ours", **{"berth.dev/project": "vision"})
        jobs = "/apis/batch/v1/namespaces/ours/jobs"
        self.await_policies(pods)
        eventually(lambda: self.api.send("POST", f"{pods}?dryRun=All", pod(
            "made", annotations={"berth.dev/gpus": "GPU-1"}))[0] == 422, "the policy holds")
        self.api.create(pods, pod("mine", annotations={"note": "a"}))
        self.addCleanup(self.api.delete, f"{pods}/mine", {"gracePeriodSeconds": 0})
        job = {"metadata": {"name": "mine"}, "spec": {"suspend": True, "template": {
            "spec": pod("x")["spec"]}}}
        self.api.create(jobs, job)
        self.addCleanup(self.api.delete, f"{jobs}/mine")
        us = self.plane.user("us", ["system:masters"])
        us.headers["Impersonate-User"] = ACCOUNT
        us.headers["Impersonate-Group"] = "system:masters"  # rights are another test's matter
        for key in ("gpus", "part", "history", "last-pause", "promise"):
            said = {"metadata": {"annotations": {f"berth.dev/{key}": "x"}}}
            for path in (f"{pods}/mine", f"{pods}/mine/status", f"{jobs}/mine",
                         f"{jobs}/mine/status"):
                with self.subTest(path, key=key):
                    with self.assertRaises(Refused) as refused:
                        self.api.patch(path, said)
                    self.assertIn(f"annotation berth.dev/{key}: only Berth writes it",
                                  str(refused.exception))
        with self.assertRaises(Refused):
            self.api.create(pods, pod("made", annotations={"berth.dev/gpus": "GPU-1"}))
        binding = {"metadata": {"name": "mine", "annotations": {"berth.dev/gpus": "GPU-1"}},
                   "target": {"apiVersion": "v1", "kind": "Node", "name": "n1"}}
        with self.assertRaises(Refused):
            self.api.create(f"{pods}/mine/binding", binding)
        us.patch(f"{jobs}/mine", {"metadata": {"annotations": {"berth.dev/history": "x"}}})
        us.create(f"{pods}/mine/binding", binding)
        # What stays as it is may be there although others write beside it, and does not go either.
        self.api.patch(f"{pods}/mine", {"metadata": {"annotations": {"note": "b"}}})
        self.api.patch(f"{jobs}/mine", {"metadata": {"labels": {"a": "b"}}})
        with self.assertRaises(Refused):
            self.api.patch(f"{pods}/mine", {"metadata": {"annotations": {"berth.dev/gpus": None}}})
        self.api.patch(f"{pods}/mine", {"metadata": {"annotations": {"berth.dev/held": "x"}}})

    # --- the scheduler -----------------------------------------------------------------------

    def test_the_scheduler_with_the_token_of_its_account_places_a_pod(self):
        self.empty()
        self.berth("install")
        self.api.create(f"{KINDS}/projects", {
            "apiVersion": "berth.dev/v1alpha1", "kind": "Project", "metadata": {"name": "vision"},
            "spec": {"quota": 4}})
        pods = self.namespace("ours", **{"berth.dev/project": "vision"})
        self.await_policies(pods)
        accounts = f"/api/v1{SYSTEM}/serviceaccounts/berth-scheduler"
        token = self.api.create(f"{accounts}/token", {"spec": {}})["status"]["token"]
        config = self.plane.authority.kubeconfig(self.plane.server, "scheduler", "scheduler", token)
        scheduler = subprocess.Popen([PROGRAM, "kube", "scheduler", "--kubeconfig", config],
                                     stderr=subprocess.PIPE, text=True)
        self.addCleanup(scheduler.communicate)
        self.addCleanup(scheduler.kill)
        what = pod("asks", {"containers": [{"name": "main", "image": "fake", "resources": {
            "limits": {"nvidia.com/gpu": "1"}}}]})
        self.api.create(pods, what)
        self.addCleanup(self.api.delete, f"{pods}/asks", {"gracePeriodSeconds": 0})
        eventually(lambda: self.api.get(f"{pods}/asks")["spec"].get("nodeName"), "it is bound")
        self.assertIsNone(scheduler.poll())

    # --- uninstall ---------------------------------------------------------------------------

    def test_uninstall_leaves_running_pods_and_nothing_of_ours(self):
        self.plane.run_kubelets()
        self.addCleanup(self.plane.kill, "kubelets")
        self.empty()
        self.berth("install")
        pods = self.namespace("ours", **{"berth.dev/project": "vision"})
        self.await_policies(pods)
        for name in ("runs", "waits"):
            self.api.create(pods, pod(name))
            self.addCleanup(self.api.delete, f"{pods}/{name}", {"gracePeriodSeconds": 0})
        node = self.api.get("/api/v1/nodes")["items"][0]["metadata"]["name"]
        self.api.create(f"{pods}/runs/binding", {"metadata": {"name": "runs"}, "target": {
            "apiVersion": "v1", "kind": "Node", "name": node}})
        phase = lambda: self.api.get(f"{pods}/runs")["status"]["phase"]  # noqa: E731
        eventually(lambda: phase() == "Running", "the pod runs")
        uid = self.api.get(f"{pods}/runs")["metadata"]["uid"]
        self.api.create(f"{KINDS}/projects", {
            "apiVersion": "berth.dev/v1alpha1", "kind": "Project", "metadata": {"name": "vision"}})

        refused = self.berth("uninstall", code=1)
        self.assertIn("1 project would be deleted too", refused.stderr)
        self.assertIn("berth kube uninstall --keep-projects, or --delete-projects", refused.stderr)
        self.assertEqual(self.names(f"{KINDS}/projects"), {"vision"})
        self.assertIn("berth-scheduler-name", self.names(POLICIES[2]))

        said = self.berth("uninstall", "--delete-projects").stdout
        self.assertIn('1 pod waits for the scheduler "berth", which is gone', said)
        self.assertTrue(said.endswith("uninstalled; running pods go on\n"))
        lines = said.splitlines()
        self.assertLess(lines.index("  gone   MutatingAdmissionPolicyBinding berth-scheduler-name"),
                        lines.index("  gone   Deployment berth-scheduler"))
        self.assertEqual(self.ours(), {})
        for place in (*POLICIES, *WEBHOOKS, CRDS):
            self.assertEqual(self.names(place), set(), place)
        self.assertNotIn("berth-system", self.names("/api/v1/namespaces"))
        left = self.api.get(f"{pods}/runs")
        self.assertEqual((left["metadata"]["uid"], phase()), (uid, "Running"))
        for path in (f"{pods}/runs", "/api/v1/namespaces/ours"):
            self.assertNotIn("finalizers", self.api.get(path)["metadata"])
        eventually(lambda: self.make(pods, pod("later")) == "default-scheduler",
                   "new pods are left to the cluster's scheduler")

    def test_uninstall_resumes_what_was_paused_and_nothing_else(self):
        self.empty()
        jobs = "/apis/batch/v1/namespaces/default/jobs"
        receipt = {"berth.dev/last-pause": '{"paused":true,"rule":"reclaim"}'}
        for name, annotations in (("odd", {"x": "a\0b"}), ("paused", receipt), ("users", {})):
            self.api.create(jobs, {
                "metadata": {"name": name, "annotations": annotations}, "spec": {
                    "suspend": True, "template": {"spec": {"restartPolicy": "Never", "containers": [
                        {"name": "main", "image": "fake"}]}}}})
            self.addCleanup(self.api.delete, f"{jobs}/{name}?propagationPolicy=Background")
        self.berth("install")
        self.assertIn("1 that Berth had paused goes on", self.berth("uninstall").stdout)
        suspended = {name: self.api.get(f"{jobs}/{name}")["spec"]["suspend"]
                     for name in ("paused", "users")}
        self.assertEqual(suspended, {"paused": False, "users": True})

    def test_projects_are_kept_on_request_and_found_by_the_next_install(self):
        self.berth("install")
        self.api.create(f"{KINDS}/projects", {
            "apiVersion": "berth.dev/v1alpha1", "kind": "Project", "metadata": {"name": "vision"},
            "spec": {"quota": 4}})
        self.berth("uninstall", "--keep-projects")
        self.assertNotIn("berth-system", self.names("/api/v1/namespaces"))
        self.assertEqual(self.names(f"{KINDS}/projects"), {"vision"})
        self.berth("install")
        self.assertEqual(self.api.get(f"{KINDS}/projects/vision")["spec"], {"quota": 4})

    def test_uninstall_where_nothing_is_or_half_of_it(self):
        self.empty()
        self.assertNotIn("gone", self.berth("uninstall").stdout)
        self.berth("install")
        self.api.delete(f"{RBAC}/clusterroles/berth-scheduler")
        self.api.delete(f"{CRDS}/policies.berth.dev")
        said = self.berth("uninstall").stdout
        self.assertIn("  none   ClusterRole berth-scheduler\n", said)
        self.assertEqual(self.ours(), {})

    # --- errors ------------------------------------------------------------------------------

    def test_who_may_not_is_told_what_before_anything_is_written(self):
        self.empty()
        self.plane.user("jemma")
        config = self.plane.path / "pki/jemma.kubeconfig"
        refused = self.berth("install", code=126, config=config)
        self.assertIn("nothing was written, as you may not write all of it:", refused.stderr)
        for words in ("CustomResourceDefinition projects.berth.dev: ", "Namespace berth-system: ",
                      "ClusterRole berth-scheduler: ", 'User "jemma" cannot patch resource'):
            self.assertIn(words, refused.stderr)
        self.assertEqual(self.ours(), {})
        self.berth("install")
        installed = self.ours()
        refused = self.berth("uninstall", "--delete-projects", code=126, config=config)
        self.assertIn('User "jemma" cannot delete resource', refused.stderr)
        self.assertEqual(self.ours(), installed)

    def test_a_server_that_is_not_there_and_files_that_are_not(self):
        config = (self.plane.path / "kubeconfig").read_text()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "config"
            path.write_text(config.replace(self.plane.server, "https://127.0.0.1:1"))
            refused = self.berth("install", "--timeout", "1s", code=125, config=path)
            self.assertIn("https://127.0.0.1:1 does not answer", refused.stderr)
            refused = self.berth("install", code=127, config=f"{folder}/none")
            self.assertIn(f"no kubeconfig at {folder}/none", refused.stderr)
        refused = self.berth("install", "--context", "elsewhere", code=127)
        self.assertIn('no "elsewhere" among the contexts', refused.stderr)
        refused = self.berth("uninstall", "--keep-projects", "--delete-projects", code=124)
        self.assertIn("one", refused.stderr)

    def test_an_older_server_is_told_apart_before_anything_is_written(self):
        asked = []

        class Older(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                answers = {"/version": {"gitVersion": "v1.35.4"},
                           "/apis/admissionregistration.k8s.io/v1": {"resources": [
                               {"name": "validatingadmissionpolicies"}]}}
                text = json.dumps(answers[self.path]).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        server = http.server.HTTPServer(("127.0.0.1", 0), Older)
        self.addCleanup(server.server_close)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        pki = self.plane.path / "pki"
        context.load_cert_chain(pki / "kube-apiserver.crt", pki / "kube-apiserver.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        config = (self.plane.path / "kubeconfig").read_text()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "config"
            path.write_text(config.replace(self.plane.server,
                                           f"https://127.0.0.1:{server.server_port}"))
            refused = self.berth("install", code=1, config=path)
        self.assertIn("wanted Kubernetes 1.36 or later, which has MutatingAdmissionPolicy v1; "
                      "found v1.35.4 without it", refused.stderr)
        self.assertEqual(asked, ["/version", "/apis/admissionregistration.k8s.io/v1"])

    def test_a_kubeconfig_whose_program_gives_a_token(self):
        account = self.plane.account("installer")
        self.api.create(f"{RBAC}/clusterrolebindings", {
            "metadata": {"name": "installer"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                        "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "name": "installer", "namespace": "default"}]})
        # The authorizer of an API server sees a role that is bound some time after the answer.
        eventually(lambda: account.send("GET", CRDS)[0] == 200, "the role holds")
        config = (self.plane.path / "pki/default-installer.kubeconfig").read_text()
        token = re.search("token: (.*)", config)
        credential = {"kind": "ExecCredential", "apiVersion": "client.authentication.k8s.io/v1",
                      "status": {"token": token[1]}}
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder) / "login"
            program.write_text(f"#!/bin/sh\necho '{json.dumps(credential)}'\n")
            os.chmod(program, 0o755)
            path = pathlib.Path(folder) / "config"
            path.write_text(config.replace(token[0], json.dumps({"exec": {
                "apiVersion": "client.authentication.k8s.io/v1", "command": "./login",
                "interactiveMode": "Never"}})[1:-1]))
            self.berth("install", config=path)
            self.assertIn("berth-system", self.names("/api/v1/namespaces"))
            program.write_text("#!/bin/sh\nexit 1\n")
            refused = self.berth("install", "--timeout", "1s", code=125, config=path)
            self.assertIn("which gives credentials, failed", refused.stderr)


if __name__ == "__main__":
    main()
