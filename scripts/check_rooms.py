#!/usr/bin/env python3
"""What src/app and src/front may not contain: they connect, and decide nothing.

front speaks a protocol: it makes its options of app's tables, prints answers and writes the files they ask for. It names
no folder below explain, holds no quantity, and writes files in one place.
app turns words into requests, calls the folders below and gives back values: it prints nothing, writes no file, knows no
exit code, no style and no spelling of a parameter. A text that names a parameter says ‹name›, of a use case's table, and
«name» a use case: below app too. Tests may do all of it.
"""
import pathlib
import re
import sys

BELOW = ("http|llm|timeline|profile|metrics|diagnose|describe|measured|workload|cost|schedule|machine|step|search|emit|kb|capture|verify|"
         "validate|calibrate|agents")
WRITES = (r"\b(write_file|write_pieces|create_director\w+|rename|remove_all|permissions)\(|\bofstream\b|"
          r"\bfopen\([^;]*\"[wa]")
UNIT = r"(?<![\w.])[0-9][0-9.']*_[A-Za-z]\w*"

# folder -> (what a line of code may not match, why, files that may)
RULES = {
    "front": [
        (rf"\b({BELOW})::".replace("http|", ""), "front names nothing below explain", set()),
        (r"\b(double|float|Seconds|Bytes|BytesPerSecond|Flops)\b", "front holds no quantity", set()),
        (UNIT, "front holds no quantity", set()),
        (WRITES, "only artifacts.cc writes files", {"front/cli/artifacts.cc"}),
    ],
    "app": [
        (r'"(?:[^"\\]|\\.)*(?<![\w-])--[a-z]', "a parameter is named ‹name›; fronts spell it", set()),
        (WRITES, "files come back as artifacts", set()),
        (r"\b(kExit\w*|exit_code|_exit|std::exit|abort)\b", "exit codes are the front's", set()),
        (r"\bexplain::(Style|Format)\b|\bisatty\b", "style is the front's", {"app/answered.h"}),
        (r"\b(printf|fputs|fwrite|std::cout|std::cerr|stdout|stderr|std::signal)\b", "app prints nothing", set()),
        (r"\"sextant [a-z_]+\b", "a use case is named «name»; fronts spell it", set()),
    ],
}
# Below app: a parameter or a use case as it is typed. Not in emit, whose flags are the frameworks' own, and not where a
# file or a page says what made it, or another program's line is given.
TYPED = r'"(?:[^"\\]|\\.)*(?:(?<![\w-])--({names})(?![\w-])|\bsextant ({names})\b)'
QUOTE_LINES = {"calibrate/comm_file.cc", "calibrate/kernel_calibration.cc", "calibrate/run_calibration.cc",
               "calibrate/spread_fit.cc", "cost/calibrate/kernel_fit.cc", "describe/layout/rule_book_page.cc",
               "describe/step_spread.cc", "explain/calibration_view.cc", "explain/change_section.cc",
               "explain/validation_view.cc", "profile/profile_kind.cc"}
# What keeps a state of its own between runs, rather than answering; and what puts up the file system of a sandbox, which
# is gone with it.
STATE = {"kb/database.cc", "capture/sandbox_mounts.cc"}
NAME = re.compile(r"‹([^›‹ ]*)[^›‹]*›")
# ‹{}›: the name is put in where it is made.
TABLE_NAME = re.compile(r'(?:\.name = |name = |k\w+ = |dialect_parameter\(|SettingKey\{)"([a-z-]+)"')


def code_of(line: str) -> str:
    """The line without its comment."""
    if line.lstrip().startswith("//"):
        return ""
    return re.sub(r'("(?:[^"\\]|\\.)*")|//.*', lambda m: m[1] or "", line)


def sources(root: pathlib.Path, folder: str):
    for path in sorted((root / "src" / folder).rglob("*.[hc]*")):
        if "test" not in path.stem.split("_"):
            if "testing" not in path.stem.split("_"):
                yield path, path.relative_to(root / "src").as_posix(), path.read_text().splitlines()


def main() -> int:
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    bad = []
    for folder, rules in RULES.items():
        for _, name, lines in sources(root, folder):
            for number, line in enumerate(lines, 1):
                code = code_of(line)
                for pattern, why, allowed in rules:
                    if name not in allowed and re.search(pattern, code):
                        bad.append(f"src/{name}:{number}: {why}: {line.strip()}")
    known = {found for _, _, lines in sources(root, "app") for line in lines for found in TABLE_NAME.findall(line)}
    typed = re.compile(TYPED.format(names="|".join(sorted(known))))
    for folder in ["app", "explain", *BELOW.split("|")]:
        for _, name, lines in sources(root, folder):
            for number, line in enumerate(lines, 1):
                if folder != "app" and name not in STATE and re.search(WRITES, code_of(line)):
                    bad.append(f"src/{name}:{number}: the front writes files: {line.strip()}")
                if folder not in ("app", "emit") and name not in QUOTE_LINES and typed.search(code_of(line)):
                    bad.append(f"src/{name}:{number}: below app it is ‹name› or «name»: {line.strip()}")
                for found in NAME.findall(code_of(line)):
                    if found != "{}" and found not in known:
                        bad.append(f"src/{name}:{number}: ‹{found}› is no parameter of a use case")
    print("\n".join(bad) or "rooms ok: app and front hold what they may")
    return bool(bad)


sys.exit(main())
