#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts what the design limits, and exits with 1 if a limit is exceeded.

    tools/code_metrics.py            the table of limits
    tools/code_metrics.py --list     also every count behind it
    tools/code_metrics.py --root D   of the sources below D instead of this checkout

The reader of C++ is a simple one: comments, strings and preprocessor lines are blanked,
then braces are matched. It knows the style of this project (clang-format), no more.
"""

import argparse
import pathlib
import re
import sys
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_PAIRS = 20
MOST_VIRTUAL = 6
MOST_MEMBERS = 15
MOST_LINES = 60
MOST_HEADERS = 40
LONG_TABLES = {"convoy/settings/settings_table.cpp"}


@dataclass
class Scope:
    """A pair of braces, and the text before it that says what it is."""

    head: str
    begin: int  # offset of the opening brace
    head_begin: int
    kind: str  # namespace, class, enum, function, other
    name: str = ""
    end: int = 0
    children: list["Scope"] = field(default_factory=list)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


PIECES = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
    re.S | re.M,
)


def code_of(path):
    """The text with comments, literals and preprocessor lines blanked, offsets kept."""
    return PIECES.sub(blank, path.read_text())


CLASS_HEAD = re.compile(
    r"\b(class|struct)\s+(?:\[\[\w+\]\]\s*)?([\w:]+)\s*(?:final\s*)?(?::[^:].*)?$",
    re.S,
)


def kind_of(head):
    """What a brace after this text opens, and its name."""
    head = re.sub(r"\balignas\([^)]*\)", "", head)
    if re.search(r"\bnamespace\b[\w\s:]*$", head) or re.search(r"\bextern\s*$", head):
        return "namespace", ""
    if re.search(r"\benum\b[^;(]*$", head):
        return "enum", ""
    found = CLASS_HEAD.search(head)
    if found and "(" not in head[found.start() :].split(":")[0]:
        return "class", found.group(2)
    function = re.search(
        r"([~\w:]+|operator\s*\S+)\s*\((?:[^{}]|\{[^{}]*\})*\)"
        r"(?:\s*(?:const\b|noexcept\b|override\b|final\b|mutable\b|&&?|->[\w:<>,&*\s]+|requires\b[^{]*"
        r"|:\s.*))*\s*$",
        head,
        re.S,
    )
    # The head of an initialiser list ends in a closing parenthesis or brace, too.
    if function and function.group(1) in ("if", "for", "while", "switch", "catch"):
        return "other", ""
    if function and not re.search(r"(=|\breturn|,)\s*$", head):
        return "function", function.group(1)
    return "other", ""


def scopes_of(code):
    """The tree of braces of a text."""
    root = Scope("", -1, 0, "namespace")
    open_scopes, begin = [root], 0
    depth = 0  # of parentheses: braces inside them belong to an expression
    for found in re.finditer(r"[{}();]", code):
        char, at = found.group(0), found.start()
        if char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
        elif char == "{":
            head = code[begin:at]
            kind, name = ("other", "") if depth > 0 else kind_of(head)
            scope = Scope(head, at, begin + len(head) - len(head.lstrip()), kind, name)
            open_scopes[-1].children.append(scope)
            open_scopes.append(scope)
            scope.depth_before, depth = depth, 0
            begin = at + 1
        elif char == "}":
            scope = open_scopes.pop()
            scope.end, depth = at, scope.depth_before
            is_expression = scope.kind == "other"
            begin = scope.head_begin if is_expression else at + 1
        elif depth == 0:
            begin = at + 1
    return root


def walk(scope):
    for child in scope.children:
        yield child
        yield from walk(child)


def line_of(code, offset):
    return code.count("\n", 0, offset) + 1


def own_text(code, scope):
    """A class's body without the insides of braces in it."""
    text, at = "", scope.begin + 1
    for child in scope.children:
        text += code[at : child.begin] + "{}"
        text += ";" if child.kind == "function" else ""
        at = child.end + 1
    return text + code[at : scope.end]


def declarations(text):
    """A class's declarations, one per entry, access labels removed."""
    text = re.sub(r"\b(public|protected|private)\s*:(?!:)", " ", text)
    return [" ".join(piece.split()) for piece in text.split(";") if piece.strip()]


def without_templates(text):
    previous = None
    while previous != text:
        previous, text = text, re.sub(r"<[^<>]*>", "", text)
    return text


NO_MEMBER = re.compile(r"^(using|friend|static|typedef|template|enum|class|struct|virtual)\b")


def is_method(text):
    plain = re.sub(r"\balignas\([^)]*\)", "", without_templates(text))
    plain = re.sub(r"\(\*(\w+)\)\s*\([^()]*\)", r"\1", plain)  # a pointer to a function
    plain = re.sub(r"\bstd::function\s*<.*>", "F", plain)
    return "(" in plain.split("{")[0].split("=")[0] or "operator" in plain


def members_in(text):
    """How many members a declaration declares: 'int a = 0, b;' has two."""
    text = re.sub(r"\(\*(\w+)\)\s*\([^()]*\)", r"\1", text)  # a pointer to a function
    text = re.sub(r"^(struct|class|enum)\b.*\{\}(?=\s*\w)", "T", text)  # 'struct {...} name'
    if NO_MEMBER.match(text) or is_method(text):
        return 0
    plain = re.sub(r"\{[^{}]*\}|\([^()]*\)|=[^,]*", "", without_templates(text))
    return plain.count(",") + 1 if re.search(r"\w[&*]*\s+[&*]*\w", plain) else 0


