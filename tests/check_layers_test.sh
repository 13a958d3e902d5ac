#!/bin/sh
# check_layers must pass on the tree and fail on each of the broken ones.
set -eu
root=$1
python3 "$root/scripts/check_layers.py" "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tree() {  # tree CMAKE-TEXT FILE TEXT: a project of modules a < b with one more file
  rm -rf "$work/t"
  mkdir -p "$work/t/src/a" "$work/t/src/b"
  printf '%s' "$1" >"$work/t/CMakeLists.txt"
  mkdir -p "$(dirname "$work/t/$2")"
  printf '%s\n' "$3" >"$work/t/$2"
}
good='sextant_module(a
  SOURCES x.cc
)
sextant_module(b
  DEPENDS a
  SOURCES y.cc
)
'
must_pass() { python3 "$root/scripts/check_layers.py" "$work/t" >/dev/null || { echo "should pass: $1" >&2; exit 1; }; }
must_fail() { if python3 "$root/scripts/check_layers.py" "$work/t" >/dev/null 2>&1; then echo "should fail: $1" >&2; exit 1; fi; }

tree "$good" src/b/y.cc '#include "a/x.h"'
must_pass "a declared include"
tree "$good" src/a/x.cc '#include "b/y.h"'
must_fail "an include against the order"
tree "$good" src/c/z.cc 'int z;'
must_fail "a folder that is no module"
tree "$good" src/a/x.cc '#include <nlohmann/json.hpp>'
must_fail "a library outside its owner"
tree 'sextant_module(b
  DEPENDS a
  SOURCES y.cc
)
sextant_module(a
  SOURCES x.cc
)
' src/a/x.cc 'int x;'
must_fail "a dependency on a module declared below"
app='sextant_module(search
  SOURCES x.cc
)
sextant_module(app
  DEPENDS search
  SOURCES y.cc
)
'
tree "$app" src/app/y.cc '#include "search/why_not.h"  // 20_us'
must_pass "a use case that asks"
tree "$app" src/app/y.cc '#include "search/leaf.h"'
must_fail "a use case that searches"
tree "$app" src/app/y.cc 'const double each = cost::price(job);'
must_fail "a use case that prices"
tree "$app" src/app/y.cc 'constexpr Seconds kHost = 20_us;'
must_fail "a use case with a time of its own"
