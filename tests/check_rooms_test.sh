#!/bin/sh
# check_rooms must pass on the tree and fail on each line that app or front may not hold.
set -eu
root=$1
python3 "$root/scripts/check_rooms.py" "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tree() {  # tree FILE TEXT: a project with one parameter, gbs, and one more file
  rm -rf "$work/t"
  mkdir -p "$work/t/src/app" "$work/t/src/front/cli" "$work/t/src/step" "$work/t/src/emit" "$work/t/src/explain"
  echo 'Parameter gbs{.name = "gbs"};' >"$work/t/src/app/job_parameters.cc"
  printf '%s\n' "$2" >"$work/t/src/$1"
}
must_pass() { tree "$1" "$2"; python3 "$root/scripts/check_rooms.py" "$work/t" >/dev/null || { echo "should pass: $2" >&2; exit 1; }; }
must_fail() { tree "$1" "$2"; if python3 "$root/scripts/check_rooms.py" "$work/t" >/dev/null 2>&1; then echo "should fail: $2" >&2; exit 1; fi; }

must_pass app/x.cc 'invalid("no batch", "‹gbs›");  // --gbs 4'
must_pass step/x.cc 'invalid("no batch", "mbs, ‹gbs SEQUENCES›");'
must_pass front/cli/x.cc 'explain::to_text(answer, style);'
must_pass front/cli/artifacts.cc 'write_file(path, bytes);'
must_pass app/x_test.cc 'write_file("x", "--gbs");'
must_fail app/x.cc 'invalid("no batch", "--gbs");'
must_fail app/x.cc 'invalid("a batch with --gbs 4");'
must_fail app/x.cc 'invalid("no batch", "‹gsb›");'
must_fail step/x.cc 'invalid("no batch", "‹gsb›");'
must_fail app/x.cc 'write_file(path, bytes);'
must_fail app/x.cc 'std::ofstream out(path);'
must_pass step/x.cc 'std::fopen(path.c_str(), "rb");'
must_fail step/x.cc 'std::fopen(path.c_str(), "wb");'
must_fail explain/x.cc 'std::ofstream(path) << text;'
must_fail app/x.cc 'return kExitNo;'
must_fail app/x.cc 'std::string text = explain::to_text(answer, explain::Style{});'
must_fail app/x.cc 'std::cout << answer;'
must_fail app/x.cc 'invalid("no model", "sextant plan");'
must_pass emit/x.cc 'flags("--gbs");'
must_pass step/x.cc 'invalid("no kernels", "nsys profile --cuda-graph-trace=node");'
must_fail step/x.cc 'invalid("no batch", "--gbs 4");'
must_fail explain/x.cc 'text += "the batch of --gbs";'
must_fail front/cli/x.cc 'kb::practices(data);'
must_fail front/cli/x.cc 'describe::load_model(word, data);'
must_fail front/cli/x.cc 'if (step > Seconds(4)) {'
must_fail front/cli/x.cc 'write_file(path, bytes);'
