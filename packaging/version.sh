# Sourced by the scripts of this folder: the version, the date of the commit, and the machine. With that date, two builds give the same
# bytes.
root=${root:-$(cd "$(dirname "$0")/.." && pwd)}
version=$(sed -n 's/.*current = "\(.*\)".*/\1/p' "$root/Sources/CassetteModel/Interaction/Version.swift")
: "${SOURCE_DATE_EPOCH:=$(git -C "$root" log -1 --format=%ct)}"
export SOURCE_DATE_EPOCH
date=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%d)
machine=$(uname -m)
