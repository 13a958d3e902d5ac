#!/usr/bin/env python3
"""Tries `sextant mcp` with the official conformance tool and with a client of each era of the protocol.

  tests/mcp/run.py PROGRAM FIXTURE WORK

PROGRAM is sextant, FIXTURE the server that offers what the conformance tool calls by name (fixture_server.cc), WORK a
folder for what npm installs; it is kept, so that only a changed lock file installs anew. Exit code 77: npm cannot be
had here, and nothing was tried.
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
REVISIONS = ("2026-07-28", "2025-11-25")
SKIPPED = 77
MOST_NOT_APPLICABLE = 0.25


def installed(work: pathlib.Path) -> pathlib.Path | None:
    """The Node that npm installed, with the packages beside it; None where npm is not there or gets nothing."""
    npm = shutil.which("npm")
    if npm is None:
        print("skipped: there is no npm")
        return None
    work.mkdir(parents=True, exist_ok=True)
    lock = (HERE / "package-lock.json").read_bytes()
    done = work / "installed-lock.json"
    if not done.exists() or done.read_bytes() != lock:
        for name in ("package.json", "package-lock.json"):
            shutil.copy(HERE / name, work / name)
        got = subprocess.run([npm, "ci", "--no-audit", "--no-fund", "--ignore-scripts"], cwd=work, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if got.returncode:
            print(f"skipped: npm got no packages:\n{got.stdout[-1500:]}")
            return None
        done.write_bytes(lock)
    return next(iter(sorted((work / "node_modules").glob("node-linux-*/bin/node"))), None)


class Fixture:
    """The fixture server; it ends with its input."""

    def __init__(self, program: str):
        self.process = subprocess.Popen([program], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        if self.process.wait(timeout=30) != 0:
            raise RuntimeError("the fixture server did not end well")


def required(tool: pathlib.Path, revision: str) -> set[str]:
    """The scenarios that the revision asks of a server, as the tool froze them."""
    text = (tool / "requirements" / f"{revision}.yaml").read_text()
    section = re.search(r"^server:\n((?:  - [\w-]+\n)+)", text, re.M)
    return set(re.findall(r"- ([\w-]+)", section[1]))


def conforms(node: pathlib.Path, work: pathlib.Path, url: str, revision: str) -> tuple[bool, set[str]]:
    """Does the server pass the revision's set, apart from what does not apply? And the set."""
    tool = work / "node_modules/@modelcontextprotocol/conformance"
    ran = subprocess.run([node, tool / "dist/index.js", "server", "--url", url, "--requirements", revision, "--timeout", "20000",
                          "--output-dir", work / f"results-{revision}",
                          "--expected-failures", HERE / "not_applicable.yaml"],
                         cwd=work, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    summary = ran.stdout.split("=== SUMMARY ===")[-1]
    asked = required(tool, revision)
    passed = asked & set(re.findall(r"^✓ ([\w-]+):", summary, re.M))
    print(f"  conformance {revision}: {len(passed)} of {len(asked)} scenarios pass")
    if ran.returncode:
        print(summary[-3000:])
    return ran.returncode == 0 and bool(passed), asked


def main() -> int:
    program, fixture, work = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]).resolve()
    node = installed(work)
    if node is None:
        return SKIPPED
    sound = True
    apart = set(re.findall(r"^  - ([\w-]+)$", (HERE / "not_applicable.yaml").read_text(), re.M))
    with Fixture(fixture) as server:
        for revision in REVISIONS:
            passes, scenarios = conforms(node, work, server.url, revision)
            left = apart & scenarios
            print(f"  conformance {revision}: {len(left)} of {len(scenarios)} do not apply, each with its reason in "
                  "tests/mcp/not_applicable.yaml")
            sound = sound and passes and len(left) <= MOST_NOT_APPLICABLE * len(scenarios)
    shutil.copy(HERE / "clients.mjs", work / "clients.mjs")
    with tempfile.TemporaryDirectory() as folder:
        clients = subprocess.run([node, "clients.mjs", pathlib.Path(program).resolve(), folder, SOURCES], cwd=work)
    return 0 if sound and clients.returncode == 0 else 1


sys.exit(main())
