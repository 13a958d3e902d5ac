#!/usr/bin/env python3
"""Every #include between folders of src/ must be declared in sextant_module(... DEPENDS ...).

Also fails when a module depends on one declared below it, when a folder of src/ is no module,
when a third-party header is included outside the folders that own it, and when a folder that
decides nothing (app, front) holds what only a decision needs.
"""
import pathlib
import re
import sys

OWNERS = {  # header prefix -> folders whose .cc files may include it
    "toml++/": {"describe"},
    # llm: what models are asked and answer is JSON; front: messages of a protocol, never an answer's figures.
    "nlohmann/": {"describe", "explain", "front", "llm"},
    "CLI/": {"front"},
    "png.h": {"explain"},
    "yaml-cpp/": {"emit"},
    "coin/": {"search"},
    "rapidjson/": {"profile"},
    "zlib.h": {"profile"},
    "zstd.h": {"profile"},
    "sqlite3.h": {"profile", "kb"},  # one file each: profile reads others' files, kb its own
    "google/protobuf/": {"profile"},
    "boost/": {"http"},  # one file: message_parser.cc
    "openssl/": {"http"},  # one file: tls.cc
    "tl/expected": {"base"},
    "simgrid/": set(),  # tests/ only: no folder of src/
}
# Headers that exist to share a library between the .cc files of its owner.
LIBRARY_HEADERS = {"src/base/result.h", "src/explain/json.h", "src/front/mcp/json.h", "src/llm/json.h"}

# What the folders that decide nothing may not contain, tests apart: folder -> (pattern, why). An answer is
# theirs to ask for and to hand on; a price, a default or a choice is another folder's.
NO_DECISION = [
    (r'#include "(cost|schedule)/|\b(cost|schedule)::', "prices and schedules are asked through machine, step or search"),
    (r'#include "search/(space|leaf|family|find_|best_plans|splits|pipeline_floor|mesh_orders|baselines/(?!baselines))',
     "the inside of a search belongs to search"),
    (r'#include "step/(floor|layer_messages|layout_parts|message_|pipeline|stage_|step_costs)',
     "the inside of a step belongs to step"),
    (r'#include <cmath>|std::(pow|exp|log2?|sqrt|lround)\(', "arithmetic of a model"),
    (r"(?<![\w.])(?!1_)[\d.']+_(ns|us|ms|s|hours|days|Gbps|MBps|GBps|TBps|TFLOPS)\b", "a time or a rate in code"),
]
MAY_NOT = {
    "app": NO_DECISION,
    "front": [*NO_DECISION, (r'#include "(?!app/|base/|front/|explain/|http/)', "front asks app, and shows by explain")],
}

root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
allowed: dict[str, set[str]] = {}
for m in re.finditer(r"sextant_module\((\w+)(.*?)\n\)", (root / "CMakeLists.txt").read_text(), re.S):
    deps = re.search(r"DEPENDS\s+([a-z_\s]+?)(?=[A-Z]|$)", m[2])
    allowed[m[1]] = set(deps[1].split()) if deps else set()
    later = allowed[m[1]] - allowed.keys()
    if later:
        sys.exit(f"{m[1]} depends on {sorted(later)}, declared below it")

bad = []
for path in sorted((root / "src").rglob("*.[hc]*")):
    name = path.relative_to(root)
    module = path.relative_to(root / "src").parts[0]
    if module not in allowed:
        bad.append(f"{name}: folder {module} is not declared as a module in CMakeLists.txt")
        continue
    decides_nothing = [] if "_test" in path.stem or path.stem == "testing" else MAY_NOT.get(module, [])
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for pattern, why in decides_nothing:
            if re.search(pattern, line.split("//")[0]):
                bad.append(f"{name}:{number}: not in {module}: {why}")
        m = re.match(r'\s*#include "(\w+)/', line)
        if m and m[1] != module and m[1] not in allowed[module]:
            bad.append(f"{name}:{number}: {module} may not include {m[1]}")
        m = re.match(r"\s*#include <(.+)>", line)
        for prefix, owners in OWNERS.items():
            hidden = path.suffix != ".h" or str(name) in LIBRARY_HEADERS
            if m and m[1].startswith(prefix) and not (module in owners and hidden):
                bad.append(f"{name}:{number}: <{prefix}…> belongs to the .cc files of {sorted(owners)}")
print("\n".join(bad) or f"layers ok: {' < '.join(allowed)}")
sys.exit(bool(bad))
