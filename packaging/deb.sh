#!/bin/sh
# Makes .build/dist/wiretape_VERSION_ARCH.deb for Debian 12 and newer.
#
#   sh packaging/deb.sh PROGRAM
set -eu
program=$1
here=$(cd "$(dirname "$0")" && pwd)
. "$here/version.sh"
out=$root/.build/dist
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
mkdir -p "$out"

sh "$here/stage.sh" "$program" "$work/stage"
package=$work/package
mkdir -p "$package/DEBIAN" "$package/usr"
mv "$work/stage/bin" "$work/stage/lib" "$work/stage/share" "$package/usr/"
documents=$package/usr/share/doc/wiretape
mkdir -p "$documents"
python3 "$here/components.py" copyright >"$documents/copyright"
python3 "$here/changelog.py" debian --date "@$SOURCE_DATE_EPOCH" >"$work/changelog"
gzip -9 -n <"$work/changelog" >"$documents/changelog.gz"

# dpkg-shlibdeps needs a debian/control in the folder that it is started in, but reads only the names in it.
mkdir "$work/debian"
printf 'Source: wiretape\n\nPackage: wiretape\nArchitecture: %s\n' "$architecture" >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O "-epackage/usr/bin/wiretape" "-epackage/usr/lib/wiretape/libwiretape-clock.so" | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ]

size=$(du -k -s --apparent-size "$package/usr" | cut -f1)
cat >"$package/DEBIAN/control" <<CONTROL
Package: wiretape
Version: $version
Architecture: $architecture
Maintainer: The Wiretape authors <wiretape@example.test>
Installed-Size: $size
Depends: $depends
Recommends: ca-certificates, libnftables1, libcurl4
Section: web
Priority: optional
Homepage: https://example.test/wiretape
Description: record HTTP traffic into a readable cassette and play it back
 Wiretape is a forwarding proxy for HTTP and HTTPS. It records what a program
 says to servers into a JSON file, the cassette, and answers from that file
 later without the servers.
 .
 Header fields keep their order and case, bodies come back byte for byte, and
 secrets are removed before anything is written. HTTP/1.1, HTTP/2, gRPC,
 WebSockets and event streams are recorded. A request that was not recorded is
 never answered with a guess: the miss explains what differs.
CONTROL
(cd "$package" && find usr -type f | LC_ALL=C sort | xargs md5sum) >"$package/DEBIAN/md5sums"
chmod -R u+rwX,go=rX "$package"
find "$package" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$package" "$out/wiretape_${version}_$architecture.deb" >/dev/null
sh "$here/sums.sh"
echo "$out/wiretape_${version}_$architecture.deb"
