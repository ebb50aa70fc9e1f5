# SPDX-License-Identifier: Apache-2.0
"""The dashboard as it is built: twice the same bytes, small, and free of what its content policy
forbids."""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

WEB = pathlib.Path(__file__).resolve().parents[2] / "web"
NODE = sys.argv.pop()

# Scripts and styles, gzipped: of the first load, and of all pages.
FIRST_LOAD_MAX = 90_000
ALL_MAX = 250_000


def built(target):
    """Builds; answers the packed file's bytes."""
    subprocess.run([NODE, "build.js", target], cwd=WEB, check=True)
    return target.read_bytes()


def unpacked(packed):
    """{name: (type, kept, plain, size of it gzipped)} of a packed file."""
    head, _, rest = packed.partition(b"\n")
    rows = []
    for _ in range(int(head)):
        line, _, rest = rest.partition(b"\n")
        rows.append(line.decode().split("\t"))
    found = {}
    for name, kind, _, kept, plain, gzipped in rows:
        found[name] = (kind, kept, rest[:int(plain)], int(gzipped))
        rest = rest[int(plain) + int(gzipped):]
    return found


class Build(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = cls.enterClassContext(tempfile.TemporaryDirectory())
        cls.packed = [built(pathlib.Path(folder, name)) for name in ("one", "two")]
        cls.files = unpacked(cls.packed[0])

    def test_two_builds_are_the_same_bytes(self):
        self.assertEqual(*self.packed)

    def first_load(self):
        """What the index links, and what that imports before it runs."""
        linked = re.findall(r'"\./(assets/[^"]+)"', self.files["index.html"][2].decode())
        found = set()
        while linked:
            name = linked.pop()
            if name in found:
                continue
            found.add(name)
            text = self.files[name][2].decode()
            if name.endswith(".js"):
                linked += [f"assets/{one}" for one in
                           re.findall(r'(?:from|import)"\./([^"]+\.js)"', text)]
        return found

    def test_the_first_load_is_small_and_all_pages_are(self):
        sizes = {name: gzipped for name, (_, kept, _, gzipped) in self.files.items()
                 if kept == "hashed"}
        first = self.first_load()
        self.assertGreaterEqual(len(first), 2)
        self.assertLess(len(first), len(sizes), "no page comes later")
        self.assertLess(sum(sizes[name] for name in first), FIRST_LOAD_MAX, (first, sizes))
        self.assertLess(sum(sizes.values()), ALL_MAX, sizes)
        print(f"first load {sum(sizes[name] for name in first)} bytes, all {sum(sizes.values())}")

    def test_the_index_holds_no_script_no_style_and_relative_links_alone(self):
        page = self.files["index.html"][2].decode()
        self.assertNotRegex(page, r"<style|\sstyle=|\son[a-z]+=")
        self.assertNotRegex(page, r"<script[^>]*>[^<]")
        links = re.findall(r'(?:src|href)="([^"]*)"', page)
        self.assertTrue(links)
        for link in links:
            self.assertTrue(link.startswith("./"), link)

    def test_without_scripts_the_page_names_the_command_line(self):
        page = self.files["index.html"][2].decode()
        self.assertRegex(page, r"(?s)<noscript>.*berth why JOB.*</noscript>")

    def test_the_licences_of_others_in_it_are_with_it(self):
        self.assertRegex(self.files["licences.txt"][2].decode(), r"(?m)^svelte \d")

    def test_nothing_is_loaded_from_elsewhere(self):
        for name, (_, _, plain, _) in self.files.items():
            text = plain.decode()
            if name.endswith((".css", ".html")):
                self.assertNotRegex(text, r"https?://|data:", name)
            self.assertNotIn("sourceMappingURL", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
