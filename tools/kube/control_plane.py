# SPDX-License-Identifier: Apache-2.0
"""A real Kubernetes control plane on loopback: etcd, API server and controllers of its own.

    with ControlPlane() as plane:
        plane.api.get("/api/v1/nodes")

Client certificates, RBAC and admission are as on a cluster. What is not here: kubelets and
containers (the tool fakes them), networks, cloud. Only the API server has a port; etcd listens on
a socket in the folder.

The folder has, beside what folder.py and certificates.py say:
    kubeconfig     the administrator's; there once the control plane is ready
    server         address of the API server
    commands.json  what runs, so that it can be started again
    log/NAME.log   what each process says
"""
import contextlib
import json
import pathlib
import random
import re
import shutil
import socket
import subprocess
import threading
import time

import commands
import folder as folders
import processes
import programs
from api import Api
from certificates import Authority

# Seconds before what hangs is given up. Nothing depends on how fast the machine is otherwise.
PATIENCE = 120
PORTS = range(16384, 32768)  # below those that the system gives to outgoing connections
WRITES = re.compile(r'^apiserver_request_total\{(.*)\} (\S+)$', re.M)


class NotStarted(programs.Refusal):
    """Has the last words of the process that did not come up."""


class PortTaken(NotStarted):
    pass


