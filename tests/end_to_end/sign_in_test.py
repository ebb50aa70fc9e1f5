# SPDX-License-Identifier: Apache-2.0
"""Who signs in from a browser: by a link that opens once, with a token of its own."""
import http.client
import json
import re
import subprocess

from server_case import BIN, ServerCase, main

LINK = re.compile(r"http://localhost:(\d+)/#code=([0-9a-f]{48})\n")


class SigningIn(ServerCase):
    def setUp(self):
        super().setUp()
        self.port = int((self.server.data / "port").read_text())

    def ask(self, method, path, body=None, token=None, **headers):
        """Over TCP, as a browser: status and answer."""
        client = http.client.HTTPConnection("localhost", self.port, timeout=60)
        self.addCleanup(client.close)
        if token:
            headers["Authorization"] = f"Bearer {token}"
        client.request(method, path, json.dumps(body) if body else None, headers)
        answer = client.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None

    def code(self, *flags):
        shown = self.server.berth("web", *flags).stdout
        port, code = LINK.search(shown).groups()
        self.assertEqual(int(port), self.port)
        return code

    def sign_in(self, *flags):
        status, session = self.ask("POST", "/api/v1/session", {"code": self.code(*flags)})
        self.assertEqual(status, 200, session)
        return session

    def test_a_link_signs_in_once(self):
        code = self.code()
        status, session = self.ask("POST", "/api/v1/session", {"code": code})
        self.assertEqual(status, 200)
        self.assertEqual(session["rights"],
                         ["see", "read", "submit", "steer", "cluster", "server"])
        self.assertEqual(self.ask("GET", "/api/v1/status", token=session["token"])[0], 200)
        me = self.ask("GET", "/api/v1/me", token=session["token"])[1]
        self.assertEqual((me["user"], me["ends"]), (session["user"], session["ends"]))
        status, problem = self.ask("POST", "/api/v1/session", {"code": code})
        self.assertEqual((status, problem["hint"]), (401, "berth web"))
        self.assertEqual(self.ask("POST", "/api/v1/session", {"code": "0" * 48})[0], 401)
        self.assertEqual(self.ask("POST", "/api/v1/session", {})[0], 400)

    def test_who_may_only_look_changes_nothing_and_invites_to_no_more(self):
        job = self.shell("sleep 1000")
        token = self.sign_in("--look-only")["token"]
        self.assertEqual(self.ask("GET", f"/api/v1/jobs/{job}", token=token)[0], 200)
        self.assertEqual(self.ask("GET", f"/api/v1/jobs/{job}/log", token=token)[0], 200)
        for method, path in (("POST", f"jobs/{job}/pause"), ("POST", "jobs"), ("PUT", "policy"),
                             ("PUT", "projects/p"), ("DELETE", "projects/p"),
                             ("POST", "shutdown"), ("POST", "links"),
                             ("GET", f"jobs/{job}/attach")):
            self.assertEqual(self.ask(method, "/api/v1/" + path, {}, token)[0], 403, path)
        self.assertEqual(self.ask("POST", "/api/v1/links", token=token)[0], 403)

    def test_who_asks_over_tcp_opens_the_link_there(self):
        known = (self.server.data / "token").read_text().strip()
        environment = dict(self.server.environment, BERTH_TOKEN=known,
                           BERTH_URL=f"http://127.0.0.1:{self.port}")
        shown = subprocess.run([BIN / "berth", "web", "-q"], env=environment, text=True,
                               capture_output=True, check=True).stdout
        self.assertTrue(shown.startswith(f"http://127.0.0.1:{self.port}/#code="), shown)

    def test_a_wish_that_is_misspelt_gives_no_link(self):
        known = (self.server.data / "token").read_text().strip()
        for wish in ({"look-only": True}, {"look_only": "yes"}, [1], 1):
            self.assertEqual(self.ask("POST", "/api/v1/links", wish, known)[0], 400, wish)

    def test_a_session_outlives_the_server_and_ends_when_it_is_asked_to(self):
        token = self.sign_in()["token"]
        self.server.berth("down")
        self.server.up()
        self.port = int((self.server.data / "port").read_text())
        self.assertEqual(self.ask("GET", "/api/v1/me", token=token)[0], 200)
        self.assertEqual(self.ask("DELETE", "/api/v1/session", token=token)[0], 200)
        self.assertEqual(self.ask("GET", "/api/v1/me", token=token)[0], 401)
        self.assertEqual((self.server.data / "sessions").read_text(), "")
        known = (self.server.data / "token").read_text().strip()
        self.assertEqual(self.ask("DELETE", "/api/v1/session", token=known)[0], 409)

    def test_without_a_token_there_are_pages_and_a_way_in_and_nothing_else(self):
        for path in ("/api/v1/jobs", "/%61pi/v1/jobs", "/api/v1/me", "/api/v1/session"):
            self.assertEqual(self.ask("GET", path)[0], 401, path)
        self.assertEqual(self.ask("POST", "/api/v1/links")[0], 401)
        self.assertEqual(self.ask("DELETE", "/api/v1/session")[0], 401)
        self.assertNotIn(self.ask("GET", "//api/v1/jobs")[0], (401, 500))
        self.assertEqual(self.ask("POST", "/api/v1/session", {"code": "x" * 5000})[0], 413)

    def test_a_page_of_another_site_neither_signs_in_nor_uses_a_session(self):
        code = {"code": self.code()}
        for origin in ("http://evil.example", f"http://localhost:{self.port + 1}", "null"):
            self.assertEqual(self.ask("POST", "/api/v1/session", code, Origin=origin)[0], 403)
        self.assertEqual(self.ask("POST", "/api/v1/session", code, Host="evil.example")[0], 421)
        own = f"http://localhost:{self.port}"
        status, session = self.ask("POST", "/api/v1/session", code, Origin=own)
        self.assertEqual(status, 200)
        self.assertEqual(self.ask("GET", "/api/v1/me", token=session["token"],
                                  Origin="http://evil.example")[0], 403)


if __name__ == "__main__":
    main()
