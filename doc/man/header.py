# SPDX-License-Identifier: BSD-3-Clause
"""Reads librpma.h: functions, types and constants with their doc comments."""
import re
from dataclasses import dataclass, field


@dataclass
class Function:
    name: str
    prototype: str
    family: str
    brief: str = ""
    description: list = field(default_factory=list)  # paragraphs
    params: list = field(default_factory=list)  # (name, text)
    errors: list = field(default_factory=list)  # (code, text)
    returns: str = ""
    threads: str = ""
    see: list = field(default_factory=list)


@dataclass
class Definition:
    """A type or a group of constants: what a page shows of it is its text without comments."""
    title: str
    code: str
    members: list  # (name, text)
    names: set  # by which pages refer to it


_COMMENT = r"/\*\*(?!<)(?P<comment>(?:(?!\*/).)*)\*/\s*"
_MEMBER = re.compile(r"\b(\w+)\b[^\n]*?/\*\*<\s*(.*?)\s*\*/")
_FUNCTION = re.compile(_COMMENT + r"(?P<prototype>(?:int|const char\*) (?P<name>rpma_\w+)\([^;{]*\);)", re.S)
_TYPE = re.compile(_COMMENT + r"(?P<code>(?:enum|struct) (?P<name>\w+) \{.*?\n\};)", re.S)
_GROUP = re.compile(r"/\*\* @name (?P<title>[^@]*)@\{ \*/\n(?P<code>.*?)/\*\* @\} \*/", re.S)
_FAMILY = re.compile(r"/\* -{10,} ([^*]*) \*/")
_CALLBACK = re.compile(_COMMENT + r"(?P<code>typedef void (?P<name>\w+)\([^;]*\);)", re.S)


def _lines(comment):
    return [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().splitlines()]


def _join(lines):
    return " ".join(" ".join(lines).split())


def paragraphs(comment):
    text = "\n".join(_lines(comment))
    return [_join(part.splitlines()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def _split_tags(comment):
    """[(tag, text)], the tag of untagged text being ''."""
    parts = re.split(r"(?:^|\n)@(\w+)", "\n".join(_lines(comment)))
    return [("", parts[0])] + list(zip(parts[1::2], parts[2::2]))


def _add_tag(function, tag, text):
    # What follows a blank line behind @brief is the description.
    head, _, rest = text.partition("\n\n")
    value = _join(head.splitlines())
    if tag == "brief":
        function.brief = value
        function.description += paragraphs(rest)
    elif tag == "param":
        name, _, meaning = re.sub(r"^\[[a-z,]*\]\s*", "", value).partition(" ")
        function.params.append((name, meaning))
    elif tag == "error":
        code, _, cause = value.partition(": ")
        function.errors.append((code, cause))
    elif tag == "return":
        function.returns = value
    elif tag == "threads":
        function.threads = value
    elif tag == "see":
        function.see = [name.strip() for name in value.split(",")]
    elif tag:
        raise ValueError(f"{function.name}: unknown tag @{tag}")


def functions(text):
    families = [(match.end(), match.group(1)) for match in _FAMILY.finditer(text)]
    found = []
    for match in _FUNCTION.finditer(text):
        family = [name for end, name in families if end < match.start()][-1]
        function = Function(match["name"], match["prototype"], family)
        for tag, value in _split_tags(match["comment"]):
            _add_tag(function, tag, value)
        found.append(function)
    return found


def _without_comments(code):
    return re.sub(r"\s*/\*.*?\*/", "", code, flags=re.S).strip()


def definitions(text):
    found = []
    for match in list(_TYPE.finditer(text)) + list(_CALLBACK.finditer(text)):
        title = paragraphs(match["comment"])[0]
        members = _MEMBER.findall(match["code"])
        names = {match["name"]} | {name for name, _ in members if name.startswith("RPMA_")}
        found.append(Definition(title, _without_comments(match["code"]), members, names))
    for match in _GROUP.finditer(text):
        members = re.findall(r"#define (\w+)[^\n]*?/\*\*<\s*(.*?)\s*\*/", match["code"])
        found.append(Definition(match["title"].strip(), "", members, {name for name, _ in members}))
    return found


def conventions(text):
    """[(title, text)] of the comment at the top."""
    top = paragraphs(text[text.index("CONVENTIONS"):text.index("#ifndef")].split("*/")[0])
    entries = [re.match(r"([A-Z][\w ]*?)\. (.*)", paragraph) for paragraph in top[1:]]
    return [entry.groups() for entry in entries if entry and entry[1] != "Doc comments"]
