#!/bin/sh
# Makes the container image wiretape-VERSION-linux-MACHINE.image.tar in .build/dist with buildah, which needs no daemon.
#
#   sh packaging/image.sh PROGRAM              the image
#   sh packaging/image.sh --root PROGRAM DIR   only its root file system, in DIR, which must not exist yet
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/version.sh"

# Everything that the program needs: the program, the libraries that the linker loads, the system's roots, and the names of users and
# localhost.
lay_out() {
    program=$1 context=$2
    mkdir -p "$context"
    sh "$here/stage.sh" "$program" "$context/stage"
    tree=$context/root
    install -D -m 755 "$context/stage/bin/wiretape" "$tree/usr/bin/wiretape"
    mkdir -p "$tree/usr/share/doc"
    cp -r "$context/stage/licenses" "$tree/usr/share/doc/wiretape"
    rm -rf "$context/stage"
    # glibc itself loads the modules that resolve names, so ldd does not list them.
    for library in $(ldd "$program" | sed -n 's|.*[ \t]\(/[^ ]*\) (0x.*|\1|p') \
        "$(dirname "$(ldd "$program" | sed -n 's|.*=> \(/.*/libc.so.6\) .*|\1|p')")"/libnss_dns.so.2 \
        "$(dirname "$(ldd "$program" | sed -n 's|.*=> \(/.*/libc.so.6\) .*|\1|p')")"/libnss_files.so.2; do
        [ -e "$library" ] || continue
        install -D -m 755 "$(readlink -f "$library")" "$tree$library"
    done
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/ca-certificates.crt"
    printf 'root:x:0:0:root:/:/usr/bin/wiretape\nwiretape:x:10001:10001:wiretape:/home/wiretape:/usr/bin/wiretape\n' >"$tree/etc/passwd"
    printf 'root:x:0:\nwiretape:x:10001:\n' >"$tree/etc/group"
    printf 'hosts: files dns\npasswd: files\ngroup: files\n' >"$tree/etc/nsswitch.conf"
    printf '127.0.0.1 localhost\n::1 localhost\n' >"$tree/etc/hosts"
    mkdir -m 1777 "$tree/tmp"
    mkdir -p "$context/own/cassettes" "$context/own/home/wiretape"
    chmod 755 "$context/root" "$context/own" "$context/own/home"
    chmod 700 "$context/own/home/wiretape"
    find "$context/root" "$context/own" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
}

if [ "$1" = --root ]; then
    [ ! -e "$3" ] || { echo "image.sh: \"$3\" exists: name a new folder." >&2; exit 1; }
    lay_out "$2" "$3.context"
    mv "$3.context/root" "$3"
    cp -a "$3.context/own/." "$3/"
    rm -rf "$3.context"
    chown -R 10001:10001 "$3/cassettes" "$3/home/wiretape"
    exit 0
fi

out=$root/.build/dist
file=wiretape-$version-linux-$machine.image.tar
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
lay_out "$1" "$work/context"
# A store of its own keeps out the layers of earlier builds. The format is Docker's, because OCI's has no health checks.
buildah() { command buildah --root "$work/store" --runroot "$work/run" --storage-driver vfs "$@"; }
buildah build --quiet --isolation chroot --format docker --timestamp "$SOURCE_DATE_EPOCH" \
    --label "org.opencontainers.image.version=$version" --file "$here/Containerfile" --tag "wiretape:$version" "$work/context" >/dev/null
rm -f "$out/$file"
buildah push --quiet --format docker "wiretape:$version" "docker-archive:$out/$file:wiretape:$version"
sh "$here/sums.sh"
echo "$out/$file"
