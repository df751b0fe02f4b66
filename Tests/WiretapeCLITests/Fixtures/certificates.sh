#!/bin/sh
# Makes two test authorities and certificates of every kind, with OpenSSL 3: certificates.sh FOLDER. NAME.pem is what a server sends, NAME.key its key.
set -eu
cd "$1"

cat >openssl.cnf <<'END'
[req]
distinguished_name = none
[none]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = DNS:localhost, DNS:origin.test, DNS:*.wild.test, IP:127.0.0.1, IP:::1
[other-name]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectAltName = DNS:other.test
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
[ca]
default_ca = dated
[dated]
database = index.txt
new_certs_dir = .
rand_serial = yes
unique_subject = no
default_md = sha256
policy = any_name
[any_name]
commonName = supplied
END
: >index.txt

p256='-newkey ec -pkeyopt ec_paramgen_curve:P-256'

# made NAME COMMON-NAME EXTENSIONS KEY-OPTIONS [ISSUER]: a certificate and its key; without an issuer it signs itself.
# shellcheck disable=SC2086 # the options are words
made() {
    openssl req -config openssl.cnf -x509 -sha256 -days 30 $4 -nodes -keyout "$1.key" -out "$1.pem" -subj "/CN=$2" -extensions "$3" \
        ${5:+-CA "$5.pem" -CAkey "$5.key"} 2>>openssl.log
}

# dated NAME FROM UNTIL: a certificate of the authority for any time, which only "openssl ca" makes in all versions of OpenSSL 3.
# shellcheck disable=SC2086
dated() {
    openssl req -config openssl.cnf -new $p256 -nodes -keyout "$1.key" -out "$1.csr" -subj "/CN=origin.test" 2>>openssl.log
    openssl ca -config openssl.cnf -batch -notext -in "$1.csr" -out "$1.pem" -cert authority.pem -keyfile authority.key \
        -startdate "$2" -enddate "$3" -extensions server 2>>openssl.log
}

openssl genrsa -out rsa.key 2048 2>genrsa.log &
rsa=$!
made authority 'Test CA' authority "$p256"
made other-authority 'Unknown Test CA' authority "$p256"
made intermediate-authority 'Test Intermediate CA' authority "$p256" authority

made good origin.test server "$p256" authority
made wrong-name other.test other-name "$p256" authority
made self-signed origin.test server "$p256"
made unknown-authority origin.test server "$p256" other-authority
made missing-intermediate origin.test server "$p256" intermediate-authority
made client 'Test client' client "$p256" authority
made unknown-client 'Unknown test client' client "$p256" other-authority
dated expired 20200101000000Z 20210101000000Z
dated not-yet-valid 20700101000000Z 20800101000000Z

cat missing-intermediate.pem intermediate-authority.pem >intermediate.pem
cp missing-intermediate.key intermediate.key
wait $rsa
made rsa origin.test server '-key rsa.key' authority