class ControlPlane:
    """Without a folder it has one of its own, and ends with this process however that ends. With
    one it stays until any process calls stop()."""

    def __init__(self, folder=None, *, scheduler=False, controllers=True, api_flags=(),
                 controller_qps=200):
        self.named = folder and pathlib.Path(folder)
        self.parts = ["kube-controller-manager"] * controllers + ["kube-scheduler"] * scheduler
        self.api_flags = list(api_flags)
        self.controller_qps = controller_qps
        self.children = {}
        self.clients = []
        self.started_after = None  # seconds

    @staticmethod
    def left_in(path):
        """What another process started, ready or not: to stop it."""
        plane = ControlPlane(path)
        plane._use(folders.existing(pathlib.Path(path)))
        return plane

    @staticmethod
    def running_in(path):
        """One that another process started."""
        plane = ControlPlane.left_in(path)
        if not (plane.path / "kubeconfig").exists():
            raise folders.NotYours(f"the control plane in {plane.path} is not ready; where its "
                                   f"start was killed, ./dev kube stop {plane.path} removes it")
        plane.server = (plane.path / "server").read_text().strip()
        plane.api = plane.client("admin")
        return plane

    # --- life --------------------------------------------------------------------------------

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.programs = programs.find()
        if not self.named and threading.current_thread() is not threading.main_thread():
            raise RuntimeError("what a thread starts ends with it: start in the main thread")
        began = time.monotonic()
        self._use(folders.of_the_caller(self.named) if self.named else folders.of_our_own())
        try:
            (self.path / "log").mkdir()
            self.run("etcd", commands.etcd(self.programs))
            self._make_certificates()
            self.wait_for("etcd", (self.path / commands.ETCD_SOCKET).exists)
            self._start_api_server()
            self._start_parts()
            self.wait_until_ready()
            shutil.copy(self.path / "pki/admin.kubeconfig", self.path / "kubeconfig.new")
            (self.path / "kubeconfig.new").rename(self.path / "kubeconfig")
        except BaseException:
            self.stop()
            raise
        self.started_after = time.monotonic() - began
        if self.named:
            self.folder.release()
        return self

    def stop(self):
        """Ends what runs, and removes what start() made."""
        for client in self.clients:
            client.close()
        processes.end(self.path)
        for child in self.children.values():
            child.wait(PATIENCE)
        self.folder.remove()

    def _use(self, folder):
        self.folder = folder
        self.path = folder.path
        self.authority = Authority(self.path / "pki")

    def _make_certificates(self):
        self.authority.create()
        self.authority.create_account_key()
        self.authority.sign("admin", "admin", ["system:masters"])
        self.authority.sign("front-proxy", "front-proxy")
        self.authority.sign("kube-apiserver", "kube-apiserver", addresses=(
            "IP:127.0.0.1,IP:10.96.0.1,DNS:localhost,DNS:kubernetes.default.svc"))
        for part in self.parts:
            self.authority.sign(part, f"system:{part}")

    def _start_api_server(self):
        """Another process may take a port between our look and the server's: then on another."""
        for port in free_ports():
            self.server = f"https://127.0.0.1:{port}"
            self.api = self.client("admin")
            self.run("kube-apiserver", commands.api_server(self.programs, port, self.api_flags))
            try:
                self.wait_for("kube-apiserver", self.answers)
                break
            except PortTaken:
                continue
        (self.path / "server").write_text(self.server + "\n")
        for name in ["admin", *self.parts]:
            user = name if name == "admin" else f"system:{name}"
            self.authority.kubeconfig(self.server, name, user)

    def _start_parts(self):
        for part in self.parts:
            self.run(part, commands.scheduler(self.programs, self.path)
                     if part == "kube-scheduler" else
                     commands.controller_manager(self.programs, self.controller_qps))

    def answers(self):
        with contextlib.suppress(OSError):
            self.api.send("GET", "/livez")
            return True

    def is_ready(self):
        """All that it starts with is there, the account that pods get too."""
        with contextlib.suppress(OSError):
            if self.api.send("GET", "/readyz")[0] != 200:
                return False
            account = "/api/v1/namespaces/default/serviceaccounts/default"
            return not self.parts or self.api.send("GET", account)[0] == 200

    def wait_for(self, name, condition):
        """Until the condition holds, as long as the process lives."""
        deadline = time.monotonic() + PATIENCE
        while not condition():
            is_dead = not self._lives(name)
            if is_dead or time.monotonic() > deadline:
                said = (self.path / f"log/{name}.log").read_text(errors="replace")
                kind = PortTaken if "address already in use" in said else NotStarted
                raise kind(f"{name} {'ended' if is_dead else 'is not ready'}: {said[-1500:]}")
            time.sleep(0.05)

    def _lives(self, name):
        if name in self.children:
            return self.children[name].poll() is None
        return name in dict(processes.of(self.path))  # of another process

    def wait_until_ready(self):
        self.wait_for("kube-apiserver", self.is_ready)

    # --- its processes -----------------------------------------------------------------------

    def run(self, name, command):
        """Starts a process of the control plane: counted by cost(), ended by stop()."""
        known = {**self.commands(), name: list(map(str, command))}
        (self.path / "commands.json").write_text(json.dumps(known, indent=1))
        self.children[name] = processes.start(self.path, name, command,
                                              ends_with_us=not self.named)

    def kill(self, name):
        processes.end(self.path, name)
        if name in self.children:
            self.children.pop(name).wait()

    def end(self, name):
        """Asks one that we started to end, and waits until it has."""
        child = self.children.pop(name)
        child.terminate()
        child.wait(PATIENCE)

    def restart(self, name):
        """Again with the same words: on the same port, with the same data."""
        self.kill(name)
        self.children[name] = processes.start(
            self.path, name, self.commands()[name], ends_with_us=not self.named)

    def commands(self):
        """What was started, by name."""
        path = self.path / "commands.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def cost(self):
        """(seconds of processor time, megabytes at most) of each process that lives."""
        found = {name: processes.cost(process) for name, process in processes.of(self.path)}
        return {name: cost for name, cost in found.items() if cost}

    def tool(self, *words):
        """Runs a command of kubetool (nodes, pods, bind, wait ...) and answers with its output."""
        return run(programs.TOOL, self.path, *words)

    def run_kubelets(self, *words):
        """Fakes the kubelets of all nodes from now on."""
        self.run("kubelets", [programs.TOOL, self.path, "kubelet", *words])

    def kubectl(self, *words):
        return run(*self.kubectl_command(), *words)

    def kubectl_command(self):
        return [programs.find() / "kubectl", f"--kubeconfig={self.path}/kubeconfig",
                f"--cache-dir={self.path}/kubectl-cache"]

    def writes(self):
        """Requests that wrote since the API server started, by (verb, resource, class of answer):
        {("POST", "pods/binding", "2xx"): 3000}."""
        found = {}
        for labels, count in WRITES.findall(self.api.call("GET", "/metrics")):
            label = dict(re.findall(r'(\w+)="([^"]*)"', labels))
            if label["verb"] in ("POST", "PUT", "PATCH", "DELETE", "DELETECOLLECTION", "APPLY"):
                what = "/".join(filter(None, (label["resource"], label["subresource"])))
                key = (label["verb"], what, label["code"][0] + "xx")
                found[key] = found.get(key, 0) + int(float(count))
        return found

    # --- its users ---------------------------------------------------------------------------

    def client(self, name=None, token=None):
        """As the owner of a certificate, or of a token, or as anonymous."""
        client = Api(self.server, self.authority.folder, name, token)
        self.clients.append(client)
        return client

    def user(self, name, groups=()):
        """A client with a new certificate; its kubeconfig is pki/NAME.kubeconfig."""
        self.authority.sign(name, name, groups)
        self.authority.kubeconfig(self.server, name, name)
        return self.client(name)

    def account(self, name, namespace="default"):
        """A client with a token of a new ServiceAccount; its kubeconfig is
        pki/NAMESPACE-NAME.kubeconfig. It may nothing until a role is bound to it."""
        self.api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts",
                        {"metadata": {"name": name}})
        return self.client(token=self.token_of(name, namespace))

    def token_of(self, name, namespace):
        """Of a ServiceAccount that is there."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        token = self.api.create(path, {"spec": {"expirationSeconds": 86400}})["status"]["token"]
        self.authority.kubeconfig(self.server, f"{namespace}-{name}", name, token)
        return token

    def kubeconfig_of(self, name, namespace):
        """The path of one with a new token of that account."""
        self.token_of(name, namespace)
        return self.authority.folder / f"{namespace}-{name}.kubeconfig"


def free_ports():
    """Ports that nothing listens on, each at the time it is asked for."""
    for port in random.sample(PORTS, 100):
        try:
            socket.create_server(("127.0.0.1", port)).close()
        except OSError:
            continue
        yield port


def run(*words):
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise RuntimeError(f"{pathlib.Path(words[0]).name} ended with {done.returncode}: "
                           f"{done.stdout}{done.stderr}")
    return done.stdout
