#!/usr/bin/env python3
"""A name in an unnamed namespace is used by one .cc file of its folder only, and by none of the folder's headers.

The .cc files of a folder are compiled several at a time as one unit (UNITY_BUILD), where two helpers of one name are an
error or, worse, overloads of each other; one that bears the name of a declared function takes its place in the files
after it. It is also what a reader expects: a name means one thing in a folder. Test sources are a group of their own.
Relies on clang-format: what stands at file scope begins in column 0.
"""
import collections
import pathlib
import re
import sys

TYPE = re.compile(r"(?:struct|class|enum class|enum|union|concept)\s+(\w+)(?![^{]*;$)|using (\w+) =")
OBJECT = re.compile(r"(?:static |inline )*const(?:expr|init)?\b.*?\b(k[A-Z]\w*)\b(?:\[[^\]]*\])?\s*(?:=|\{|;|$)")
FUNCTION = re.compile(r"(?:[\w:<>,&*\s\[\]\"()]+?[\s&*>])?(\w+)\(")
NO_NAMES = {"TEST", "TEST_F", "TEST_P", "RC_GTEST_PROP", "INSTANTIATE_TEST_SUITE_P", "BENCHMARK", "BENCHMARK_CAPTURE",
            "PrintTo", "static_assert", "template"}


def file_scope_names(text: str) -> tuple[set[str], set[tuple[str, str]]]:
    """Names that only this file sees, and (namespace, name) of all others."""
    hidden, shown = set(), set()
    namespaces = []
    for line in text.splitlines():
        if opened := re.match(r"namespace ?([\w:]*) ?\{$", line):
            namespaces.append(opened[1])
        elif line.startswith("}  // namespace") and namespaces:
            namespaces.pop()
        elif line and (line[0].isalpha() or line[0] == "["):
            found = TYPE.match(line) or OBJECT.match(line) or FUNCTION.match(line)
            name = next((group for group in found.groups() if group), "") if found else ""
            if not name or name in NO_NAMES:
                continue
            if "" in namespaces or line.startswith("static "):
                hidden.add(name)
            else:
                shown.add(("::".join(namespaces), name))
    return hidden, shown


def repeated(root: pathlib.Path) -> list[str]:
    users = collections.defaultdict(list)  # (room, is a test, name) -> files that hide it
    declared = collections.defaultdict(list)  # (room, namespace, name) -> headers
    asked = []
    for folder in ("src", "tests", "bench"):
        for path in sorted((root / folder).rglob("*.[ch]*")):
            name = path.relative_to(root)
            room = "/".join(name.parts[:2] if folder == "src" else name.parts[:1])
            text = path.read_text()
            hidden, shown = file_scope_names(text)
            if path.suffix == ".h":
                for namespace, found in shown:
                    declared[room, namespace, found].append(name)
                continue
            space = re.search(r"^namespace ([\w:]+) \{$", text, re.M)
            for found in sorted(hidden):
                users[room, path.name.endswith("_test.cc"), found].append(name)
                asked.append((room, space[1] if space else "", found, name))
    bad = [f"{name} is defined in {', '.join(map(str, files))}"
           for (_, _, name), files in sorted(users.items()) if len(files) > 1]
    return bad + [f"{name} of {file} is declared in {', '.join(map(str, declared[room, space, name]))}"
                  for room, space, name, file in asked if declared.get((room, space, name))]


if __name__ == "__main__":
    bad = repeated(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print("\n".join(bad) or "names ok: every helper's name means one thing in its folder")
    sys.exit(bool(bad))
