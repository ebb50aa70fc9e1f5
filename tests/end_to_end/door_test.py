# SPDX-License-Identifier: Apache-2.0
"""Who comes in at the server's sockets, how many at once, and what the others get."""
import json
import os
import pathlib
import resource
import selectors
import socket
import subprocess

from server_case import BIN, Refused, ServerCase, UnixConnection, eventually, main

OWN_MAX = 1000
KEPT_MAX = 16
UNKNOWN_MAX = 64
MIB = 1024 * 1024


def answer_on(client):
    """All that comes until the other end closes: status and text."""
    text = b""
    while piece := client.recv(65536):
        text += piece
    return int(text.split(b" ", 2)[1]) if text else None, text.decode()


class TheDoor(ServerCase):
    def setUp(self):
        super().setUp()
        most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 8192), most))
        self.port = int((self.server.data / "port").read_text())
        self.token = (self.server.data / "token").read_text().strip()

    def tcp(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.addCleanup(client.close)
        return client

    def unix(self):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(60)
        client.connect(str(self.server.data / "berth.sock"))
        self.addCleanup(client.close)
        return client

    def ask(self, *headers, token=None, host="localhost", path="status"):
        """One request over TCP: status and answer."""
        client = self.tcp()
        lines = [f"GET /api/v1/{path} HTTP/1.1", f"Host: {host}", "Connection: close", *headers]
        if token:
            lines.append(f"Authorization: Bearer {token}")
        client.sendall("\r\n".join([*lines, "", ""]).encode())
        return answer_on(client)

    def memory(self, field):
        status = pathlib.Path(f"/proc/{self.server.pid}/status").read_text()
        return int(status.split(field + ":")[1].split()[0]) * 1024

    def open_sockets(self):
        count = 0
        for entry in pathlib.Path(f"/proc/{self.server.pid}/fd").iterdir():
            try:
                count += os.readlink(entry).startswith("socket:")
            except FileNotFoundError:  # closed meanwhile
                pass
        return count

    def test_a_thousand_idle_connections_on_tcp_do_not_shut_the_owner_out(self):
        answers = {}
        with selectors.DefaultSelector() as selector:
            for _ in range(1000):
                client = self.tcp()
                client.sendall(b"G")
                client.setblocking(False)
                selector.register(client, selectors.EVENT_READ)
            for round in range(20):
                self.assertEqual(self.server.berth("ls").returncode, 0)
                for key, _ in selector.select(0):
                    selector.unregister(key.fileobj)
                    key.fileobj.setblocking(True)
                    answers[key.fileobj] = answer_on(key.fileobj)
                for key in list(selector.get_map().values()):
                    key.fileobj.send(b"E")
            waiting = len(selector.get_map())
        # Each connection that had to go got the reason.
        self.assertLessEqual(waiting, UNKNOWN_MAX)
        self.assertEqual({status for status, _ in answers.values()}, {503}
                         | ({408} & {status for status, _ in answers.values()}))
        refused = next(text for status, text in answers.values() if status == 503)
        self.assertIn("Retry-After: 1", refused)
        self.assertIn("64 connections", refused)
        self.assertEqual(self.ask(token=self.token)[0], 200)

    def test_bodies_of_strangers_are_never_kept(self):
        self.ask()
        before = self.memory("VmHWM")
        body = b"x" * MIB
        header = (f"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\n"
                  f"Content-Length: {MIB}\r\n\r\n").encode()
        statuses = set()
        for _ in range(300):
            client = self.tcp()
            try:
                client.sendall(header)
                client.sendall(body)
            except (BrokenPipeError, ConnectionResetError):
                pass
            try:
                statuses.add(answer_on(client)[0])
            except ConnectionResetError:
                pass
        clients = [self.tcp() for _ in range(300)]
        for client in clients:
            client.setblocking(False)
            try:
                client.send(header)
                while client.send(body):
                    pass
            except (BlockingIOError, BrokenPipeError, ConnectionResetError):
                pass
        self.assertEqual(self.server.get("status")["pid"], self.server.pid)
        self.assertLessEqual(self.memory("VmHWM") - before, 10 * MIB)
        self.assertLessEqual(statuses, {401, 429, 503})

    def test_a_header_that_never_ends_is_answered_and_closed(self):
        client = self.tcp()
        client.sendall(b"GET /api/v1/status HTTP/1.1\r\nHost: local")
        silent = self.tcp()
        for each in (client, silent):
            status, text = answer_on(each)
            self.assertEqual(status, 408)
            self.assertIn("within 5 s", text)

    def test_only_this_machines_names_and_no_page_of_another_site(self):
        for host in ("localhost", f"127.0.0.1:{self.port}", f"[::1]:{self.port}"):
            self.assertEqual(self.ask(host=host, token=self.token)[0], 200, host)
        for host in ("evil.example", f"evil.example:{self.port}", "127.0.0.1.evil.example"):
            self.assertEqual(self.ask(host=host, token=self.token)[0], 421, host)
        own = f"Origin: http://localhost:{self.port}"
        self.assertEqual(self.ask(own, host=f"localhost:{self.port}", token=self.token)[0], 200)
        self.assertEqual(self.ask("Origin: http://evil.example", token=self.token)[0], 403)
        self.assertEqual(self.ask("Origin: null", token=self.token)[0], 403)

    def test_wrong_tokens_are_slowed_down_and_the_right_one_is_not(self):
        statuses = [self.ask(token="bth_" + "0" * 48)[0] for _ in range(12)]
        self.assertEqual(statuses, [401] * 10 + [429] * 2)
        self.assertIn("Retry-After:", self.ask(token="wrong")[1])
        self.assertEqual(self.ask(token=self.token)[0], 200)

    def test_one_too_many_is_told_so_and_the_command_line_tries_again(self):
        crowd = [self.unix() for _ in range(OWN_MAX + KEPT_MAX)]
        status, text = answer_on(self.unix())
        self.assertEqual(status, 503)
        self.assertIn("Retry-After: 1", text)
        self.assertIn(f"{OWN_MAX} connections here", text)
        failed = self.server.berth("status", check=False)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn(f"{OWN_MAX} connections here", failed.stderr)
        failed = self.server.berth("submit", "--", "true", check=False)
        self.assertIn(f"{OWN_MAX} connections here", failed.stderr)
        self.assertNotIn("not known", failed.stderr)
        # TCP has a budget of its own.
        self.assertEqual(self.ask(token=self.token)[0], 200)
        environment = dict(self.server.environment)
        waiting = subprocess.Popen([BIN / "berth", "status"], env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for client in crowd:
            client.close()
        output, errors = waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 0, errors)

    def test_beside_a_thousand_streams_short_requests_get_in(self):
        job = self.shell("sleep 600")
        poll = b"GET /api/v1/events?after=999999&wait=60 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        for _ in range(OWN_MAX):
            self.unix().sendall(poll)
        streams = [self.unix() for _ in range(KEPT_MAX - 1)]
        for client in streams:
            client.sendall(poll)
        for client in streams:
            # A kept place is not one to wait in.
            self.assertEqual(client.recv(1), b"")
        for words in (["submit", "--", "true"], ["cancel", str(job)], ["status"], ["down"]):
            self.server.berth(*words)

    def test_clients_that_do_not_take_their_answers_do_not_fill_the_memory(self):
        job = self.server.submit(["sh", "-c", "head -c 1048576 /dev/zero"])["id"]
        self.server.wait(job)
        asked = f"GET /api/v1/jobs/{job}/log HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
        for count in range(60):
            self.unix().sendall(asked * 256)
            # Heard in its turn, behind what was asked before.
            self.assertEqual(len(self.server.get(f"jobs/{job}/log")), MIB)
            self.assertLess(self.memory("VmRSS"), 160 * MIB, f"after {count + 1} clients")

    def test_a_long_poll_ends_when_its_client_has_gone(self):
        job = self.shell("sleep 600")
        ask = f"GET /api/v1/jobs/{job}?wait=60&until=final HTTP/1.1\r\nHost: localhost\r\n"
        for last in ("\r\n", "Connection: close\r\n\r\n"):
            clients = [self.unix() for _ in range(50)]
            for client in clients:
                client.sendall((ask + last).encode())
            eventually(lambda: self.open_sockets() > 50)
            for client in clients:
                client.close()
            # Long before their minute is over.
            eventually(lambda: self.open_sockets() < 50, seconds=30)

    def test_a_client_that_has_said_all_still_hears_what_it_waits_for(self):
        job = self.shell("sleep 600")
        client = self.unix()
        ask = f"GET /api/v1/jobs/{job}?wait=60&until=final HTTP/1.1\r\nHost: localhost\r\n\r\n"
        client.sendall(ask.encode())
        client.shutdown(socket.SHUT_WR)
        self.server.request("POST", f"jobs/{job}/cancel", {"grace": 0})
        status, text = answer_on(client)
        self.assertEqual(status, 200)
        self.assertIn('"cancelled"', text)


if __name__ == "__main__":
    main()
