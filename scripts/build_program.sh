#!/bin/sh
# build_program.sh CHECKOUT: builds the program of a checkout and shows how far it is: on a terminal one line that is
# written over, elsewhere a line every tenth part. Everything the build says is in build/release.log.
set -eu
here=$1
log=$here/build/release.log
mkdir -p "$here/build"

if [ -t 2 ]; then
  line='\r\033[Ksextant: building, %s %% (%s)'
  after='\r\033[K'
else
  line='sextant: building, %s %% (%s)\n'
  after=''
fi

# Ninja's lines, "37 Building CXX object CMakeFiles/sextant_step.dir/…", as progress; all else goes to the log only.
show_progress() {
  shown=-1
  while IFS= read -r said; do
    printf '%s\n' "$said" >>"$log"
    percent=${said%% *}
    case $percent in
      '' | *[!0-9]*) continue ;;
    esac
    what=${said#* }
    case $what in
      *CMakeFiles/sextant_*.dir/*) what=${what#*CMakeFiles/sextant_} what=${what%%.dir/*} ;;
      *Linking*) what=linking ;;
      *) continue ;;
    esac
    if [ -t 2 ] || [ $((percent / 10)) -gt "$shown" ]; then
      # shellcheck disable=SC2059 # the format is one of the two above
      printf "$line" "$percent" "$what" >&2
      shown=$((percent / 10))
    fi
  done
}

echo "sextant: building on first use, about three minutes on two cores" >&2
: >"$log"
done_well=$here/build/.built_well
rm -f "$done_well"
{
  cmake -S "$here" --preset release &&
    NINJA_STATUS='%p ' cmake --build "$here/build/release" --target sextant && : >"$done_well"
} 2>&1 | sed -u 's/^ *\([0-9]*\)% /\1 /' | show_progress
# shellcheck disable=SC2059
printf "$after" >&2
if [ ! -e "$done_well" ]; then
  tail -n 40 "$log" >&2
  echo "sextant: error: the build failed; the whole log is $log" >&2
  exit 1
fi
rm -f "$done_well"
