#!/bin/sh
# Uses the plugin as a package that depends on Wiretape does: records its tests against a local origin, replays them, finds a cassette
# without a test and removes it. Then takes the sources away and replays from the resources of the test bundle.
set -eu
cd "$(dirname "$0")/.."
root=$PWD
work=$root/.build/plugin
package=$work/shop
origin=

stop_origin() {
    [ -z "$origin" ] || { kill "$origin" && wait "$origin"; } 2>/dev/null || true
    origin=
}
trap stop_origin EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
fail() {
    echo "plugin: $*; see $work/out" >&2
    [ ! -f "$work/out" ] || tail -n 40 "$work/out" >&2
    exit 1
}
unset WIRETAPE_MODE WIRETAPE_CASSETTES WIRETAPE_USED_CASSETTES CI http_proxy HTTP_PROXY all_proxy ALL_PROXY

# The build folder stays, so that Wiretape is built in it only once.
rm -rf "$package" "$work/away" "$work/kept" "$work/out" "$work/origin.log"
mkdir -p "$package/Sources/Shop"
cat >"$work/origin.py" <<'END'
import http.server

class Path(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(self.path)))
        self.end_headers()
        self.wfile.write(self.path.encode())

    def log_message(self, *arguments):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Path)
print(server.server_port, flush=True)
server.serve_forever()
END
python3 "$work/origin.py" >"$work/origin.log" 2>&1 &
origin=$!
port=
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    port=$(cat "$work/origin.log" 2>/dev/null) && [ -n "$port" ] && break
    sleep 0.1
done
[ -n "$port" ] || fail "the origin did not start; see $work/origin.log"

cat >"$package/Package.swift" <<END
// swift-tools-version: 6.1
import PackageDescription

let tests: [Target] = ["ShopTests", "DeskTests"].map {
    .testTarget(
        name: \$0, dependencies: [.product(name: "Wiretape", package: "wiretape"), .product(name: "WiretapeTesting", package: "wiretape")],
        resources: \$0 == "ShopTests" ? [.copy("Cassettes")] : [])
}
let package = Package(
    name: "shop", platforms: [.macOS(.v13)], dependencies: [.package(name: "wiretape", path: "$root", traits: [])],
    targets: [.target(name: "Shop")] + tests)
END
echo 'public let shop = "shop"' >"$package/Sources/Shop/Shop.swift"
# Two targets with tests of the same name, and one folder of cassettes: the package's.
for target in ShopTests DeskTests; do
    mkdir -p "$package/Tests/$target"
    cat >"$package/Tests/$target/PetTests.swift" <<END
import Foundation
import Testing
import Wiretape
import WiretapeTesting

@Suite(.cassettes()) struct PetTests {
    @Test func list() async throws {
        let pets = try await HTTPSession().request("http://localhost:$port/$target").serializingString().value
        #expect(pets == "/$target")
    }
}
END
done

wiretape() { # the plugin, with a build folder of its own
    swift package --package-path "$package" --scratch-path "$work/build" --allow-writing-to-package-directory wiretape "$@" >"$work/out" 2>&1
}
says() { grep -q -e "$1" "$work/out" || fail "it does not say: $1"; }

# The folder must exist when SwiftPM plans the package, or it has no resources. One target has cassettes of its own, the other uses the
# package's.
mkdir -p "$package/Tests/ShopTests/Cassettes"

echo "1. What cannot be done is refused with the way out."
! wiretape rewind || fail "an unknown command is taken"
says 'there is no command "rewind"'
! wiretape status || fail "there is nothing to list"
says 'there are no cassettes below'

echo "2. swift package wiretape record"
wiretape record || fail "recording failed"
says 'Tests/ShopTests/Cassettes/PetTests/list.json: 1 exchange'
says ' Cassettes/PetTests/list.json: 1 exchange'

echo "3. Two targets with one folder: the second to record has its module in the path."
mv "$package/Tests/ShopTests/Cassettes" "$work/kept"
mkdir "$package/Tests/ShopTests/Cassettes"
mv "$package/Tests/ShopTests" "$package/Tests/Kept"
mkdir -p "$package/Tests/ShopTests"
cp "$package/Tests/Kept/PetTests.swift" "$package/Tests/ShopTests/"
sed -i.before 's/resources:.*$/resources: [])/' "$package/Package.swift"
wiretape record --mode once || fail "recording failed"
says ' Cassettes/ShopTests/PetTests/list.json: 1 exchange'
stop_origin

