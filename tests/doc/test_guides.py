# SPDX-License-Identifier: BSD-3-Clause
"""The guides: links lead somewhere, quoted messages are those of the code, commands and programs exist.

RPMA_SOURCE is the project's directory.
"""
import os
import re
import unittest
from pathlib import Path

SOURCE = Path(os.environ["RPMA_SOURCE"])
GUIDES = sorted([*SOURCE.glob("*.md"), *SOURCE.glob("doc/*.md"), *SOURCE.glob("examples/*.md"), *SOURCE.glob("tests/**/*.md")])
HEADER = (SOURCE / "src/include/librpma.h").read_text()


def literals():
    """All string literals of the library, those that follow each other glued together."""
    text = "\n".join(path.read_text() for path in SOURCE.glob("src/*.cpp"))
    return re.sub(r'"\s*\n\s*"', "", text)


def without_code(text):
    return re.sub(r"```.*?```", "", text, flags=re.S)


class Guides(unittest.TestCase):
    def test_every_link_leads_to_a_file(self):
        count = 0
        for guide in GUIDES:
            for target in re.findall(r"\]\(([^)#\s]+)", without_code(guide.read_text())):
                if not target.startswith("http"):
                    count += 1
                    with self.subTest(guide=guide.name, target=target):
                        self.assertTrue((guide.parent / target).exists())
        self.assertGreater(count, 20)

    def test_every_guide_can_be_found_from_the_index(self):
        linked = set(re.findall(r"\]\((\w[\w-]*\.md)\)", (SOURCE / "doc/README.md").read_text()))
        self.assertEqual({path.name for path in SOURCE.glob("doc/*.md")} - linked - {"README.md"}, set())

    def test_messages_in_troubleshooting_are_those_of_the_library(self):
        code = literals()
        quoted = re.findall(r"^> (.*)$", (SOURCE / "doc/troubleshooting.md").read_text(), re.M)
        self.assertGreater(len(quoted), 10)
        for message in quoted:
            with self.subTest(message=message):
                self.assertTrue(message in code, "no such message")

    def test_functions_and_constants_in_the_guides_exist(self):
        known = set(re.findall(r"\b(?:rpma_\w+|RPMA_\w+)\b", HEADER))
        for guide in [*SOURCE.glob("doc/*.md"), *SOURCE.glob("examples/*.md")]:
            for name in re.findall(r"\b(rpma_\w+(?=\()|rpma_\w+(?=`)|RPMA_(?:E|MR|F|FLUSH|CONN|LOG|UTIL)_\w*\w)", guide.read_text()):
                with self.subTest(guide=guide.name, name=name):
                    self.assertTrue(any(other.startswith(name) for other in known))

    def test_the_course_lists_every_pair(self):
        listed = set(re.findall(r"^\| [\d ]*\| `([\w-]+)`", (SOURCE / "examples/README.md").read_text(), re.M))
        folders = {path.parent.name.lstrip("0123456789-") for path in SOURCE.glob("examples/*/server.c")}
        self.assertEqual(listed, folders)

    def test_examples_are_short(self):
        for path in SOURCE.glob("examples/*/*.[ch]"):
            limit = 200 if path.parent.name == "replicate" else 150
            with self.subTest(path=path):
                self.assertLessEqual(len(path.read_text().splitlines()), limit)


if __name__ == "__main__":
    unittest.main()
