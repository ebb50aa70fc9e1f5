# SPDX-License-Identifier: Apache-2.0
"""The API is what its document says: GET openapi.json, asked all over by schemathesis."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from server_case import Refused, ServerCase, main

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# Without what the document does not say: wrong tokens are refused by a gate that soon says 429
# (door_test.py), and no schema says which descriptions the limits of the model refuse.
CHECKS = ",".join(("not_a_server_error", "status_code_conformance", "content_type_conformance",
                   "response_headers_conformance", "response_schema_conformance",
                   "negative_data_rejection", "unsupported_method", "allow_header_conformance"))
# Each long poll would take its minute; what is wrong may be older than what was read.
SETTINGS = """[parameters]
"query.wait" = 0
[checks]
negative_data_rejection.expected-statuses = [400, 401, 403, 404, 405, 409, 412, 413, 422]
"""
WITHOUT = ("/api/v1/shutdown", "/api/v1/stream")  # end the server, have no end


class Contract(ServerCase):
    # No command that was made up by dice is run.
    FLAGS = ("--gpus", "sim:2x4x80G", "--launcher", "simulated:100ms")

    def test_every_reference_of_the_document_is_in_it(self):
        text = json.dumps(self.server.get("openapi.json"))
        known = self.server.get("openapi.json")["components"]["schemas"]
        used = re.findall(r'"#/components/schemas/([^"]+)"', text)
        self.assertGreater(len(used), 100)
        self.assertEqual([name for name in used if name not in known], [])

    def test_what_is_misspelt_or_said_twice_is_refused(self):
        for query, said in (("jobs?sate=queued", 'did you mean "state"'),
                            ("policy?x=1", "takes none"),
                            ("jobs?limit=1&limit=2", "more than once"),
                            ("ledger?by=days", "wanted project"), ("ledger?to=", "wanted a date"),
                            ("jobs/1?foresee=yes", "wanted true or false")):
            with self.assertRaises(Refused) as refused:
                self.server.get(query)
            self.assertEqual(refused.exception.status, 400, query)
            self.assertIn(said, json.loads(refused.exception.body)["detail"])

    def test_schemathesis_finds_nothing(self):
        fetched = subprocess.run([ROOT / "tools/fetch-schemathesis"], text=True,
                                 capture_output=True)
        if fetched.returncode != 0:
            self.skipTest(fetched.stderr)
        port = self.server.get("status")["port"]
        token = (self.server.data / "token").read_text().strip()
        words = ["run", f"http://127.0.0.1:{port}/api/v1/openapi.json", "--seed", "1",
                 "--header", f"Authorization: Bearer {token}", "--checks", CHECKS,
                 "--phases", "coverage,fuzzing,stateful", "--max-examples", "30",
                 "--request-timeout", "60", "--continue-on-failure", "--warnings", "off",
                 "--no-color"]
        for path in WITHOUT:
            words += ["--exclude-path", path]
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "schemathesis.toml").write_text(SETTINGS)
            environment = {**os.environ, "PYTHONPATH": fetched.stdout.strip()}
            found = subprocess.run([sys.executable, "-m", "schemathesis.cli", *words],
                                   cwd=folder, env=environment, text=True, capture_output=True)
        self.assertEqual(found.returncode, 0, found.stdout[-20000:] + found.stderr[-5000:])
        tried = re.search(r"(\d+) generated", found.stdout)
        self.assertGreater(int(tried[1]), 1000, found.stdout[-3000:])


if __name__ == "__main__":
    main()
