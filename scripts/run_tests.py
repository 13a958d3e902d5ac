#!/usr/bin/env python3
"""Runs every stage of ./test and ends with one line: N passed, N failed[, N skipped].

A stage is a name and commands. Tests counted are ctest's; every other stage counts as one test. All stages run even
when one fails, so one run shows everything. `./test STAGE…` runs only those.
"""
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FUZZ_SECONDS = 20  # a target stops at its runs or here, whichever comes first
FUZZ_RUNS = 20000
os.chdir(ROOT)
os.environ.setdefault("ASAN_OPTIONS", "detect_leaks=1")
os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
# Presets that differ only in linking share compiled files, though their build folders differ.
os.environ.setdefault("CCACHE_NOHASHDIR", "1")
# And so do checkouts in different folders.
os.environ.setdefault("CCACHE_BASEDIR", str(ROOT))
passed = failed = skipped = 0


def run(command: list[str], **kwargs) -> subprocess.CompletedProcess:
    shown = " ".join(command[:20]) + (f" … ({len(command)} words)" if len(command) > 20 else "")
    print("+ " + shown, flush=True)
    return subprocess.run(command, text=True, **kwargs)


def sources() -> list[str]:
    files = [p for folder in ("src", "tests", "bench", "fuzz") for p in (ROOT / folder).rglob("*")]
    return sorted(str(p.relative_to(ROOT)) for p in files if p.suffix in (".h", ".cc"))


def check_format() -> bool:
    return run(["clang-format-19", "--dry-run", "-Werror", *sources()]).returncode == 0


def build(preset: str, *targets: str) -> bool:
    # -k 0: one run shows every file that fails.
    return (run(["cmake", "--preset", preset], stdout=subprocess.DEVNULL).returncode == 0 and
            run(["cmake", "--build", "--preset", preset, "--", "-k", "0", *targets]).returncode == 0)


def ctest(preset: str) -> bool:
    global passed, failed, skipped
    if not build(preset):
        return False
    result = run(["ctest", "--preset", preset], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ran = re.findall(r"^ *\d+/\d+ Test +#\d+: (.*?) \.*(.*?) +[\d.]+ sec$", result.stdout, re.M)
    skips = [name for name, outcome in ran if "Skipped" in outcome]
    good = [name for name, outcome in ran if outcome.strip().endswith("Passed")]
    bad = [name for name, outcome in ran if name not in skips and name not in good]
    print("\n".join(result.stdout.splitlines()[-60:] if result.returncode else
                    result.stdout.splitlines()[-4:]), flush=True)
    for name in skips:
        print(f"skipped: {name}")
    passed, failed, skipped = passed + len(good), failed + len(bad), skipped + len(skips)
    return result.returncode == 0 and len(good) > 0


def tidy() -> bool:
    """clang-tidy on every file of src/ but tests, without compiling them. Tests are compiled with the same warnings and
    run sanitized; their headers are the slowest to parse, and an hour is all there is."""
    if run(["cmake", "--preset", "tidy"], stdout=subprocess.DEVNULL).returncode:
        return False
    commands = json.loads((ROOT / "build/tidy/compile_commands.json").read_text())
    files = sorted({c["file"] for c in commands
                    if c["file"].startswith(f"{ROOT}/src/") and not c["file"].endswith("_test.cc")})
    extra = ["-Wno-unknown-warning-option", "-Wno-zero-as-null-pointer-constant", "-Wno-deprecated-declarations"]
    flags = ["--quiet", "-p", "build/tidy", *(f"--extra-arg={argument}" for argument in extra)]

    def check(file: str) -> tuple[str, subprocess.CompletedProcess]:
        command = ["clang-tidy-19", *flags, file]
        return file, subprocess.run(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    well = bool(files)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for file, result in pool.map(check, files):
            if result.returncode:
                print(f"{file}\n{result.stdout[:6000]}", flush=True)
                well = False
    print(f"  {len(files)} files", flush=True)
    return well


def benches() -> bool:
    if not build("release"):
        return False
    programs = sorted((ROOT / "build/release/bin").glob("*_bench"))
    return bool(programs) and all(
        run([str(p), "--benchmark_min_time=0.01"]).returncode == 0 for p in programs)


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
    return build("release") and run(["build/release/bin/sextant", "validate", str(truth), *own, "--check",
                                     "docs/validation.md"], stdout=subprocess.DEVNULL).returncode == 0


def static_binary() -> bool:
    return (build("static") and
            run(["tests/static_binary.sh", "build/static/bin/sextant"]).returncode == 0)


def fuzz() -> bool:
    if not build("fuzz", "fuzzers"):
        return False
    targets = sorted((ROOT / "build/fuzz/bin").glob("fuzz_*"))
    well = bool(targets)

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
                well = False
    return well


STAGES = {
    "format": check_format,
    "layers": lambda: run(["scripts/check_layers.py", "."]).returncode == 0,
    "dev": lambda: ctest("dev"),
    "tidy": tidy,
    "release": benches,
    "ledger": ledger,
    "static": static_binary,
    "fuzz": fuzz,
}

chosen = sys.argv[1:] or list(STAGES)
unknown = [name for name in chosen if name not in STAGES]
if unknown:
    sys.exit(f"no stage {unknown[0]}; stages: {', '.join(STAGES)}")
broken = []
for name in chosen:
    start = time.monotonic()
    print(f"== {name}", flush=True)
    before = failed
    well = STAGES[name]()
    print(f"== {name}: {'ok' if well else 'FAILED'} in {time.monotonic() - start:.0f} s", flush=True)
    if well:
        passed += 1
    else:
        broken.append(name)
        failed += 1 if failed == before else 0
for name in broken:
    print(f"failed stage: {name}")
print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
sys.exit(bool(broken))
