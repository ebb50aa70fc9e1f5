# SPDX-License-Identifier: Apache-2.0
"""Who is who in a control plane: its own authority, and certificates and kubeconfigs that it signs.

All lie in one folder, as NAME.crt, NAME.key and NAME.kubeconfig, and hold for 30 days.
"""
import base64
import subprocess

DAYS = 30
# Enough for openssl not to ask, and nothing of what the system's own file would add.
CONFIGURATION = "[req]\ndistinguished_name = name\n[name]\n"

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters:
- name: test
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: {user}
  user:
{credentials}
contexts:
- name: test
  context: {{cluster: test, user: "{user}"}}
current-context: test
"""


class Authority:
    def __init__(self, folder):
        self.folder = folder

    def create(self):
        self.folder.mkdir(mode=0o700)
        (self.folder / "openssl.cnf").write_text(CONFIGURATION)
        self._request("ca", "/CN=berth-test-ca", "basicConstraints=critical,CA:TRUE",
                      "keyUsage=critical,keyCertSign,digitalSignature")

    def create_account_key(self):
        """What tokens of ServiceAccounts are signed with."""
        run("openssl", "ecparam", "-genkey", "-name", "prime256v1", "-noout", "-out",
            self.folder / "accounts.key")

    def sign(self, name, user, groups=(), addresses=""):
        """A certificate for both ends of a connection."""
        extensions = ["keyUsage=critical,digitalSignature",
                      "extendedKeyUsage=clientAuth,serverAuth"]
        if addresses:
            extensions.append(f"subjectAltName={addresses}")
        self._request(name, "".join(f"/O={group}" for group in groups) + f"/CN={user}",
                      *extensions, authority="ca")

    def kubeconfig(self, server, name, user, token=None):
        """The file with which a client is `user`: by NAME.crt, or by a token."""
        if token:
            credentials = f"    token: {token}"
        else:
            credentials = (f"    client-certificate-data: {self._encoded(f'{name}.crt')}\n"
                           f"    client-key-data: {self._encoded(f'{name}.key')}")
        path = self.folder / f"{name}.kubeconfig"
        path.touch(mode=0o600)
        path.write_text(KUBECONFIG.format(server=server, user=user, credentials=credentials,
                                          authority=self._encoded("ca.crt")))
        return path

    def _request(self, name, subject, *extensions, authority=None):
        run("openssl", "req", "-x509", "-config", self.folder / "openssl.cnf",
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-sha256",
            "-days", DAYS, "-subj", subject, "-keyout", self.folder / f"{name}.key",
            "-out", self.folder / f"{name}.crt",
            *(["-CA", self.folder / f"{authority}.crt", "-CAkey", self.folder / f"{authority}.key"]
              if authority else []),
            *(word for extension in extensions for word in ("-addext", extension)))

    def _encoded(self, name):
        return base64.b64encode((self.folder / name).read_bytes()).decode()


def run(*words):
    done = subprocess.run(list(map(str, words)), stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise OSError(f"{' '.join(map(str, words[:2]))}: {done.stderr.strip()}")