echo "4. swift package wiretape status, inspect"
wiretape status || fail "the tests do not replay"
says 'Cassettes/PetTests/list.json .* used  *DeskTests.PetTests/list()'
says 'Cassettes/ShopTests/PetTests/list.json .* used  *ShopTests.PetTests/list()'
wiretape inspect Cassettes/PetTests/list.json || fail "inspect failed"
says "1  GET http://localhost:$port/DeskTests  200, 10 bytes"

echo "5. swift package wiretape prune"
sed 's/PetTests\/list()/PetTests\/gone()/' "$package/Cassettes/PetTests/list.json" >"$package/Cassettes/PetTests/gone.json"
sed 's/PetTests\/list()/PetTests\/disabled()/' "$package/Cassettes/PetTests/list.json" >"$package/Cassettes/PetTests/disabled.json"
sed -i.kept 's/^}$/    @Test(.disabled()) func disabled() {}\n}/' "$package/Tests/DeskTests/PetTests.swift"
rm "$package/Tests/DeskTests/PetTests.swift.kept"
echo '{' >"$package/Cassettes/damaged.json"
wiretape prune || fail "prune failed"
says 'Cassettes/PetTests/gone.json'
says 'add --yes to move it to a trash folder'
[ -f "$package/Cassettes/PetTests/gone.json" ] || fail "it was removed without --yes"
wiretape prune --yes || fail "prune failed"
[ ! -f "$package/Cassettes/PetTests/gone.json" ] || fail "it was not removed"
[ -f "$(sed -n 's/^wiretape: moved 1 to \(.*\); delete .*$/\1/p' "$work/out")/Cassettes/PetTests/gone.json" ] || fail "it is not in the trash folder"
[ -f "$package/Cassettes/PetTests/list.json" ] && [ -f "$package/Cassettes/PetTests/disabled.json" ] && [ -f "$package/Cassettes/damaged.json" ] || fail "too much was removed"
! wiretape inspect Cassettes/damaged.json || fail "a damaged cassette is shown"
says 'is damaged, or not a cassette'
rm "$package/Cassettes/damaged.json"
sed -i.before "s/:$port/:1/" "$package/Tests/DeskTests/PetTests.swift"
! wiretape prune --yes || fail "prune goes by tests that fail"
says 'nothing was removed'
mv "$package/Tests/DeskTests/PetTests.swift.before" "$package/Tests/DeskTests/PetTests.swift"

echo "6. Without the sources: the test program replays from the resources beside it."
rm -rf "$package/Tests/ShopTests"
mv "$package/Tests/Kept" "$package/Tests/ShopTests"
rm -r "$package/Tests/ShopTests/Cassettes"
mv "$work/kept" "$package/Tests/ShopTests/Cassettes"
mv "$package/Package.swift.before" "$package/Package.swift"
build="swift build --package-path $package --scratch-path $work/build"
$build --build-tests >"$work/out" 2>&1 || fail "the build failed"
program=$($build --show-bin-path)/shopPackageTests.xctest
mv "$package" "$work/away"
"$program" --testing-library swift-testing --filter ShopTests >"$work/out" 2>&1 || fail "the test does not replay from its bundle"
says 'Test run with 1 test'
! WIRETAPE_MODE=all "$program" --testing-library swift-testing --filter ShopTests >"$work/out" 2>&1 || fail "a bundle is recorded into"
says 'where nothing is recorded: record on a machine that has the sources'
! "$program" --testing-library swift-testing --filter DeskTests >"$work/out" 2>&1 || fail "a test without resources passes"
says 'is not on this machine; set WIRETAPE_CASSETTES'

echo "7. Nothing was built for the plugin but itself."
for module in CassetteTools TapeProxy TapeTLS WiretapeCLI; do
    [ -z "$(find "$work/build" -path "*/$module.build/*.o" -o -path "*/$module-tool.build/*.o")" ] || fail "$module was built"
done
[ -z "$(ls "$work/build/checkouts" 2>/dev/null)" ] || fail "packages were fetched into $work/build/checkouts"

echo "   All of it works. The package is in $work/away."
