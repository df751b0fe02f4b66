#!/bin/sh
# Installs what Debian 12 lacks for one purpose, but nothing that is already there: setup.sh
# build|demo|test|store|bench|package|image|drivers|interop [SCENARIO …]
set -eu
PATH=$PATH:/usr/sbin:/sbin # where nginx and haproxy are, also for those who are not root

libraries='pkg-config:pkg-config -openssl:libssl-dev -libnghttp2:libnghttp2-dev -zlib:zlib1g-dev -libbrotlidec:libbrotli-dev -libzstd:libzstd-dev -libdeflate:libdeflate-dev -yaml-0.1:libyaml-dev -libcurl:libcurl4-openssl-dev'
case ${1:-} in
    build) needs=$libraries ;;
    demo) needs="$libraries curl:curl python3:python3 openssl:openssl" ;;
    test) needs="$libraries curl:curl python3:python3
                 git:git nginx:nginx-light openssl:openssl prlimit:util-linux strace:strace wget:wget chromium:chromium node:nodejs h2load:nghttp2-client nghttpd:nghttp2-server nghttpx:nghttp2-proxy haproxy:haproxy
                  +jsonschema:python3-jsonschema +ensurepip:python3-venv =libnftables1:libnftables1"
        [ "${PAGE_BROWSER:-}" != firefox ] || needs="$needs firefox-esr:firefox-esr"
        ;;
    store) needs="$libraries curl:curl python3:python3 git:git openssl:openssl zstd:zstd +ensurepip:python3-venv
                  ceph-mon:ceph-mon ceph-osd:ceph-osd ceph:ceph-common radosgw:radosgw swift-account-server:swift-account
                  swift-container-server:swift-container swift-object-server:swift-object swift-proxy-server:swift-proxy memcached:memcached" ;;
    bench) needs="$libraries curl:curl python3:python3
                  cc:gcc openssl:openssl taskset:util-linux nginx:nginx-light haproxy:haproxy h2load:nghttp2-client nghttpx:nghttp2-proxy socat:socat strip:binutils valgrind:valgrind" ;;
    package) needs="$libraries python3:python3 dpkg-shlibdeps:dpkg-dev lintian:lintian debootstrap:debootstrap xz:xz-utils strip:binutils" ;;
    image) needs="$libraries python3:python3 strip:binutils buildah:buildah" ;;
    drivers) needs="$libraries python3:python3 +ensurepip:python3-venv node:nodejs go:golang javac:default-jdk-headless /usr/share/java/junit-jupiter-api.jar:junit5" ;;
    interop)
        # Each scenario lists the clients that it needs. Python reads those lists, so it is installed first if missing.
        command -v python3 >/dev/null || sh "$0" demo
        shift
        needs="$libraries $(python3 Tests/Interop/run.py --needs "$@")"
        ;;
    *)
        echo "usage: setup.sh build|demo|test|store|bench|package|image|drivers|interop" >&2
        exit 64
        ;;
esac

# A need is COMMAND:PACKAGE, -LIBRARY:PACKAGE for a library that pkg-config must find, +MODULE:PACKAGE for a module that Python must import,
# /FILE:PACKAGE for a file, or =PACKAGE:PACKAGE for a package that must be installed itself.
missing=
for need in $needs; do
    thing=${need%%:*} package=${need#*:}
    case $thing in
        -*) pkg-config --exists "${thing#-}" 2>/dev/null || missing="$missing $package" ;;
        +*) python3 -c "import ${thing#+}" 2>/dev/null || /usr/bin/python3 -c "import ${thing#+}" 2>/dev/null || missing="$missing $package" ;;
        /*) [ -e "$thing" ] || missing="$missing $package" ;;
        =*) dpkg-query -W -f '${Status}' "${thing#=}" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package" ;;
        *) command -v "$thing" >/dev/null || missing="$missing $package" ;;
    esac
done
case " $missing " in *' gcc '*) missing="$missing libc6-dev" ;; esac

if ! command -v swift >/dev/null; then
    echo "setup: there is no Swift toolchain; install Swift 6.1 or newer from https://www.swift.org/install and run this again" >&2
    exit 1
fi
[ -n "$missing" ] || exit 0

if ! command -v apt-get >/dev/null; then
    echo "setup: missing:$missing (Debian's names), and there is no apt-get here; install them with this system's package manager" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "setup: missing:$missing; there is no sudo, so run this as root: apt-get install$missing" >&2
        exit 1
    fi
    as_root=sudo
fi

# Debian starts a service as soon as it is installed, unless this file forbids it.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
    trap '$as_root rm -f $policy' EXIT
    trap 'exit 130' INT TERM
    printf '#!/bin/sh\nexit 101\n' | $as_root tee $policy >/dev/null
    $as_root chmod 755 $policy
fi
echo "setup: installing$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086 # the list is words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
