#!/bin/sh
# Tests the artefacts in .build/dist as a new user would: with lintian, then on a bare Debian without a toolchain, in a folder. Needs root.
#
#   sh packaging/test.sh [SUITE]     uses bookworm (Debian 12) unless another suite is named
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/version.sh"
suite=${1:-bookworm}
dist=$root/.build/dist
deb=$dist/wiretape_${version}_$(dpkg --print-architecture).deb
base=$root/.build/debian-$suite
work=$(mktemp -d)
servers=
cleanup() {
    for server in $servers; do kill "$server" 2>/dev/null || true; done
    umount "$work/system/proc" 2>/dev/null || true
    rm -rf "$work"
}
trap cleanup EXIT
step() { echo "== $*"; }
fail() { echo "packaging/test.sh: $*" >&2; exit 1; }

step "the package's form"
[ "$suite" != bookworm ] || lintian --fail-on error,warning --info "$deb"

step "a bare $suite"
[ -x "$base/usr/bin/apt-get" ] || debootstrap --variant=minbase "$suite" "$base" >"$work/log" || fail "debootstrap: $(tail -3 "$work/log")"
cp -a --reflink=auto "$base" "$work/system"
mount -t proc proc "$work/system/proc"
cp /etc/resolv.conf "$work/system/etc/"
for file in /etc/apt/apt.conf.d/*proxy*; do [ ! -e "$file" ] || cp "$file" "$work/system/etc/apt/apt.conf.d/"; done
cp "$deb" "$dist"/wiretape-"$version"-linux-"$machine".tar.gz "$work/system/root/"
bare() { chroot "$work/system" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -euc "$1"; }
bare 'apt-get update -qq && apt-get install -y -qq --no-install-recommends curl' >"$work/log" 2>&1 || fail "curl: $(tail -3 "$work/log")"
(cd "$work/system" && find . -xdev -path ./proc -prune -o -path ./var -prune -o -type f -print | sort) >"$work/before"

step "installation with apt"
bare "apt-get install -y -qq --no-install-recommends ./root/${deb##*/}" >"$work/log" 2>&1 || fail "apt: $(tail -3 "$work/log")"
bare 'wiretape --version && test -s /usr/share/bash-completion/completions/wiretape'

step "HTTP, HTTPS and HTTP/2, recorded, and replayed with the servers gone"
mkdir "$work/site"
echo '{"name": "Miso"}' >"$work/site/pets"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost,IP:127.0.0.1 \
    -keyout "$work/key.pem" -out "$work/system/root/origin.pem" 2>/dev/null
python3 "$here/test_origin.py" "$work/site" "$work/system/root/origin.pem" "$work/key.pem" >"$work/ports" &
servers=$!
while [ ! -s "$work/ports" ]; do kill -0 "$servers"; sleep 0.1; done
read -r http https <"$work/ports"
bare "cd /root
    wiretape record pets.json -- curl -sf http://127.0.0.1:$http/pets >recorded
    wiretape record secure.json --upstream-ca origin.pem -- curl -sf https://localhost:$https/pets >>recorded
    wiretape record two.json --upstream-ca origin.pem --client-http2 always -- curl -sf --http2 -w '%{http_version}\n' https://localhost:$https/pets >>recorded
    wiretape inspect pets.json && wiretape verify pets.json && wiretape verify secure.json && wiretape verify two.json"
kill "$servers"
servers=
bare "cd /root
    wiretape replay pets.json -- curl -sf http://127.0.0.1:$http/pets >replayed
    wiretape replay secure.json -- curl -sf https://localhost:$https/pets >>replayed
    wiretape replay two.json --client-http2 always -- curl -sf --http2 -w '%{http_version}\n' https://localhost:$https/pets >>replayed
    cmp recorded replayed && grep -qx 2 replayed"
