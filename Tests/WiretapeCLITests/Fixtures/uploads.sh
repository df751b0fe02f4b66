#!/bin/sh
# The uploads of uploads.py, as curl spells them. Arguments: the origin's URL, a folder to work in.
set -e
send() { curl -q --silent --show-error --fail --max-time 20 "$@"; }
cd "$2"
printf '\000\377%.0s' $(seq 500) > f.bin
send -F 'f=@f.bin;type=application/octet-stream' -F a=1 "$1/parts"
send -H 'Content-Type: application/json; charset=utf-8' -d '{"a":[1,"\u00e9"],  "z":1.0}' "$1/json?a=1&b=~"
send --data-urlencode 'x=é' --data-urlencode 'q=a b' "$1/form"
send -T f.bin -H 'Content-Type: application/octet-stream' -H 'Transfer-Encoding: chunked' "$1/put"
send -H 'Content-Type: application/json' -d '{"a":[1,"é"],"z":1}' "$1/coded"
send -H 'Content-Type: text/plain; charset=utf-8' -d 'grüße' "$1/text"