@dataclass
class ClassCount:
    name: str
    where: str
    members: int
    methods: int
    virtual: int


CONSTRUCTOR_WORDS = re.compile(r"\boperator\s*(==|<=>|!=)|= (default|delete)$")


def count_class(path, code, scope):
    parts = declarations(own_text(code, scope))
    methods = [p for p in parts if is_method(p) and not CONSTRUCTOR_WORDS.search(p)]
    methods = [p for p in methods if not re.match(r"^(friend|using)\b", p)]
    virtual = [p for p in parts if re.match(r"^virtual\b", p) and "~" not in p]
    return ClassCount(
        scope.name,
        f"{path.relative_to(ROOT)}:{line_of(code, scope.begin)}",
        sum(members_in(p) for p in parts),
        len(methods),
        len([p for p in virtual if not p.endswith("override")]),
    )


def sources():
    for folder in ("convoy", "apps"):
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                yield path


def count_pairs():
    """Header/source pairs per folder, sub-folders counted on their own."""
    stems = {}
    for path in sources():
        stems.setdefault(path.parent.relative_to(ROOT).as_posix(), set()).add(path.stem)
    return sorted(((len(names), folder) for folder, names in stems.items()), reverse=True)


def functions_in(path, code, root):
    for scope in walk(root):
        if scope.kind == "function":
            lines = line_of(code, scope.end) - line_of(code, scope.head_begin) + 1
            where = f"{path.relative_to(ROOT)}:{line_of(code, scope.head_begin)}"
            yield lines, where, scope.name


def headers_of(path, seen):
    """Own headers that a file pulls in, whichever way."""
    text = path.read_text() if path.exists() else ""
    for name in re.findall(r'^\s*#include "([^"]+)"', text, re.M):
        if name not in seen and (ROOT / name).exists():
            seen.add(name)
            headers_of(ROOT / name, seen)
    return seen


@dataclass
class Row:
    text: str
    found: int
    limit: int
    names: str

    def __str__(self):
        mark = "" if self.found <= self.limit else "   EXCEEDED"
        return f"{self.text:<44}{self.found:>5}  of at most {self.limit:>3}  {self.names}{mark}"


def name_of(rows, limit):
    """Those that exceed a limit, or else the largest; rows are (count, name)."""
    exceeding = [f"{name} {count}" for count, name in rows if count > limit]
    return ", ".join(exceeding) if exceeding else rows[0][1]


def row_of(text, rows, limit):
    rows = sorted(rows, key=lambda row: -row[0]) or [(0, "")]
    return Row(text, rows[0][0], limit, name_of(rows, limit))


def measure():
    """The rows of the table, and all counts behind them."""
    classes, functions = [], []
    for path in sources():
        code = code_of(path)
        root = scopes_of(code)
        classes += [count_class(path, code, s) for s in walk(root) if s.kind == "class"]
        functions += functions_in(path, code, root)
    pairs = count_pairs()
    virtual = sorted(classes, key=lambda c: -c.virtual)
    members = sorted((c for c in classes if c.methods > 0), key=lambda c: -c.members)
    functions.sort(reverse=True)
    long = [f for f in functions if f[0] > MOST_LINES and f[1].split(":")[0] not in LONG_TABLES]
    headers = sorted(headers_of(ROOT / "convoy/train/trainer.h", set()))
    rows = [
        row_of("header/source pairs of the largest folder", pairs, MOST_PAIRS),
        row_of(
            "virtual methods of the largest interface",
            [(c.virtual, c.name) for c in virtual],
            MOST_VIRTUAL,
        ),
        row_of(
            "members of the largest class with methods",
            [(c.members, c.name) for c in members],
            MOST_MEMBERS,
        ),
        Row(
            f"functions over {MOST_LINES} lines, settings table apart",
            len(long),
            0,
            ", ".join(f"{name} {lines}" for lines, _, name in long),
        ),
        Row("own headers that trainer.h pulls in", len(headers), MOST_HEADERS, ""),
    ]
    return rows, pairs, virtual, members, functions, headers


def print_counts(pairs, virtual, members, functions, headers):
    print("\npairs per folder:")
    print("  " + ", ".join(f"{folder} {count}" for count, folder in pairs))
    print("\nvirtual methods per interface:")
    for c in virtual:
        if c.virtual > 0:
            print(f"  {c.virtual:>3}  {c.name} ({c.where})")
    print("\nmembers of classes with methods:")
    for c in members[:20]:
        print(f"  {c.members:>3}  {c.name} ({c.where})")
    print(f"\nlongest of {len(functions)} functions:")
    for lines, where, name in functions[:20]:
        print(f"  {lines:>3}  {name} ({where})")
    print("\nheaders that trainer.h pulls in:")
    print("  " + ", ".join(headers))


def main():
    global ROOT
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--list", action="store_true", help="print every count")
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="the checkout")
    arguments = parser.parse_args()
    ROOT = arguments.root.resolve()
    rows, *counts = measure()
    for row in rows:
        print(row)
    if not arguments.list:
        print("pairs per folder: " + ", ".join(f"{f} {n}" for n, f in counts[0]))
    else:
        print_counts(*counts)
    return 1 if any(row.found > row.limit for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
