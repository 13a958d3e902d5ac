#!/bin/sh
# check_names must pass on the tree and see each way in which two files of a folder can use one name.
set -eu
root=$1
python3 "$root/scripts/check_names.py" "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

hidden() {  # hidden FILE TEXT: a source that keeps TEXT to itself
  mkdir -p "$work/$(dirname "$1")"
  printf 'namespace sextant::a {\nnamespace {\n\n%s\n\n}  // namespace\n}  // namespace sextant::a\n' "$2" >"$work/$1"
}
declared() {
  mkdir -p "$work/$(dirname "$1")"
  printf 'namespace sextant::a {\n\n%s\n\n}  // namespace sextant::a\n' "$2" >"$work/$1"
}
must_pass() { python3 "$root/scripts/check_names.py" "$work" >/dev/null || { echo "should pass: $1" >&2; exit 1; }; rm -rf "$work/src"; }
must_fail() { if python3 "$root/scripts/check_names.py" "$work" >/dev/null; then echo "should fail: $1" >&2; exit 1; fi; rm -rf "$work/src"; }

for text in 'struct Part {' 'enum class Part { kOne };' 'using Part = int;' 'constexpr int kMost = 1;' 'const Store kData;' \
            'int part_of(int x) {' 'std::vector<std::pair<int, int>> part_of(' '[[noreturn]] void part_of() {'; do
  hidden src/a/x.cc "$text"
  hidden src/a/y.cc 'struct Other {'
  must_pass "one file has $text"
  hidden src/a/x.cc "$text"
  hidden src/a/y.cc "$text"
  must_fail "two files have $text"
  hidden src/a/x.cc "$text"
  hidden src/b/y.cc "$text"
  must_pass "$text in two folders"
  hidden src/a/x.cc "$text"
  hidden src/a/x_test.cc "$text"
  must_pass "$text in a source and in a test"
done
hidden src/a/x.cc 'int part_of(int x) {'
declared src/a/y.h 'int part_of(double x);'
must_fail "a header declares it"
hidden src/a/x.cc 'int part_of(int x) {'
declared src/b/y.h 'int part_of(double x);'
must_pass "another folder's header declares it"