bare "cd /root && sed -i 's/\"started\": \"[0-9]*/\"started\": \"2020/' pets.json
    wiretape replay pets.json --clock recorded -- sh -c 'date +%Y; curl -sf http://127.0.0.1:$http/pets' >past && grep -qx 2020 past && grep -q Miso past"
status=0
bare "cd /root && wiretape replay pets.json -- curl -s http://127.0.0.1:$http/dogs" >"$work/miss" 2>&1 || status=$?
[ "$status" = 3 ] && grep -q 'no recorded exchange answers' "$work/miss" || fail "a miss exits with $status: $(cat "$work/miss")"

step "without /proc and /etc/hosts"
umount "$work/system/proc"
mv "$work/system/etc/hosts" "$work/hosts" 2>/dev/null || true
status=0
bare 'wiretape nonsense' 2>/dev/null || status=$?
[ "$status" = 64 ] || fail "without /proc a wrong command exits with $status"
bare "cd /root && wiretape replay pets.json -- curl -sf http://127.0.0.1:$http/pets >without && grep -q Miso without"
[ ! -e "$work/hosts" ] || mv "$work/hosts" "$work/system/etc/hosts"
mount -t proc proc "$work/system/proc"

step "the tarball"
bare "cd /root && rm -rf wiretape-* 2>/dev/null; true"
cp "$dist/wiretape-$version-linux-$machine.tar.gz" "$work/system/root/"
bare "cd /root && tar xzf wiretape-$version-linux-$machine.tar.gz 2>/dev/null || { apt-get install -y -qq gzip >/dev/null && tar xzf wiretape-$version-linux-$machine.tar.gz; }
    wiretape-$version-linux-$machine/bin/wiretape replay pets.json -- curl -sf http://127.0.0.1:$http/pets | grep -q Miso"
(cd "$dist" && sha256sum --quiet -c SHA256SUMS)

step "removal"
bare 'apt-get purge -y -qq wiretape && apt-get autoremove -y -qq' >"$work/log" 2>&1
bare 'rm -rf /root/*.json /root/*.pem /root/wiretape* /root/recorded /root/replayed /root/without'
(cd "$work/system" && find . -xdev -path ./proc -prune -o -path ./var -prune -o -type f -print | sort) >"$work/after"
left=$(comm -13 "$work/before" "$work/after" | grep -v '^./root/\.local/share/wiretape/' || true)
[ -z "$left" ] || fail "left behind: $left"

step "the image's files, by chroot, as a user without rights"
if command -v buildah >/dev/null; then
    sh "$here/image.sh" --root "${PROGRAM:-$root/.build/release/wiretape}" "$work/image"
    size=$(du -sm "$work/image" | cut -f1)
    echo "$size MB"
    [ "$size" -le 60 ] || fail "the image has $size MB"
    python3 "$here/test_origin.py" "$work/site" none none >"$work/image-ports" 2>/dev/null &
    servers=$!
    while [ ! -s "$work/image-ports" ]; do kill -0 "$servers"; sleep 0.1; done
    read -r http rest <"$work/image-ports"
    HOME=/home/wiretape chroot --userspec=10001:10001 "$work/image" /usr/bin/wiretape record /cassettes/pets.json --listen 127.0.0.1:0 2>"$work/listening" &
    proxy=$!
    servers="$servers $proxy"
    until address=$(sed -n 's|.*listening on http://||p' "$work/listening") && [ -n "$address" ]; do kill -0 $proxy || fail "$(cat "$work/listening")"; sleep 0.1; done
    chroot --userspec=10001:10001 "$work/image" /usr/bin/wiretape ping --proxy "$address"
    curl -sf --noproxy '' -x "http://$address" "http://127.0.0.1:$http/pets"
    kill -TERM $proxy
    wait $proxy
    grep -q '"name": "Miso"' "$work/image/cassettes/pets.json" || fail "nothing was recorded"
    [ "$(stat -c %u "$work/image/cassettes/pets.json")" = 10001 ] || fail "the cassette has another owner"
fi
echo "packaging/test.sh: all is well on $suite."
