import Testing

@testable import Wiretape

@Suite struct HTTPHeaderTests {
    @Test func makersNameTheirFields() {
        let made: [(HTTPHeader, String)] = [
            (.accept("a/b"), "Accept: a/b"), (.acceptCharset("utf-8"), "Accept-Charset: utf-8"),
            (.acceptEncoding("br"), "Accept-Encoding: br"), (.acceptLanguage("ko"), "Accept-Language: ko"),
            (.authorization("Digest x"), "Authorization: Digest x"), (.authorization(bearerToken: "t"), "Authorization: Bearer t"),
            (.cacheControl("no-store"), "Cache-Control: no-store"), (.contentDisposition("inline"), "Content-Disposition: inline"),
            (.contentEncoding("gzip"), "Content-Encoding: gzip"), (.contentType("a/b"), "Content-Type: a/b"),
            (.cookie("a=b"), "Cookie: a=b"),
            (.ifMatch("*"), "If-Match: *"), (.ifNoneMatch("*"), "If-None-Match: *"), (.origin("null"), "Origin: null"),
            (.range("bytes=0-1"), "Range: bytes=0-1"), (.referer("a"), "Referer: a"), (.userAgent("u"), "User-Agent: u"),
            (.websocketProtocol("chat"), "Sec-WebSocket-Protocol: chat"),
        ]
        for (header, line) in made { #expect(header.description == line) }
    }

    /// The examples of RFC 7617, 2 and 2.1.
    @Test func basicCredentialsAreUTF8InBase64() {
        #expect(HTTPHeader.authorization(username: "Aladdin", password: "open sesame").value == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==")
        #expect(HTTPHeader.authorization(username: "test", password: "123£").value == "Basic dGVzdDoxMjPCow==")
    }

    @Test func namesAreComparedWithoutRegardToASCIICase() {
        #expect(HTTPHeader(name: "ETag", value: "").isNamed("etag"))
        #expect(!HTTPHeader(name: "ETag", value: "").isNamed("etags"))
        #expect(!HTTPHeader(name: "[", value: "").isNamed("{"))
    }
}
