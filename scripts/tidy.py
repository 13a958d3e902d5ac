"""clang-tidy over the units that are compiled anyway, several files of a folder at a time.

A unit that was found clean is not looked at again until something it reads changes: a verdict is kept under the hash of
the unit's command, of every file it includes (system headers too), of .clang-tidy and of the tool's version. Checkouts
in different folders share verdicts, as they share compiled files.
"""
import concurrent.futures
import functools
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess

TOOL = "clang-tidy-19"


def kept_folder() -> pathlib.Path:
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    return cache / "sextant" / "tidy"


@functools.cache
def digest(path: str) -> str:
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


@functools.cache
def tool_version() -> str:
    return subprocess.run([TOOL, "--version"], text=True, stdout=subprocess.PIPE, check=True).stdout


class Unit:
    """One entry of compile_commands.json."""

    def __init__(self, entry: dict, root: pathlib.Path):
        self.file = entry["file"]
        self.folder = entry["directory"]
        self.root = str(root)
        words = shlex.split(entry["command"])
        start = next(i for i, word in enumerate(words) if os.path.basename(word).startswith("clang++"))
        self.command = words[start:]

    @functools.cached_property
    def files(self) -> list[str]:
        """What the unit reads. It is its own first file."""
        words = list(self.command)
        at = words.index("-o")
        del words[at:at + 2]
        listed = subprocess.run([*words, "-M"], cwd=self.folder, text=True, stdout=subprocess.PIPE, check=True).stdout
        return sorted({os.path.join(self.folder, name) for name in listed.replace("\\\n", " ").split(":", 1)[1].split()})

    def key(self) -> str:
        key = hashlib.sha256((tool_version() + digest(f"{self.root}/.clang-tidy")).encode())
        key.update(" ".join(self.command).replace(self.root, "").encode())
        for file in self.files:
            # A unit's own text names the checkout's folder; the files it lists stand below it here.
            text = "" if file == self.file else digest(file)
            key.update(f"{file.removeprefix(self.root)} {text}\n".encode())
        return key.hexdigest()

    def complaints(self) -> str:
        result = subprocess.run([TOOL, "--quiet", "-p", self.folder, self.file], text=True, cwd=self.root,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        return "" if result.returncode == 0 else result.stdout[:6000] or result.stderr[-2000:]


def lint(commands: pathlib.Path, root: pathlib.Path) -> bool:
    """Every unit of src/'s libraries and of the program; tests are compiled with the same warnings and run sanitized."""
    entries = json.loads(commands.read_text())
    units = [Unit(entry, root) for entry in entries
             if re.search(rf"^{root}/src/|/sextant_(?!\w*test\.dir)\w+\.dir/Unity/", entry["file"])]
    kept = kept_folder()
    kept.mkdir(parents=True, exist_ok=True)

    def check(unit: Unit) -> tuple[str, bool]:
        verdict = kept / unit.key()
        if verdict.exists():
            return "", True
        complaints = unit.complaints()
        if not complaints:
            verdict.touch()
        return complaints, False

    # The longest first: a large unit begun last would run alone.
    units.sort(key=lambda unit: -sum(os.path.getsize(f) for f in unit.files if f.startswith(f"{root}/src/")))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        verdicts = list(pool.map(check, units))
    for complaints, _ in verdicts:
        if complaints:
            print(complaints, flush=True)
    print(f"  {len(units)} units, {sum(known for _, known in verdicts)} of them known to be clean", flush=True)
    return bool(units) and not any(complaints for complaints, _ in verdicts)
