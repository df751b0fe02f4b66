#!/bin/sh
# Sends the demo's requests with curl and keeps every answer: demo-requests.sh ORIGIN FOLDER
set -eu
origin=$1
mkdir -p "$2"
cd "$2"

# Writes an answer's head and body to NAME.head and NAME.body. Ignores the user's curlrc and no_proxy, which would distort the comparison.
get() {
    name=$1
    shift
    curl -q --silent --show-error --max-time 20 --noproxy '' --dump-header "$name.head" --output "$name.body" \
        --write-out "  $name: %{http_code}, %{size_download} bytes\n" "$@"
}

get 1-json "$origin/pets"
get 2-gzip --header 'Accept-Encoding: gzip' "$origin/pets.gz"
get 3-image "$origin/image.png"
get 4-redirect --location "$origin/old"
get 5-stream --no-buffer "$origin/stream"
get 6-upload --form 'name=보리' --form 'photo=@3-image.body;type=image/png;filename=bori.png' "$origin/pets"
get 7-echo --json '{"name": "초코", "kind": "cat"}' "$origin/echo?q=%ED%95%9C"
get 8-missing "$origin/no-such-page"
get 9-head --head "$origin/pets"
