import Foundation

@testable import Wiretape

extension Behaviour {
    private static func text(_ head: String, _ body: String = "", length: Int? = nil) -> [LoopbackOrigin.Step] {
        [.text("HTTP/1.1 \(head)\r\nContent-Length: \(length ?? body.utf8.count)\r\n\r\n\(body)")]
    }

    private static func chunked(_ head: String, _ pieces: [String], trailers: String = "") -> [LoopbackOrigin.Step] {
        let framed = pieces.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined()
        return [.text("HTTP/1.1 \(head)\r\nTransfer-Encoding: chunked\r\n\r\n\(framed)0\r\n\(trailers)\r\n")]
    }

    /// `decoded` by zlib with the wrapper of gzip.
    private static let gzip: [UInt8] = [
        0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x01, 7, 0, 0xF8, 0xFF, 0x64, 0x65, 0x63, 0x6F, 0x64, 0x65, 0x64, 0xF6, 0x9A, 0xF0, 0x1A, 7, 0,
        0, 0,
    ]
    private static let large = String(repeating: "0123456789abcdef", count: 40_000)

    /// The list that all ways go through.
    static let all: [Behaviour] = [
        Behaviour(
            name: "get", answer: text("200 OK\r\nX-A: 1", "hello"), looksAt: ["X-A"], lines: ["status 200", "X-A: 1", "hello", "end"]),
        Behaviour(
            name: "head", method: "HEAD", answer: text("200 OK", length: 500), looksAt: ["Content-Length"],
            lines: ["status 200", "Content-Length: 500", "end"]),
        Behaviour(
            name: "post data", method: "POST", headers: [("Content-Type", "application/json")], body: .data(Data(#"{"a":1}"#.utf8)),
            answer: text("201 Created", "made"), lines: ["status 201", "made", "end"]),
        Behaviour(
            name: "put an empty body", method: "PUT", body: .data(Data()), answer: text("200 OK", "empty"),
            lines: ["status 200", "empty", "end"]
        ),
        Behaviour(
            name: "post multipart", method: "POST", headers: [("Content-Type", "multipart/form-data; boundary=b")],
            body: .data(Data("--b\r\nContent-Disposition: form-data; name=\"이름\"\r\n\r\n보리\r\n--b--\r\n".utf8)),
            answer: text("200 OK", "got it"),
            lines: ["status 200", "got it", "end"]),
        Behaviour(name: "204", method: "DELETE", answer: [.text("HTTP/1.1 204 No Content\r\n\r\n")], lines: ["status 204", "end"]),
        Behaviour(
            name: "304", headers: [("If-None-Match", "\"1\"")], answer: [.text("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n")],
            looksAt: ["ETag"], lines: ["status 304", "ETag: \"1\"", "end"]),
        Behaviour(
            name: "redirect", answer: text("302 Found\r\nLocation: /next", "moved"), looksAt: ["Location"],
            lines: ["status 302", "Location: /next", "moved", "end"]),
        Behaviour(
            name: "redirect of a post", method: "POST", body: .data(Data("x".utf8)),
            answer: text("307 Temporary Redirect\r\nLocation: /next"),
            looksAt: ["Location"], lines: ["status 307", "Location: /next", "end"]),
        Behaviour(
            name: "401 basic", answer: text("401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"", "denied"),
            looksAt: ["WWW-Authenticate"],
            lines: ["status 401", "WWW-Authenticate: Basic realm=\"x\"", "denied", "end"]),
        Behaviour(name: "500", answer: text("500 Internal Server Error", "sorry"), lines: ["status 500", "sorry", "end"]),
        Behaviour(
            name: "gzip", headers: [("Accept-Encoding", "gzip")],
            answer: [.text("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)\r\n\r\n"), .send(gzip)],
            looksAt: ["Content-Encoding", "Content-Length"],
            lines: ["status 200", "Content-Encoding: gzip", "Content-Length: \(gzip.count)", "decoded", "end"]),
        Behaviour(name: "chunked", answer: chunked("200 OK", ["one", "two", "three"]), lines: ["status 200", "onetwothree", "end"]),
        Behaviour(
            name: "until close", answer: [.text("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nto the end"), .close],
            lines: ["status 200", "to the end", "end"]),
        Behaviour(name: "a large body", answer: text("200 OK", large), lines: ["status 200", "\(large.utf8.count) octets", "end"]),
        Behaviour(
            name: "two cookies", answer: text("200 OK\r\nSet-Cookie: a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT\r\nSet-Cookie: b=2"),
            looksAt: ["Set-Cookie"],
            lines: ["status 200", "Set-Cookie: a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "Set-Cookie: b=2", "end"]),
        Behaviour(
            name: "fields of one name", answer: text("200 OK\r\nX-List: a\r\nX-List: b"), looksAt: ["X-List"],
            lines: ["status 200", "X-List: a", "X-List: b", "end"]),
        Behaviour(
            name: "early hints", answer: [.text("HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n")] + text("200 OK", "hello"),
            lines: ["interim 103", "status 200", "hello", "end"]),
        Behaviour(
            name: "truncated", answer: text("200 OK", "half", length: 100) + [.close], lines: ["status 200", "half", "failed truncated"]),
        Behaviour(name: "reset", answer: [.reset], lines: ["failed reset"]),
        Behaviour(name: "no HTTP", answer: [.text("hello\r\n\r\n"), .close], lines: ["failed malformed"]),
        Behaviour(name: "refused", answer: nil, lines: ["failed refused"]),
        Behaviour(
            name: "cancelled", answer: text("200 OK", "half", length: 100) + [.hang], cancelsAfter: 2,
            lines: ["status 200", "half", "failed cancelled"]),
        Behaviour(
            name: "trailers", headers: [("TE", "trailers")], answer: chunked("200 OK", ["body"], trailers: "Checksum: 7\r\n"),
            lines: ["status 200", "body", "trailer Checksum: 7", "end"]),
    ]
}
