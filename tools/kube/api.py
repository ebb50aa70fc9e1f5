# SPDX-License-Identifier: Apache-2.0
"""How do tests talk to the API server? JSON over one connection, as one user."""
import contextlib
import http.client
import json
import socket
import ssl
import time
import urllib.parse

MERGE = "application/merge-patch+json"
IDLE_S = 60  # the server closes a connection idle for 90


class Refused(Exception):
    """The server answered, and not with success."""

    def __init__(self, method, path, status, answer):
        said = answer.get("message") if isinstance(answer, dict) else answer
        super().__init__(f"{method} {path}: HTTP {status}: {said}")
        self.status = status
        self.answer = answer


class Api:
    """`name` is of a certificate in `folder`; a token is used instead of one."""

    def __init__(self, server, folder, name=None, token=None, timeout=60):
        self.address = urllib.parse.urlsplit(server)
        self.timeout = timeout
        self.context = ssl.create_default_context(cafile=folder / "ca.crt")
        if name:
            self.context.load_cert_chain(folder / f"{name}.crt", folder / f"{name}.key")
        self.headers = {"Accept": "application/json", "User-Agent": "berth-tests"}
        if token:
            self.headers["Authorization"] = f"Bearer {token}"
        self.connection = None
        self.used = 0  # when it answered last, by time.monotonic()

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None

    def send(self, method, path, body=None, kind="application/json"):
        """Status and answer. Not sent again: a lost answer may have been to a write."""
        if time.monotonic() - self.used > IDLE_S:
            self.close()
        if self.connection is None:
            self.connection = http.client.HTTPSConnection(
                self.address.hostname, self.address.port, timeout=self.timeout,
                context=self.context)
        text = None if body is None else json.dumps(body)
        headers = self.headers if body is None else {**self.headers, "Content-Type": kind}
        try:
            self.connection.request(method, path, text, headers)
            response = self.connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        self.used = time.monotonic()
        if response.headers.get_content_type() == "application/json":
            return response.status, json.loads(raw)
        return response.status, raw.decode(errors="replace")

    def call(self, method, path, body=None, kind="application/json"):
        status, answer = self.send(method, path, body, kind)
        if status >= 300:
            raise Refused(method, path, status, answer)
        return answer

    def lines(self, path):
        """The whole lines of an answer that goes on, until it ends or this hangs up: a watch."""
        self.close()
        address = (self.address.hostname, self.address.port)
        self.connection = http.client.HTTPSConnection(*address, timeout=None,
                                                      context=self.context)
        with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
            self.connection.request("GET", path, headers=self.headers)
            for line in self.connection.getresponse():
                if line.endswith(b"\n"):
                    yield line

    def hang_up(self):
        """Ends what another thread reads. TLS is left to it: without, it would read ciphers."""
        with contextlib.suppress(OSError, AttributeError, TypeError):  # none is there
            socket.socket.shutdown(self.connection.sock, socket.SHUT_RDWR)

    def get(self, path):
        return self.call("GET", path)

    def create(self, path, body):
        return self.call("POST", path, body)

    def patch(self, path, body, kind=MERGE):
        return self.call("PATCH", path, body, kind)

    def delete(self, path, body=None):
        return self.call("DELETE", path, body)
