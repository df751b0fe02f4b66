# Prints the body of a URL by Tcl's package http, with no settings of its own.
package require http
set url [lindex $argv 0]
if {[string match https:* $url]} {
    package require tls
    http::register https 443 [list tls::socket -autoservername true -require true -cafile $::env(SSL_CERT_FILE)]
}
set token [http::geturl $url -binary true -timeout 60000]
if {[http::ncode $token] != 200} { error [http::code $token] }
chan configure stdout -translation binary
puts -nonewline [http::data $token]
