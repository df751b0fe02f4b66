#!/bin/sh
# Records async-http-client through the proxy, over https and in clear, both by CONNECT, and replays it without the origins.
# WIRETAPE names a built wiretape; otherwise one is built.
set -eu
cd "$(dirname "$0")/.."
fixtures=Tests/WiretapeCLITests/Fixtures

[ -n "${WIRETAPE:-}" ] || { swift build --product wiretape; WIRETAPE=$(swift build --show-bin-path)/wiretape; }
swift build --package-path Examples/AsyncHTTPClient
client=$(swift build --package-path Examples/AsyncHTTPClient --show-bin-path)/PetsClient

work=$(mktemp -d)
origins=
# shellcheck disable=SC2086 # the numbers are words
trap 'kill $origins 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/certificates"
sh "$fixtures/certificates.sh" "$work/certificates"

# starts NAME ARGUMENTS...: starts an origin and writes its URL to the file NAME.
starts() {
    name=$1; shift
    python3 "$fixtures/leading_origin.py" "$@" >"$work/$name" &
    origins="$origins $!"
    until [ -s "$work/$name" ]; do sleep 0.1; done
}
starts https "$work/certificates"
starts http
https=https://localhost:$(sed 's/.*://' "$work/https")
http=http://localhost:$(sed 's/.*://' "$work/http")

"$WIRETAPE" record "$work/tape.json" --trust env --upstream-ca "$work/certificates/authority.pem" -- "$client" "$https/pets" "$http/pets" >"$work/live"
# shellcheck disable=SC2086
kill $origins
origins=
"$WIRETAPE" replay "$work/tape.json" --trust env --fail-on miss,unused -- "$client" "$https/pets" "$http/pets" >"$work/replayed"
cat "$work/live"
cmp "$work/live" "$work/replayed"
echo "async-http-client: $(wc -l <"$work/live") answers, the same live and replayed without the origins."
