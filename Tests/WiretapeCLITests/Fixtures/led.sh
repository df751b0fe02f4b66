#!/bin/sh
# Records what the kernel leads to the proxy, in a network namespace of its own: led.sh WIRETAPE CASSETTE FOLDER
set -eu
wiretape=$1 cassette=$2 folder=$3
PATH=$PATH:/usr/sbin:/sbin
ip link set lo up
ip addr add 10.9.0.1/32 dev lo
python3 -c '
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"led " + self.path.encode())
    def log_message(self, *arguments): pass
server = http.server.HTTPServer(("10.9.0.1", 8000), Handler)
print("ready", flush=True)
server.serve_forever()' >"$folder/origin" &
origin=$!
mkfifo "$folder/said"
"$wiretape" record "$cassette" --listen 127.0.0.1:7070 --transparent 2>"$folder/said" &
proxy=$!
trap 'kill $origin $proxy 2>/dev/null || true' EXIT
exec 3<"$folder/said"
while read -r line <&3; do case $line in *'listening on'*) break ;; esac; done
tail -f -n +1 "$folder/origin" --pid=$origin | grep -q ready
"$wiretape" env --proxy 127.0.0.1:7070 --transparent --user 65534 --ports 8000 | nft -f -
setpriv --reuid 65534 --clear-groups curl -sS --max-time 20 http://10.9.0.1:8000/by-the-kernel
curl -sS --max-time 20 http://10.9.0.1:8000/by-another-user
kill -TERM $proxy
wait $proxy
cat <&3 >&2
