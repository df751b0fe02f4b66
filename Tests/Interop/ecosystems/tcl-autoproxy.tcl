# Prints the body of a URL by Tcl's package http with tcllib's autoproxy, which reads the proxy variables.
package require http
package require autoproxy
autoproxy::init
set url [lindex $argv 0]
if {[string match https:* $url]} {
    package require tls
    autoproxy::configure -tls_package tls
    tls::init -require true -cafile $::env(SSL_CERT_FILE)
    http::register https 443 autoproxy::tls_socket
}
set token [http::geturl $url -binary true -timeout 60000]
if {[http::ncode $token] != 200} { error [http::code $token] }
chan configure stdout -translation binary
puts -nonewline [http::data $token]
