#!/bin/sh
# package.sh BUILD: what `cmake --workflow --preset package` left in BUILD, used as a user would: the .deb, the tarball
# and the container's folder. The .deb is unpacked into an empty root, and installed with dpkg into a fresh Debian where
# one can be made (root, debootstrap, a mirror).
set -eu
build=$1
version=$("$build/bin/sextant" --version | cut -d' ' -f2)
deb=$build/sextant_${version}_$(dpkg --print-architecture).deb
tarball=$build/sextant-$version-linux-$(uname -m).tar.gz
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "package: $*" >&2
  exit 1
}

has() {
  [ -s "$1" ] || fail "$1 is missing or empty"
}

# The program gives one answer that needs its data, and says which commit it is.
answers() {
  "$@" model deepseek-v3 --json | grep -q '"parameters_total": 671026419200' || fail "$* does not know its models"
  "$@" --version | grep -q "^sextant $version" || fail "$* does not say its version"
}

# 1. The .deb: its fields, and a page and a completion for everything that --help lists.
[ "$(dpkg-deb -f "$deb" Package Version | tr '\n' ' ')" = "Package: sextant Version: $version " ] || fail "fields of $deb"
[ -z "$(dpkg-deb -f "$deb" Depends)" ] || fail "a static program depends on nothing"
dpkg-deb -x "$deb" "$work/root"
has "$work/root/usr/share/doc/sextant/copyright"
has "$work/root/usr/share/doc/sextant/changelog.gz"
has "$work/root/usr/share/bash-completion/completions/sextant"
has "$work/root/usr/share/zsh/vendor-completions/_sextant"
has "$work/root/usr/share/fish/vendor_completions.d/sextant.fish"
for page in $("$build/bin/sextant" __man); do
  has "$work/root/usr/share/man/man1/$page.1.gz"
  if command -v groff >/dev/null; then
    warnings=$(zcat "$work/root/usr/share/man/man1/$page.1.gz" | groff -k -man -Tutf8 -ww -z 2>&1)
    [ -z "$warnings" ] || fail "$page.1: $warnings"
  fi
done
pages=$(find "$work/root/usr/share/man/man1" -name '*.gz' | wc -l)

# 2. The tarball lies anywhere.
mkdir "$work/any where"
tar -xzf "$tarball" -C "$work/any where"
answers "$work/any where/sextant-$version-linux-$(uname -m)/bin/sextant"

# 3. Alone in an empty root, from the .deb and as the container file lays it out.
container=$build/manuals/container
grep -q '^FROM scratch$' "$container/Containerfile" || fail "the container stands on more than the program"
sed -n 's/^COPY //p' "$container/Containerfile" | while read -r from to; do
  mkdir -p "$work/container$(dirname "$to")"
  cp "$container/$from" "$work/container$to"
done
authorities=$(sed -n 's/^ENV SSL_CERT_FILE=//p' "$container/Containerfile")
[ -e "$work/container$authorities" ] || fail "the container has no file $authorities"
if [ "$(id -u)" = 0 ]; then
  answers chroot "$work/root" /usr/bin/sextant
  answers chroot --userspec=65534:65534 "$work/container" /usr/bin/sextant
elif unshare --user --map-root-user true 2>/dev/null; then
  answers unshare --user --map-root-user chroot "$work/root" /usr/bin/sextant
  answers unshare --user --map-root-user chroot "$work/container" /usr/bin/sextant
else
  echo "package: no chroot here; the program was run outside of an empty root"
  answers "$work/root/usr/bin/sextant"
fi

# 4. Installed with dpkg into a fresh Debian, and removed without a trace.
fresh=$work/debian
if [ "$(id -u)" = 0 ] && command -v debootstrap >/dev/null &&
   timeout 300 debootstrap --variant=minbase bookworm "$fresh" >"$work/debootstrap.log" 2>&1; then
  cp "$deb" "$fresh/sextant.deb"
  chroot "$fresh" dpkg -i /sextant.deb >/dev/null || fail "dpkg could not install $deb"
  answers chroot "$fresh" sextant
  chroot "$fresh" dpkg -r sextant >/dev/null
  [ ! -e "$fresh/usr/bin/sextant" ] || fail "dpkg -r left the program"
  where="an empty root and a fresh Debian"
else
  where="an empty root (no fresh Debian could be made here)"
fi
echo "package: $(basename "$deb") $(du -h "$deb" | cut -f1), $pages manual pages, runs in $where"
