# SPDX-License-Identifier: BSD-3-Clause
"""For each known defect of upstream's librpma there is a test that it is not here, or a line in doc/differences.md.

upstream_defects.tsv says which; this makes sure that they are there. RPMA_SOURCE is the project's directory.
"""
import csv
import os
import unittest
from pathlib import Path

SOURCE = Path(os.environ["RPMA_SOURCE"])


def rows():
    with (SOURCE / "tests/doc/upstream_defects.tsv").open() as file:
        return list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]


class Defects(unittest.TestCase):
    def test_none_is_missing(self):
        self.assertEqual({int(row[0]) for row in rows()}, set(range(1, 51)))

    def test_what_is_named_is_there(self):
        for number, defect, file, what in rows():
            with self.subTest(number=number, defect=defect):
                # Line breaks do not count in prose.
                text = " ".join((SOURCE / file).read_text().split())
                self.assertIn(" ".join(what.split()), text)


if __name__ == "__main__":
    unittest.main()
