#!/bin/sh
# Rules that lead the proxy's own connections back to it, in a network namespace of its own: led_back.sh WIRETAPE CASSETTE FOLDER
set -eu
wiretape=$1 cassette=$2 folder=$3
PATH=$PATH:/usr/sbin:/sbin
ip link set lo up
ip addr add 10.9.0.1/32 dev lo
nft 'add table inet t; add chain inet t c { type nat hook output priority -100; }; add rule inet t c tcp dport 8000 redirect to :7070'
mkfifo "$folder/said"
"$wiretape" record "$cassette" --listen 127.0.0.1:7070 --transparent 2>"$folder/said" &
proxy=$!
trap 'kill $proxy 2>/dev/null || true' EXIT
exec 3<"$folder/said"
while read -r line <&3; do case $line in *'listening on'*) break ;; esac; done
curl -sS --max-time 20 http://10.9.0.1:8000/
kill -TERM $proxy
wait $proxy
cat <&3 >&2
