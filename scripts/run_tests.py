#!/usr/bin/env python3
"""Runs the stages of ./test and ends with one line: N passed, N failed[, N skipped].

  ./test                  every stage, in order
  ./test quick [FOLDER…]  between edits: format, layers, and the tests of changed (or named) folders without sanitizers
  ./test long             every stage with ten times the random cases, and what takes too long for every day
  ./test STAGE…           only those

A stage is a name and a function. Tests counted are ctest's; every other stage counts as one test. All stages run even
when one fails, so one run shows everything. What each took is printed beside its budget, the table in CONTRIBUTING.md.
"""
import concurrent.futures
import os
import pathlib
import re
import resource
import subprocess
import sys
import time

import tidy

ROOT = pathlib.Path(__file__).resolve().parent.parent
LONG = bool(os.environ.get("SEXTANT_LONG"))  # tests look at it too (base/random_cases_testing.h)
LONG_CASES = "max_success=1000"  # of a property test; 100 else
FUZZ_SECONDS = 300 if LONG else 20  # a target stops at its runs or here, whichever comes first
FUZZ_RUNS = 2_000_000 if LONG else 20_000
SLOWEST = 10  # tests named at the end
passed = failed = skipped = 0


def run(command: list[str], **kwargs) -> subprocess.CompletedProcess:
    shown = " ".join(command[:20]) + (f" … ({len(command)} words)" if len(command) > 20 else "")
    print("+ " + shown, flush=True)
    return subprocess.run(command, text=True, **kwargs)


def well(command: list[str], **kwargs) -> bool:
    return run(command, **kwargs).returncode == 0


def sources() -> list[str]:
    files = [p for folder in ("src", "tests", "bench", "fuzz") for p in (ROOT / folder).rglob("*")]
    return sorted(str(p.relative_to(ROOT)) for p in files if p.suffix in (".h", ".cc"))


def check_format() -> bool:
    return well(["clang-format-19", "--dry-run", "-Werror", *sources()])


def check_layers() -> bool:
    scripts = ["scripts/check_layers.py", "scripts/check_names.py", "scripts/check_rooms.py"]
    return all(well([script, "."]) for script in scripts)


def build(preset: str, *targets: str, options: tuple[str, ...] = ()) -> bool:
    # -k 0: one run shows every file that fails.
    return (well(["cmake", "--preset", preset, *options], stdout=subprocess.DEVNULL) and
            well(["cmake", "--build", "--preset", preset, "--", "-k", "0", *targets]))


