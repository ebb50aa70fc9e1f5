# SPDX-License-Identifier: Apache-2.0
"""What shells offer while a berth command line is being typed."""
import shutil
import subprocess
import tempfile

from server_case import BIN, PATIENCE, ServerCase, main

BERTH = str(BIN / "berth")


class Completion(ServerCase):
    def offered(self, *typed):
        text = self.server.berth("__complete", "--", *typed).stdout
        return [line.split("\t")[0] for line in text.splitlines()]

    def in_bash(self, line):
        script = f"""
            source <({BERTH} completion bash)
            berth() {{ {BERTH} "$@"; }}
            COMP_LINE="{line}"; COMP_POINT=${{#COMP_LINE}}
            COMP_WORDS=({line}{' ""' if line.endswith(' ') else ''})
            COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
            _berth; printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        result = subprocess.run(["bash", "-c", script], capture_output=True, text=True,
                                env=self.server.environment, timeout=PATIENCE)
        self.assertEqual(result.stderr, "")
        return result.stdout.split("\n")[:-1]

    def setUp(self):
        super().setUp()
        self.server.berth("project", "create", "vision", "--quota", "2")
        self.server.berth("submit", "-n", "llama-ft", "-p", "vision", "--", "sleep", "1000")

    def test_verbs_flags_and_choices(self):
        self.assertIn("submit", self.offered(""))
        self.assertNotIn("__complete", self.offered(""))
        self.assertEqual(self.offered("ev"), ["events"])
        self.assertEqual(sorted(self.offered("project", "")), ["create", "ls", "rm", "set", "use"])
        self.assertIn("--gpus", self.offered("run", "--"))
        self.assertEqual(self.offered("ls", "-o", "j"), ["json"])
        self.assertEqual(self.offered("ls", "--output=w"), ["--output=wide"])
        self.assertEqual(self.offered("completion", "z"), ["zsh"])
        self.assertEqual(self.offered("help", "stat"), ["status"])

    def test_what_the_server_knows(self):
        self.assertEqual(self.offered("why", ""), ["1", "llama-ft"])
        self.assertEqual(self.offered("cancel", "1", "ll"), ["llama-ft"])
        self.assertEqual(self.offered("run", "-p", "v"), ["vision"])
        self.assertEqual(self.offered("gpus", "--node", ""),
                         [self.server.get("nodes")["items"][0]["name"]])

    def test_files_and_commands_are_left_to_the_shell(self):
        self.assertEqual(self.offered("scenario", ""), [":files"])
        self.assertEqual(self.offered("run", "-g", "2", ""), [":command"])
        self.assertEqual(self.offered("submit", "--", "py"), [":command"])

    def test_without_a_server_there_is_no_noise(self):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run([BERTH, "__complete", "--", "why", ""], capture_output=True,
                                    text=True, env={"BERTH_DATA": folder}, timeout=PATIENCE)
            self.assertEqual((result.stdout, result.stderr, result.returncode), ("", "", 0))

    def test_bash(self):
        self.assertEqual(self.in_bash("berth ev"), ["events"])
        self.assertEqual(self.in_bash("berth why ll"), ["llama-ft"])
        self.assertEqual(self.in_bash("berth run -p v"), ["vision"])
        self.assertIn("/usr", self.in_bash("berth plan --state /us"))
        self.assertIn("python3", self.in_bash("berth run -g 2 python"))

    def test_the_other_scripts_are_legal(self):
        for shell in ("zsh", "fish"):
            script = self.server.berth("completion", shell).stdout
            self.assertIn("berth __complete", script)
            if shutil.which(shell):
                subprocess.run([shell, "-n", "/dev/stdin"], input=script, text=True, check=True)


if __name__ == "__main__":
    main()
