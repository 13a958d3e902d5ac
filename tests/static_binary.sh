#!/bin/sh
# The static binary alone in an empty folder: no libc, no data, no shell. Uses chroot as root, else an unprivileged
# user namespace; where neither is allowed it checks that the file needs no loader.
set -eu
binary=$1
if readelf -l "$binary" | grep -q INTERP || readelf -d "$binary" 2>/dev/null | grep -q NEEDED; then
  echo "static_binary: $binary still needs a dynamic loader" >&2
  exit 1
fi
jail=$(mktemp -d)
trap 'rm -rf "$jail"' EXIT
cp "$binary" "$jail/sextant"
if [ "$(id -u)" = 0 ]; then
  enter="chroot $jail"
elif unshare --user --map-root-user true 2>/dev/null; then
  enter="unshare --user --map-root-user chroot $jail"
else
  echo "static_binary: no chroot here; checked that the file is static"
  exit 0
fi
# shellcheck disable=SC2086 # word splitting is meant
answer=$($enter /sextant model deepseek-v3 --json)
echo "$answer" | grep -q '"parameters_total": 671026419200'
# shellcheck disable=SC2086
$enter /sextant cluster 64xh100-sxm >/dev/null
# shellcheck disable=SC2086
$enter /sextant doctor | grep -q 'ok .*models'
# Threads and the protocol work there too.
# shellcheck disable=SC2086
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}' \
  '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' | $enter /sextant mcp | grep -q '"name":"diagnose"'
echo "static_binary: $(du -h "$binary" | cut -f1) runs alone in an empty root"
