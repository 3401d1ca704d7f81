# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages: complete, in step with the header and the programs, and readable by man.

RPMA_SOURCE is the project's directory, RPMA_VERSION its version, RPMA_FABRIC the launcher and RPMA_PERF
rpma-perf (for the tests of the classes Launcher and Perf).
"""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["RPMA_SOURCE"])
MAN = SOURCE / "doc/man"
HEADER = (SOURCE / "src/include/librpma.h").read_text()
PAGES = sorted(MAN.glob("man[1-9]/*.[1-9]"))


def exported():
    return set(re.findall(r"^\s+(rpma_\w+);", (SOURCE / "src/librpma.map").read_text(), re.M))


def rendered(page):
    # bold is made by overstriking; only the words are compared
    shown = subprocess.run(["mandoc", "-T", "ascii", page], capture_output=True, check=True).stdout
    return subprocess.run(["col", "-b"], input=shown, capture_output=True, check=True).stdout.decode()


def squeezed(text):
    """Without white space, so that line breaks do not count."""
    return "".join(text.split())


def section(page, title):
    match = re.search(rf"^{title}\n(.*?)(?=^\S)", rendered(page), re.M | re.S)
    return match.group(1) if match else ""


def declarations():
    """{function: (doc comment, parameters)}"""
    found = re.findall(r"/\*\*((?:(?!\*/).)*)\*/\s*(?:int|const char\*) (rpma_\w+)\(([^;]*)\);", HEADER, re.S)
    return {name: (re.sub(r"\n \*", "\n", comment), parameters) for comment, name, parameters in found}


def documented_errors(comment):
    return re.findall(r"^ @error (RPMA_E_\w+): ((?:(?!^ @).)*)", comment, re.M | re.S)


class Functions(unittest.TestCase):
    def test_one_page_for_each_exported_function_and_no_other(self):
        self.assertEqual({page.stem for page in MAN.glob("man3/*.3")}, exported())
        self.assertEqual(set(declarations()), exported())
        self.assertEqual(len(exported()), 84)

    def test_every_documented_error_and_its_cause_is_on_the_page(self):
        count = 0
        for function, (comment, _) in declarations().items():
            errors = squeezed(section(MAN / f"man3/{function}.3", "ERRORS"))
            for code, cause in documented_errors(comment):
                count += 1
                with self.subTest(function=function, code=code):
                    self.assertIn(squeezed(code + re.sub(r"(\w\()\)", r"\g<1>3)", cause)), errors)
        self.assertEqual(count, HEADER.count("\n * @error "))

    def test_a_page_names_no_error_that_the_header_does_not_document(self):
        for function, (comment, _) in declarations().items():
            named = re.findall(r"^ +(RPMA_E_\w+)$", section(MAN / f"man3/{function}.3", "ERRORS"), re.M)
            with self.subTest(function=function):
                self.assertEqual(named, [code for code, _ in documented_errors(comment)])

    def test_every_parameter_is_explained(self):
        for function, (_, parameters) in declarations().items():
            arguments = section(MAN / f"man3/{function}.3", "ARGUMENTS")
            for parameter in re.findall(r"(\w+)(?:\[\d+\])?(?:,|$)", parameters):
                with self.subTest(function=function, parameter=parameter):
                    self.assertRegex(arguments, rf"(?m)^ {{1,9}}{parameter}\b")

    def test_librpma_7_lists_every_function_and_error_code(self):
        text = rendered(MAN / "man7/librpma.7")
        for name in exported() | set(re.findall(r"#define (RPMA_E_\w+)", HEADER)):
            with self.subTest(name=name):
                self.assertIn(name, text)


class Readable(unittest.TestCase):
    def test_mandoc_has_no_complaints(self):
        result = subprocess.run(["mandoc", "-T", "lint", *PAGES], capture_output=True, text=True)
        self.assertEqual(result.stdout + result.stderr, "")

    def test_groff_has_no_warnings(self):
        for page in PAGES:
            result = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-z", page], capture_output=True, text=True)
            with self.subTest(page=page.name):
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_what_a_page_refers_to_exists(self):
        ours = {(page.stem, page.suffix[1:]) for page in PAGES}
        for page in PAGES:
            for name, section in re.findall(r"\b(rpma[\w-]*|librpma[\w-]*)\((\d)\)", rendered(page)):
                with self.subTest(page=page.name):
                    self.assertIn((name, section), ours)


class InStep(unittest.TestCase):
    def test_pages_say_what_the_header_and_the_texts_say(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([MAN / "make-pages", os.environ["RPMA_VERSION"], directory], check=True)
            made = {page.name: rendered(page) for page in Path(directory).glob("man*/*")}
        kept = {page.name: rendered(page) for page in PAGES}
        self.assertEqual(set(kept), set(made))
        for name, text in made.items():
            self.assertEqual(kept[name], text, f"{name} is not up to date: cmake --build BUILD --target man")


class Launcher(unittest.TestCase):
    def test_every_option_is_explained(self):
        text = rendered(MAN / "man1/rpma-fabric.1")
        for command in ["run"], ["info"], []:
            shown = subprocess.run([os.environ["RPMA_FABRIC"], *command, "--help"], capture_output=True, text=True, check=True)
            options = re.findall(r"^\s+(?:-\w,)?(--[\w-]+)", shown.stdout, re.M)
            self.assertTrue(options)
            for option in options:
                with self.subTest(command=command, option=option):
                    self.assertIn(option, text)

    def test_every_variable_is_explained(self):
        sources = [*SOURCE.glob("fabric/*.cpp"), *SOURCE.glob("fabric/**/*.cpp")]
        variables = {name for source in sources for name in re.findall(r'getenv\("(RPMA_\w+)"\)', source.read_text())}
        self.assertIn("RPMA_FABRIC_TRACE", variables)
        text = rendered(MAN / "man7/librpma-fabric.7")
        for variable in sorted(variables):
            with self.subTest(variable=variable):
                self.assertRegex(text, rf"(?m)^ +{variable}$")


class Perf(unittest.TestCase):
    def test_every_option_is_explained(self):
        text = rendered(MAN / "man1/rpma-perf.1")
        for command in ["local"], ["server"], ["run"], ["compare"], ["report"], []:
            shown = subprocess.run([os.environ["RPMA_PERF"], *command, "--help"], capture_output=True, text=True, check=True)
            options = re.findall(r"^\s+(?:-\w,)?(--[\w-]+)", shown.stdout, re.M)
            self.assertTrue(options)
            for option in options:
                with self.subTest(command=command, option=option):
                    self.assertIn(option, text)

    def test_every_name_of_an_operation_is_explained(self):
        text = rendered(MAN / "man1/rpma-perf.1")
        for name in re.findall(r'{Op::\w+, "(\w+)"}', (SOURCE / "benchmarks/rpma-perf/case.cpp").read_text()):
            with self.subTest(operation=name):
                self.assertRegex(text, rf"(?m)^ {{7}}{name}(\s|$)")


if __name__ == "__main__":
    unittest.main()
