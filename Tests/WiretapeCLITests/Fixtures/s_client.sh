#!/bin/sh
# One request through the proxy by openssl's own client, which checks the certificate and the name: s_client.sh HOST PORT PATH. Prints the answer.
printf 'GET %s HTTP/1.1\r\nHost: %s:%s\r\nConnection: close\r\n\r\n' "$3" "$1" "$2" |
    openssl s_client -quiet -verify_return_error -verify_hostname "$1" -servername "$1" -proxy "${https_proxy#http://}" -connect "$1:$2"
