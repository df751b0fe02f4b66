#!/bin/sh
# Makes a release: the dated changelog, a tag, and the artefacts in .build/dist. Publishes nothing.
#
#   sh packaging/release.sh VERSION             prepares, commits and tags unless that is done already, and makes the artefacts
#   sh packaging/release.sh VERSION --dry-run   prints what it would do, and changes nothing
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
version=${1:-} option=${2:-}
case $version in
    '' | -*) echo "usage: make release VERSION=1.2.3 [DRY_RUN=1]" >&2; exit 64 ;;
esac
current=$(sed -n 's/.*current = "\(.*\)".*/\1/p' Sources/CassetteModel/Interaction/Version.swift)
tag=v$version
fail() { echo "release: $*" >&2; exit 1; }

[ -z "$(git status --porcelain)" ] || fail "the work tree has changes: commit or remove them first."
if git rev-parse -q --verify "refs/tags/$tag" >/dev/null; then
    [ "$(git rev-parse "$tag^{commit}")" = "$(git rev-parse HEAD)" ] || fail "the tag $tag is on another commit: choose another version."
fi

if [ "$option" = --dry-run ]; then
    copy=$(mktemp -d)
    trap 'rm -rf "$copy"' EXIT
    git clone -q --no-hardlinks --depth 1 "file://$root" "$copy/wiretape"
    python3 "$copy/wiretape/packaging/changelog.py" prepare "$version" --date "$(date -u +%Y-%m-%d)"
    git -C "$copy/wiretape" diff --stat
    echo "release: would commit this, tag it $tag, and make:"
    echo "  wiretape-$version-linux-$(uname -m).tar.gz, its .spdx.json and .image.tar, wiretape_${version}_$(dpkg --print-architecture).deb, SHA256SUMS"
    echo "release: notes of $tag:"
    python3 "$copy/wiretape/packaging/changelog.py" notes "$version" | sed 's/^/  /' | cut -c1-160 | head -n 20
    exit 0
fi

python3 packaging/changelog.py prepare "$version" --date "$(date -u +%Y-%m-%d)"
if [ -n "$(git status --porcelain)" ]; then
    git commit -q -a -m "Release $version"
elif [ "$current" != "$version" ]; then
    fail "the sources say $current."
fi
git rev-parse -q --verify "refs/tags/$tag" >/dev/null || git tag -a "$tag" -m "wiretape $version"
rm -rf .build/dist
make dist deb image
mkdir -p .build/dist
python3 packaging/changelog.py notes "$version" >.build/dist/NOTES.md
echo "release: $tag is in .build/dist; git push origin $tag publishes it."
