# SPDX-License-Identifier: Apache-2.0
"""With which words does each process of a control plane start? It runs in the plane's folder."""
import json

ETCD_SOCKET = "etcd.sock"
# The leases of fake nodes are not renewed, so what watches those is left out.
CONTROLLERS = ("*,-node-lifecycle-controller,-node-ipam-controller,-node-route-controller,"
               "-service-lb-controller,-cloud-node-lifecycle-controller")


def etcd(programs):
    """Does not wait for the disk. What it advertises has to look like HOST:PORT and is not used:
    one member has no peers."""
    return [programs / "etcd", "--name=test", "--data-dir=etcd", "--log-level=warn",
            "--unsafe-no-fsync", "--quota-backend-bytes=8589934592",
            f"--listen-client-urls=unix://{ETCD_SOCKET}",
            f"--advertise-client-urls=unix://{ETCD_SOCKET}:1",
            "--listen-peer-urls=unix://etcd-peer.sock",
            "--initial-advertise-peer-urls=unix://etcd-peer.sock:1",
            "--initial-cluster=test=unix://etcd-peer.sock:1"]


def api_server(programs, port, flags):
    return [programs / "kube-apiserver", f"--etcd-servers=unix://{ETCD_SOCKET}",
            "--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", f"--secure-port={port}",
            "--cert-dir=pki", "--client-ca-file=pki/ca.crt",
            "--tls-cert-file=pki/kube-apiserver.crt",
            "--tls-private-key-file=pki/kube-apiserver.key",
            "--requestheader-client-ca-file=pki/ca.crt",
            "--requestheader-allowed-names=front-proxy",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            "--proxy-client-cert-file=pki/front-proxy.crt",
            "--proxy-client-key-file=pki/front-proxy.key",
            "--service-account-issuer=https://kubernetes.default.svc",
            "--service-account-key-file=pki/accounts.key",
            "--service-account-signing-key-file=pki/accounts.key",
            "--service-cluster-ip-range=10.96.0.0/16", "--authorization-mode=Node,RBAC",
            "--allow-privileged=true", "--endpoint-reconciler-type=none", "--profiling=false",
            "--disable-admission-plugins=TaintNodesByCondition", *flags]


def controller_manager(programs, requests_per_second):
    return [programs / "kube-controller-manager",
            "--kubeconfig=pki/kube-controller-manager.kubeconfig", "--secure-port=0",
            "--service-account-private-key-file=pki/accounts.key", "--root-ca-file=pki/ca.crt",
            "--use-service-account-credentials=true", "--leader-elect=false",
            f"--kube-api-qps={requests_per_second}", f"--kube-api-burst={2 * requests_per_second}",
            f"--controllers={CONTROLLERS}"]


def scheduler(programs, folder):
    """As fast as it can be: no limit of its own, and protobuf."""
    (folder / "scheduler.json").write_text(json.dumps({
        "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
        "leaderElection": {"leaderElect": False},
        "clientConnection": {"kubeconfig": "pki/kube-scheduler.kubeconfig", "qps": 10000,
                             "burst": 10000,
                             "contentType": "application/vnd.kubernetes.protobuf"}}))
    return [programs / "kube-scheduler", "--config=scheduler.json", "--secure-port=0"]
