# The Debian 12 packages the project needs, and why. Sourced by ./sextant and ./test.
#
# need_packages build|test: prints the packages of that set that are missing, one a line.
# install_packages build|test: installs them with apt, as root or through sudo, and says so.

packages_build='
g++                 C++20 compiler
cmake               build system
ninja-build         build runner
libfmt-dev          text formatting
libtomlplusplus-dev cluster.toml and data files
nlohmann-json3-dev  config.json and --json
libcli11-dev        the command line
libexpected-dev     Result<T>
libpng-dev          pictures (PNG)
libyaml-cpp-dev     YAML and JSON files of frameworks
coinor-libcbc-dev   integer programs of the Alpa baseline
libgfortran-12-dev  LAPACK runtime, for CBC in the static binary
zlib1g-dev          profiles packed with gzip
libzstd-dev         profiles packed with zstd
libsqlite3-dev      profiles of Nsight Systems
libprotobuf-dev     profiles of XLA
libboost-dev        HTTP/1.1 (Boost.Beast, headers alone)
libssl-dev          HTTPS
'

packages_test='
libgtest-dev        unit tests
librapidcheck-dev   property tests
rapidjson-dev       independent parser that the reader of traces is held to
libsimgrid-dev      independent simulator of network contention
libbenchmark-dev    benchmarks
clang-19            libFuzzer targets
libclang-rt-19-dev  libFuzzer and sanitizer runtimes
clang-tidy-19       lint
clang-format-19     formatting
python3             layer check and test driver
ccache              faster second builds
zsh                 checks the completion script
fish                checks the completion script
groff-base          checks the manual pages
chromium            looks at reports as their readers do
npm                 the conformance tool and clients of the Model Context Protocol, with their Node
debootstrap         a fresh Debian to install the package into
'

package_lines() {
  if [ "$1" = test ]; then
    printf '%s%s' "$packages_build" "$packages_test"
  else
    printf '%s' "$packages_build"
  fi
}

# npm may be there without Debian's package, which would take another Node's place.
is_there() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ] ||
    { [ "$1" = npm ] && command -v npm >/dev/null 2>&1; }
}

need_packages() {
  package_lines "$1" | while read -r name why; do
    if [ -n "$name" ] && ! is_there "$name"; then
      printf '%s\t%s\n' "$name" "$why"
    fi
  done
}

install_packages() {
  missing=$(need_packages "$1")
  [ -n "$missing" ] || return 0
  echo "sextant: installing Debian packages:" >&2
  printf '%s\n' "$missing" | sed 's/^/  /' >&2
  as_root=''
  if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null 2>&1; then
      echo "sextant: error: these packages are missing and neither root nor sudo is available; install them and run again" >&2
      return 3
    fi
    as_root=sudo
  fi
  names=$(printf '%s\n' "$missing" | cut -f1 | tr '\n' ' ')
  log=$(mktemp)
  # shellcheck disable=SC2086 # word splitting is meant: names is a list
  if ! { $as_root env DEBIAN_FRONTEND=noninteractive apt-get update -qq &&
         $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $names; } >"$log" 2>&1; then
    tail -n 20 "$log" >&2
    rm -f "$log"
    echo "sextant: error: apt could not install: $names" >&2
    return 3
  fi
  rm -f "$log"
}
