#!/usr/bin/env python3
"""Every #include between folders of src/ must be declared in sextant_module(... DEPENDS ...).

Also fails when a module depends on one declared below it, when a folder of src/ is no module,
and when a third-party header is included outside the folders that own it.
"""
import pathlib
import re
import sys

OWNERS = {  # header prefix -> folders whose .cc files may include it
    "toml++/": {"describe"},
    "nlohmann/": {"describe", "explain"},
    "CLI/": {"front"},
    "png.h": {"explain"},
    "yaml-cpp/": {"emit"},
    "coin/": {"search"},
    "rapidjson/": {"profile"},
    "zlib.h": {"profile"},
    "zstd.h": {"profile"},
    "sqlite3.h": {"profile"},
    "google/protobuf/": {"profile"},
    "tl/expected": {"base"},
    "simgrid/": set(),  # tests/ only: no folder of src/
}
# Headers that exist to share a library between the .cc files of its owner.
LIBRARY_HEADERS = {"src/base/result.h", "src/explain/json.h"}

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
    for number, line in enumerate(path.read_text().splitlines(), 1):
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
