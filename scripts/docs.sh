#!/bin/sh
# Makes the documentation of the libraries, DocC archives that any web server can serve: .build/docs/Wiretape and so on.
# Fails on every warning: a link to a missing symbol or page, a page that no list contains, a parameter that does not exist.
# Options such as --scratch-path are passed to swift build; --no-build uses the existing build. With --traits AsyncHTTPClient, that library
# is documented as well. Needs a toolchain with docc.
set -eu
cd "$(dirname "$0")/.."
build=yes
if [ "${1-}" = --no-build ]; then build=no; shift; fi
out=${DOCS_OUT:-.build/docs}
bin=$(swift build --show-bin-path "$@")
if [ $build = yes ]; then swift build "$@"; fi
docc=$(command -v docc || true)
[ -n "$docc" ] || docc=$(dirname "$(command -v swift)")/docc
[ -x "$docc" ] || { echo "docs: there is no \"docc\" beside swift: install a toolchain of swift.org" >&2; exit 1; }
# The C modules of this package and of its dependencies, and those for which the build made maps.
includes=
for folder in Sources/C*/; do includes="$includes -I $folder"; done
for map in $(find "$bin/../../checkouts" -path '*/include/module.modulemap'); do includes="$includes -I $(dirname "$map")"; done
for map in "$bin"/*.build/module.modulemap; do includes="$includes -Xcc -fmodule-map-file=$map"; done
# For Testing and XCTest, which WiretapeTesting imports.
platform=$(dirname "$(dirname "$(command -v swift)")")/lib/swift/linux
target=$(swift -print-target-info | sed -n 's/.*"triple" *: *"\([^"]*\)".*/\1/p' | head -1)

reexported=TapeBytes,CassetteModel,CassetteFormat,CassetteStore,CassetteRedaction,CassettePlayback,CassetteRun,ClientCapabilities,TapeTrust,TapeRecorder,TapeTLS
modules="Wiretape WiretapeTesting WiretapeAlamofire TapeProxy"
# Without its trait, the module is empty.
case "$*" in *AsyncHTTPClient*) modules="$modules WiretapeAsyncHTTPClient" ;; esac
for module in $modules; do
    graphs=$out/graphs/$module
    rm -rf "$graphs" "$out/$module"
    mkdir -p "$graphs"
    # Documents the names that a module re-exports from other targets along with its own.
    # shellcheck disable=SC2086
    swift symbolgraph-extract -module-name "$module" -target "$target" -I "$bin/Modules" $includes -I "$platform" \
        -minimum-access-level public -skip-synthesized-members \
        -experimental-allowed-reexported-modules="$reexported" -output-dir "$graphs"
    [ -s "$graphs/$module.symbols.json" ] || { echo "docs: \"$module\" is not built: run without --no-build" >&2; exit 1; }
    # Only parameters that need an explanation have one, so they are not validated.
    "$docc" convert "Sources/$module/$module.docc" --additional-symbol-graph-dir "$graphs" --output-dir "$out/$module" \
        --fallback-display-name "$module" --fallback-bundle-identifier "wiretape.$module" --fallback-default-module-kind Library \
        --hosting-base-path "$module" --disable-parameters-and-returns-validation --warnings-as-errors
    echo "docs: $out/$module"
done
