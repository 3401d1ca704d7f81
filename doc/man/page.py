# SPDX-License-Identifier: BSD-3-Clause
"""Writes the Markdown of a manual page, for pandoc."""
import re
import textwrap

_WIDTH = 66  # columns that are left in a terminal of 80
_SPECIAL = re.compile(r"([\\*_|<>\[\]#^~$])")
_THREADS = {
    "safe": "Safe: it may be called by any thread at any time, also on the same objects.",
    "exclusive": "Safe beside everything else, but no other thread may use the object that this call deletes or consumes.",
}


def _plain(text):
    return _SPECIAL.sub(r"\\\1", text)


def prose(text, own_name=""):
    """Escapes text; functions and constants become bold, `code` stays code."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(part if part.startswith("`") else _emphasise(part, own_name) for part in parts)


def _emphasise(text, own_name):
    def mark(match):
        name = _plain(match["name"])
        if match["call"]:
            return f"**{name}**()" if match["name"] == own_name else f"**{name}**(3)"
        return f"**{name}**"

    pieces = []
    position = 0
    for match in re.finditer(r"\b(?P<name>(?:RPMA|IBV)_[A-Z0-9_]*[A-Z0-9](?:_\*)?|(?:rpma_|ibv_)?\w+(?=\(\)))(?P<call>\(\))?", text):
        pieces += [_plain(text[position:match.start()]), mark(match)]
        position = match.end()
    return "".join(pieces) + _plain(text[position:])


def front_matter(title, section, version, date):
    return f"---\ntitle: {title}\nsection: {section}\nheader: librpma manual\nfooter: librpma {version}\ndate: {date}\n---\n\n"


def entries(pairs, own_name=""):
    return "".join(f"**{_plain(name)}**\n:   {prose(text, own_name)}\n\n" for name, text in pairs)


def _refers_to(function, definition):
    text = " ".join([function.prototype] + function.description + [text for _, text in function.params])
    if any(re.search(rf"\b{name}\b", text) for name in definition.names):
        return True
    prefixes = re.findall(r"\b(\w+_)\*", text)
    return any(name.startswith(prefix) for prefix in prefixes for name in definition.names)


def _wrap_declaration(code):
    """Breaks the parameter list of a function so that it fits a terminal."""
    head, _, params = " ".join(code.split()).partition("(")
    glued = re.sub(r"(?<!,) ", "\0", params)  # breaks are allowed behind commas only
    indent = len(head) + 1 if max(map(len, params.split(", "))) < _WIDTH - len(head) else 4
    lines = [line.replace("\0", " ") for line in textwrap.wrap(glued, _WIDTH - indent)]
    return head + "(" + ("\n" if indent == 4 else "") + " " * (indent if indent == 4 else 0) + ("\n" + " " * indent).join(lines)


def _synopsis(function, definitions):
    shown = [definition.code for definition in definitions if definition.code and _refers_to(function, definition)]
    shown = [_wrap_declaration(code) if code.startswith("typedef") else code for code in shown]
    code = "\n\n".join(["#include <librpma.h>"] + shown + [_wrap_declaration(function.prototype)])
    return f"# SYNOPSIS\n\n```c\n{code}\n```\n\n"


def _constants(function, definitions):
    used = [definition for definition in definitions if definition.members and _refers_to(function, definition)]
    if not used:
        return ""
    parts = [f"{prose(definition.title.rstrip('.'))}:\n\n{entries(definition.members)}" for definition in used]
    return "# CONSTANTS AND TYPES\n\n" + "".join(parts)


def _return_value(function):
    if function.returns:
        return f"# RETURN VALUE\n\n{prose(function.returns[0].upper() + function.returns[1:])}.\n\n"
    return f"# RETURN VALUE\n\n**{_plain(function.name)}**() returns 0 on success, or one of the negative codes below.\n\n"


def _description(function):
    """The brief, which is an infinitive, as the first sentence, then what the comment says."""
    task = re.sub(r"^tell (?=whether|which)", "find out ", re.sub(r"^give ", "get ", function.brief))
    first = f"Use **{_plain(function.name)}**() to {prose(task)}."
    rest = "".join("\n\n" + prose(paragraph, function.name) for paragraph in function.description)
    return f"# DESCRIPTION\n\n{first}{rest}\n\n"


def _errors(function):
    if not function.errors:
        return ""
    text = "# ERRORS\n\n" + entries(function.errors, function.name)
    if any(code == "RPMA_E_PROVIDER" for code, _ in function.errors):
        text += "After **RPMA\\_E\\_PROVIDER** errno is what rdma-core or the system reported.\n\n"
    return text


def function_page(function, definitions, front):
    name = _plain(function.name)
    params = "".join(f"*{_plain(param)}*\n:   {prose(text, function.name)}\n\n" for param, text in function.params)
    see = ", ".join(f"**{_plain(other)}**(3)" for other in function.see) + ", **librpma**(7)"
    return (front + f"# NAME\n\n{name} - {_plain(function.brief)}\n\n" + _synopsis(function, definitions) +
            "Compile and link with *pkg-config \\-\\-cflags \\-\\-libs librpma*.\n\n" + _description(function) +
            "# ARGUMENTS\n\n" + params + _constants(function, definitions) + _return_value(function) +
            _errors(function) + f"# THREAD SAFETY\n\n{_THREADS[function.threads]}\n\n# SEE ALSO\n\n{see}\n")


def function_list(functions):
    """The functions by family, as a Markdown text."""
    text = ""
    family = None
    for function in functions:
        if function.family != family:
            family = function.family
            text += f"## {family[0].upper()}{family[1:]}\n\n"
        text += f"**{_plain(function.name)}**(3)\n:   {_plain(function.brief)}\n\n"
    return text