def ctest(preset: str, *options: str) -> bool:
    global passed, failed, skipped
    result = run(["ctest", "--preset", preset, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ran = re.findall(r"^ *\d+/\d+ Test +#\d+: (.*?) \.*(.*?) +([\d.]+) sec$", result.stdout, re.M)
    skips = [name for name, outcome, _ in ran if "Skipped" in outcome]
    good = [name for name, outcome, _ in ran if outcome.strip().endswith("Passed")]
    bad = [name for name, _, _ in ran if name not in set(skips) | set(good)]
    print("\n".join(result.stdout.splitlines()[-60 if result.returncode else -4:]), flush=True)
    print(f"slowest: {', '.join(f'{name} {seconds} s' for name, _, seconds in slowest(ran))}")
    for name in skips:
        print(f"skipped: {name}")
    passed, failed, skipped = passed + len(good), failed + len(bad), skipped + len(skips)
    return result.returncode == 0 and len(good) > 0


def slowest(ran: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return sorted(ran, key=lambda test: -float(test[2]))[:SLOWEST]


def benches() -> bool:
    return build("release", options=("-DSEXTANT_BENCH=ON",)) and well(
        ["build/release/bin/sextant_bench", "--benchmark_min_time=0.01"])


def ledger() -> bool:
    """docs/validation.md is what the program says today. Not among the sanitized tests: the fits it repeats take ten
    seconds in a release build and a quarter of an hour there."""
    global skipped
    truth = ROOT.parent / "shared/truth"
    if not truth.is_dir():
        print("skipped: no measured tables beside the sources, the ledger was not checked")
        skipped += 1
        return True
    own = [f"data/measured/h200_{table}.csv" for table in ("memory", "fsdp_memory", "step_times", "rank_times")]
    return build("release", "sextant") and well(
        ["build/release/bin/sextant", "validate", str(truth), *own, "--check", "docs/validation.md"],
        stdout=subprocess.DEVNULL)


def package() -> bool:
    """What users install: made, looked into, and run where nothing else is."""
    return (well(["cmake", "--workflow", "--preset", "package"], stdout=subprocess.DEVNULL) and
            well(["tests/static_binary.sh", "build/release/bin/sextant"]) and
            well(["tests/package.sh", "build/release"]))


def mcp() -> bool:
    """`sextant mcp` as the official conformance tool and real clients see it, sanitized."""
    global skipped
    if not build("dev", "sextant", "sextant_mcp_fixture"):
        return False
    result = run(["tests/mcp/run.py", "build/dev/bin/sextant", "build/dev/bin/sextant_mcp_fixture", "build/mcp"])
    skipped += result.returncode == 77  # npm cannot be had: said above
    return result.returncode in (0, 77)


def fuzz() -> bool:
    if not build("fuzz", "fuzzers"):
        return False
    targets = sorted((ROOT / "build/fuzz/bin").glob("fuzz_*"))
    sound = bool(targets)

    def fuzz_one(target: pathlib.Path) -> subprocess.CompletedProcess:
        corpus = ROOT / "build/fuzz/corpus" / target.name
        corpus.mkdir(parents=True, exist_ok=True)
        seeds = ROOT / "fuzz/seeds" / target.name
        command = [str(target), "-seed=1", f"-runs={FUZZ_RUNS}", f"-max_total_time={FUZZ_SECONDS}", "-rss_limit_mb=2048",
                   "-timeout=10", "-max_len=65536", "-artifact_prefix=build/fuzz/", "-print_final_stats=1", str(corpus),
                   *([str(seeds)] if seeds.is_dir() else [])]
        return subprocess.run(command, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for target, result in zip(targets, pool.map(fuzz_one, targets)):
            stats = re.search(r"number_of_executed_units: *(\d+)", result.stdout)
            print(f"  {target.name}: {stats[1] if stats else 'no'} inputs", flush=True)
            if result.returncode:
                print(result.stdout[-4000:], flush=True)
                sound = False
    return sound


def alone() -> bool:
    """Every source parses by itself: it includes what it uses, whatever stands before it in its unit."""
    def parse(file: str) -> subprocess.CompletedProcess:
        return subprocess.run(["clang++-19", "-std=c++20", "-fsyntax-only", "-Isrc", "-Itests", "-Ibench",
                               "-DSEXTANT_VERSION=\"\"", file], text=True, stderr=subprocess.PIPE)

    files = [file for file in sources() if file.endswith(".cc") and "compile_fail" not in file]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = [result.stderr for result in pool.map(parse, files) if result.returncode]
    print("\n".join(error[:2000] for error in errors) or f"  {len(files)} files")
    return not errors


def shuffled() -> bool:
    """Tests do not disturb each other, whatever runs before or beside them."""
    return all(ctest("dev", "--schedule-random", "-j4") for _ in range(3))


def changed_folders() -> list[str]:
    """Labels of the test programs whose sources differ from what was last pushed, or from the last commit."""
    upstream = subprocess.run(["git", "rev-parse", "--verify", "-q", "@{upstream}"], text=True, stdout=subprocess.PIPE)
    base = upstream.stdout.strip() or "HEAD"
    files = subprocess.run(["git", "diff", "--name-only", base], text=True, stdout=subprocess.PIPE).stdout.split()
    files += subprocess.run(["git", "ls-files", "--others", "--exclude-standard"], text=True,
                            stdout=subprocess.PIPE).stdout.split()
    parts = [pathlib.PurePath(file).parts for file in files]
    return sorted({part[1] for part in parts if part[0] == "src" and len(part) > 2} |
                  {"cli" if "cli" in part[1] else "truth" for part in parts if part[0] == "tests" and len(part) == 2})


def quick_tests(folders: list[str]) -> bool:
    """Everything compiles, and the tests of these folders pass."""
    print(f"folders: {', '.join(folders) or 'none changed'}")
    tested = [name for name in folders
              if re.search(rf"sextant_module\({name}\b[^)]*\bTESTS\b", (ROOT / "CMakeLists.txt").read_text())
              or name in ("cli", "truth", "simgrid")]
    if not build("quick", "sextant", *(f"sextant_{name}_test" for name in tested)):
        return False
    return not tested or ctest("quick", "-L", f"^({'|'.join(tested)})$")


STAGES = {
    "format": check_format,
    "layers": check_layers,
    "dev": lambda: build("dev"),
    "tests": lambda: build("dev") and ctest("dev"),
    "tidy": lambda: well(["cmake", "--preset", "dev"], stdout=subprocess.DEVNULL) and
    tidy.lint(ROOT / "build/dev/compile_commands.json", ROOT),
    "release": lambda: build("release", options=("-DSEXTANT_BENCH=ON",)),
    "benches": benches,
    "ledger": ledger,
    "package": package,
    "mcp": mcp,
    "fuzz": fuzz,
}
LONG_STAGES = {
    "alone": alone,
    "shuffled": shuffled,
    "tsan": lambda: build("tsan") and ctest("tsan", "-L", "^(base|http|llm|search|step|app|front)$"),
}


def budgets() -> dict[str, int]:
    """Seconds a stage may take on two cores from nothing, as CONTRIBUTING.md says."""
    rows = re.findall(r"^\| `(\w+)` \| (\d+) s \|", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    return {name: int(seconds) for name, seconds in rows}


def run_stage(name: str, stage) -> tuple[bool, float]:
    global passed, failed
    start = time.monotonic()
    print(f"== {name}", flush=True)
    before = failed
    sound = stage()
    took = time.monotonic() - start
    print(f"== {name}: {'ok' if sound else 'FAILED'} in {took:.0f} s", flush=True)
    if sound:
        passed += 1
    else:
        failed += 1 if failed == before else 0
    return sound, took


def main(words: list[str]) -> int:
    known = {**STAGES, **LONG_STAGES}
    if words[:1] == ["quick"]:
        folders = words[1:] or changed_folders()
        chosen = {"format": check_format, "layers": check_layers, "quick": lambda: quick_tests(folders)}
    elif words == ["long"]:
        os.environ["SEXTANT_LONG"] = "1"
        os.environ.setdefault("RC_PARAMS", LONG_CASES)
        os.execv(sys.executable, [sys.executable, __file__, *known])
    elif unknown := [name for name in words if name not in known]:
        sys.exit(f"no stage {unknown[0]}; stages: {', '.join(known)}; or quick, or long")
    else:
        chosen = {name: known[name] for name in words or STAGES}
    limits = budgets()
    results = {name: run_stage(name, stage) for name, stage in chosen.items()}
    print("stage       took  budget")
    for name, (_, took) in results.items():
        limit = limits.get(name)
        print(f"{name:<9} {took:5.0f} s" + (f" {limit:5} s{'  over' if took > limit else ''}" if limit else ""))
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"all       {sum(took for _, took in results.values()):5.0f} s, largest process {largest:.1f} GiB")
    for name, (sound, _) in results.items():
        if not sound:
            print(f"failed stage: {name}")
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return int(any(not sound for sound, _ in results.values()))


if __name__ == "__main__":
    os.chdir(ROOT)
    os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=1")
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    # Build folders, and checkouts in different folders, share compiled files.
    os.environ.setdefault("CCACHE_NOHASHDIR", "1")
    os.environ.setdefault("CCACHE_BASEDIR", str(ROOT))
    sys.exit(main(sys.argv[1:]))
