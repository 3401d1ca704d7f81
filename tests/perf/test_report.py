# SPDX-License-Identifier: BSD-3-Clause
"""The report in a browser: it opens without a network, and its charts hold the numbers of the JSON.

RPMA_PERF is the program. Without Chromium the test is skipped (77).
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PERF = os.environ["RPMA_PERF"]
CHROMIUM = shutil.which("chromium")
SIZES, DEPTHS = [64, 4096], [1, 4]
MEASURING = ["--op", "flush,pingpong", "--size", "64,4K", "--queue-depth", "1,4", "--duration", "0.05", "--warm-up", "0.01",
             "--repeat", "2"]

# Runs behind the page's own script: what is in the charts, and whether anything was drawn.
PROBE = """
<pre id="probe"></pre>
<script>
const probed = [...document.querySelectorAll("canvas")].map((canvas) => {
    const chart = Chart.getChart(canvas);
    const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    const colours = new Set();
    for (let i = 0; i < pixels.length; i += 4) {
        if (pixels[i + 3] === 255) {
            colours.add((pixels[i] << 16) + (pixels[i + 1] << 8) + pixels[i + 2]);
        }
    }
    return {id: canvas.id, colours: colours.size, legend: chart.legend.legendItems.map((item) => item.text),
        axes: Object.values(chart.options.scales).map((scale) => scale.title.text), text: chart.options.color,
        datasets: chart.data.datasets.map((one) => ({label: one.label, colour: one.borderColor, data: one.data}))};
});
document.getElementById("probe").textContent = JSON.stringify({charts: probed,
    background: getComputedStyle(document.body).backgroundColor,
    tables: [...document.querySelectorAll("table")].map((table) => [...table.rows].map((row) => [...row.cells].map((cell) => cell.textContent)))});
