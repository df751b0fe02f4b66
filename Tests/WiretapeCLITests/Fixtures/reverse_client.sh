#!/bin/sh
# curl that is told nothing of a proxy or a certificate but WIRETAPE_REVERSE: reverse_client.sh ORIGIN. With "proxied" behind it, the proxy stays set.
set -eu
unset CURL_CA_BUNDLE SSL_CERT_FILE
[ "${2:-}" = proxied ] || unset http_proxy https_proxy all_proxy HTTPS_PROXY ALL_PROXY
jar=$(mktemp)
trap 'rm -f "$jar"' EXIT

asks() { curl -q --silent --show-error --max-time 20 --location --cookie "$jar" --cookie-jar "$jar" "$@"; }

asks "$WIRETAPE_REVERSE$1/start"
asks --data-binary 'kim=김' "$WIRETAPE_REVERSE$1/made"
asks --request PUT --data-binary 0123456789 "$WIRETAPE_REVERSE$1/files/a?v=1"
asks --include --output /dev/null --write-out '%{url_effective}\n' "$WIRETAPE_REVERSE$1/start" | sed "s|^$WIRETAPE_REVERSE||"
