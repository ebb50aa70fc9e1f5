# SPDX-License-Identifier: Apache-2.0
"""What monitoring and probes read of a server."""
import http.client
import json
import pathlib
import re
import subprocess

from server_case import ServerCase, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
SAMPLE = re.compile(r'([a-z_]+)(?:\{([a-z]+)="((?:[^"\\]|\\.)*)"\})? (-?[0-9.]+)')


def read(text):
    """Samples by metric, then by the text of the label; each metric must be described before."""
    found = {}
    described = set()
    for line in text.splitlines():
        if line.startswith("# "):
            described.add(line.split()[2])
            continue
        name, _, of, value = SAMPLE.fullmatch(line).groups()
        assert name in described, line
        assert of not in found.setdefault(name, {}), line
        found[name][of] = float(value)
    return found


class Monitoring(ServerCase):
    def page(self, path, token=True):
        port = int((self.server.data / "port").read_text())
        client = http.client.HTTPConnection("localhost", port, timeout=60)
        self.addCleanup(client.close)
        known = (self.server.data / "token").read_text().strip()
        client.request("GET", path, headers={"Authorization": f"Bearer {known}"} if token else {})
        answer = client.getresponse()
        return answer.status, answer.read().decode()

    def test_the_numbers_are_those_of_the_server_and_add_up(self):
        self.server.berth("project", "create", 'a"b', "--quota", "2")
        self.server.wait(self.shell("sleep 1000", gpus=2, project='a"b'), "running")
        status, text = self.page("/metrics")
        self.assertEqual(status, 200)
        found = read(text)
        total = self.server.request("GET", "status")["gpus"]["total"]
        self.assertEqual(sum(found["berth_gpus"].values()), total)
        self.assertEqual(found["berth_gpus"]["used"] + found["berth_gpus"]["starting"], 2)
        self.assertEqual(found["berth_jobs"]["running"] + found["berth_jobs"]["starting"], 1)
        self.assertEqual(found["berth_project_used_gpus"][r'a\"b'], 2)
        self.assertEqual(found["berth_project_quota_gpus"][r'a\"b'], 2)
        self.assertGreater(found["berth_storage_free_bytes"][None], 0)

    def promtool(self, *words, text=None):
        fetched = subprocess.run([ROOT / "tools/fetch-promtool"], text=True, capture_output=True)
        if fetched.returncode != 0:
            self.skipTest(fetched.stderr.strip())
        found = subprocess.run([f"{fetched.stdout.strip()}/promtool", *words], input=text,
                               text=True, capture_output=True, cwd=ROOT)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)
        return found.stdout + found.stderr

    def test_promtool_finds_nothing_wrong(self):
        self.assertEqual(self.promtool("check", "metrics", text=self.page("/metrics")[1]), "")
        self.promtool("check", "rules", "monitoring/alerts.yaml")
        self.promtool("test", "rules", "monitoring/alerts_test.yaml")

    def test_rules_and_the_dashboard_read_what_is_there(self):
        there = set(read(self.page("/metrics")[1])) | {"berth"}  # the last one is the job's name
        for name in ("alerts.yaml", "grafana.json"):
            text = (ROOT / "monitoring" / name).read_text()
            asked = set(re.findall(r"\bberth(?:_[a-z_]+)?\b", text))
            self.assertEqual(asked - there, set(), name)
        panels = json.loads((ROOT / "monitoring/grafana.json").read_text())["panels"]
        self.assertTrue(all(panel["targets"] for panel in panels))

    def test_probes_need_no_token_and_numbers_do(self):
        self.assertEqual(self.page("/healthz", token=False), (200, "ok\n"))
        self.assertEqual(self.page("/readyz", token=False)[0], 200)
        self.assertEqual(self.page("/metrics", token=False)[0], 401)


if __name__ == "__main__":
    main()