</script>
"""


def browse(page, directory, *options):
    """The page's content after its scripts have run. Nothing outside of the directory can be reached."""
    command = [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
               "--disable-extensions", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
               f"--user-data-dir={directory}/profile", "--virtual-time-budget=5000", "--dump-dom", *options, f"file://{page}"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def probe(page, directory, *options):
    probed = directory / "probed.html"
    probed.write_text(page.read_text().replace("</body>", PROBE + "</body>"))
    content = re.search(r'<pre id="probe">(.*?)</pre>', browse(probed, directory, *options), re.S).group(1)
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        content = content.replace(entity, character)
    return json.loads(content)


def luminance(colour):
    """Of #rrggbb or rgb(r, g, b), as WCAG defines it."""
    digits = re.findall(r"[0-9a-f]{2}", colour[1:]) if colour.startswith("#") else None
    channels = [int(digit, 16) for digit in digits] if digits else [int(number) for number in re.findall(r"\d+", colour)[:3]]
    linear = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.directory = Path(cls.scratch.name)
        cls.page = cls.directory / "page.html"
        json_file = cls.directory / "first <b>&.json"
        subprocess.run([PERF, "local", *MEASURING, "--json", json_file, "--report", cls.page], check=True, timeout=120,
                       stdout=subprocess.DEVNULL)
        cls.results = json.loads(json_file.read_text())["results"]
        cls.probed = probe(cls.page, cls.directory)
        cls.charts = {chart["id"]: chart for chart in cls.probed["charts"]}
        cls.both = cls.directory / "both.html"
        subprocess.run([PERF, "report", json_file, json_file, "-o", cls.both], check=True, timeout=60)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def figures(self, op, api, value, **case):
        return [value(result) for result in self.results
                if result["case"]["op"] == op and result["case"]["api"] == api and all(result["case"][k] == v for k, v in case.items())]

    def line(self, chart, label):
        data = next(one["data"] for one in self.charts[chart]["datasets"] if one["label"] == label)
        return [point["x"] for point in data], [point["y"] for point in data]

    def assert_close(self, found, expected):
        self.assertEqual(len(found), len(expected))
        for one, other in zip(found, expected):
            self.assertTrue(math.isclose(one, other, rel_tol=1e-9), (found, expected))

    def sections(self):
        return enumerate(["flush", "pingpong"])

    def test_every_section_has_its_charts_and_they_are_drawn(self):
        expected = {f"{name}-{i}" for i in range(2) for name in ("latency", "bandwidth", "depth", "distribution", "tail")}
        self.assertEqual(set(self.charts), expected)
        for chart in self.charts.values():
            with self.subTest(chart=chart["id"]):
                self.assertGreater(chart["colours"], 10)
                self.assertTrue(all(re.search(r"µs|MB/s|%|size|operations in flight", title) for title in chart["axes"]))
                self.assertEqual(chart["legend"], [one["label"] for one in chart["datasets"]])

    def test_latency_by_size(self):
        for number, op in self.sections():
            for api in ("rpma", "verbs", "tcp"):
                for key, name in (("p50", "50 %"), ("p99", "99 %"), ("p99.9", "99.9 %")):
                    sizes, latencies = self.line(f"latency-{number}", f"{api} {name}")
                    self.assertEqual(sizes, SIZES)
                    self.assert_close(latencies, self.figures(op, api, lambda r: r["latency_ns"][key] / 1000, queue_depth=1))

    def test_bandwidth_by_size_and_by_queue_depth(self):
        for number, op in self.sections():
            for api in ("rpma", "verbs", "tcp"):
                sizes, by_size = self.line(f"bandwidth-{number}", api)
                self.assertEqual(sizes, SIZES)
                self.assert_close(by_size, self.figures(op, api, lambda r: r["bytes_per_s"] / 1e6, queue_depth=4))
                depths, by_depth = self.line(f"depth-{number}", api)
                self.assertEqual(depths, DEPTHS)
                self.assert_close(by_depth, self.figures(op, api, lambda r: r["bytes_per_s"] / 1e6, size=4096))

    def test_distributions_hold_every_operation(self):
        for number, op in self.sections():
            for api in ("rpma", "verbs", "tcp"):
                histogram, = self.figures(op, api, lambda r: r["histogram_ns"], size=4096, queue_depth=1)
                total = sum(count for _, count in histogram)
                self.assert_close([sum(self.line(f"distribution-{number}", api)[1])], [100])
                latencies, slower = self.line(f"tail-{number}", api)
                self.assert_close(latencies, [value / 1000 for value, _ in histogram[:-1]])
                self.assert_close([slower[0]], [(total - histogram[0][1]) / total * 100])
                self.assert_close([slower[-1]], [histogram[-1][1] / total * 100])

    def test_every_figure_is_in_the_table(self):
        self.assertEqual(len(self.probed["tables"][-1]), 1 + len(self.results))

    def test_light_and_dark_are_legible(self):
        backgrounds = set()
        for scheme in ("0", "1"):  # dark, light
            probed = probe(self.page, self.directory, f"--blink-settings=preferredColorScheme={scheme}")
            backgrounds.add(probed["background"])
            for chart in probed["charts"]:
                self.assertGreater(contrast(chart["text"], probed["background"]), 7)
                for one in chart["datasets"]:
                    self.assertGreater(contrast(one["colour"], probed["background"]), 3)
        self.assertEqual(len(backgrounds), 2)

    def test_it_prints_on_paper(self):
        paper = self.directory / "page.pdf"
        browse(self.page, self.directory, f"--print-to-pdf={paper}")
        self.assertTrue(paper.read_bytes().startswith(b"%PDF"))
        self.assertGreater(paper.stat().st_size, 20000)

    def test_several_files_are_side_by_side(self):
        probed = probe(self.both, self.directory)
        charts = {chart["id"]: chart for chart in probed["charts"]}
        self.assertEqual(len(charts["bandwidth-0"]["datasets"]), 6)
        comparison = next(table for table in probed["tables"] if table[0][0] == "case")
        self.assertTrue(all(row[3:] == ["1", "1"] for row in comparison[1:]), comparison)

    def test_nothing_is_fetched(self):
        text = re.sub(r"<script>\n/\*!.*?</script>", "", self.page.read_text(), flags=re.S)
        self.assertEqual(re.findall(r"""(?:src|href)=["'][^"']+|url\([^)]+\)|@import""", text), [])


if __name__ == "__main__":
    if CHROMIUM is None:
        print("skipped: chromium is not installed (apt install chromium)")
        sys.exit(77)
    unittest.main()
