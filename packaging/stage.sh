#!/bin/sh
# Creates the files that every package contains: the program, the library for --clock recorded, completions, manual pages, licences.
#
#   sh packaging/stage.sh PROGRAM FOLDER     FOLDER gets bin, lib, share and licenses; it must not exist yet. The library is next to PROGRAM.
set -eu
program=$1 folder=$2
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
. "$here/version.sh"

mkdir "$folder"
install -D -m 755 "$program" "$folder/bin/wiretape"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$folder/bin/wiretape"
library=$(dirname "$program")/libwiretape-clock.so
[ -f "$library" ] || { echo "stage.sh: there is no \"$library\": sh scripts/release.sh --product wiretape-clock builds it." >&2; exit 1; }
install -D -m 644 "$library" "$folder/lib/wiretape/libwiretape-clock.so"
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$folder/lib/wiretape/libwiretape-clock.so"

# bash loads completions by name and interprets them itself, so lintian reports a line that names an interpreter as an error.
mkdir -p "$folder/share/bash-completion/completions" "$folder/share/zsh/vendor-completions" "$folder/share/fish/vendor_completions.d"
"$program" --generate-completion-script bash | sed '1{/^#!/d}' >"$folder/share/bash-completion/completions/wiretape"
"$program" --generate-completion-script zsh >"$folder/share/zsh/vendor-completions/_wiretape"
"$program" --generate-completion-script fish >"$folder/share/fish/vendor_completions.d/wiretape.fish"

"$program" --experimental-dump-help |
    python3 "$here/help_pages.py" man "$folder/share/man/man1" --version "$version" --date "$date"
gzip -9 -n "$folder"/share/man/man1/*.1

# The program contains these packages and Swift's own library, whose licences must be distributed with it.
mkdir "$folder/licenses"
cp "$root/LICENSE" "$folder/licenses/wiretape.txt"
python3 "$here/components.py" licenses "$folder/licenses"
chmod -R u+rwX,go=rX "$folder"
find "$folder" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
