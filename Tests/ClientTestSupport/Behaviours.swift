internal import Foundation
internal import TapeTestSupport

extension Behaviour {
    /// `decoded`, compressed by zlib in gzip format.
    private static let gzip = Data([
        0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0x01, 7, 0, 0xF8, 0xFF, 0x64, 0x65, 0x63, 0x6F, 0x64, 0x65, 0x64, 0xF6, 0x9A, 0xF0, 0x1A, 7, 0,
        0, 0,
    ])

    /// Bytes that are not text, with each part different.
    private static func bytes(_ count: Int, seed: UInt64) -> Data {
        var generator = SeededGenerator(seed: seed)
        var data = Data(capacity: count)
        for _ in 0..<count / 8 { withUnsafeBytes(of: generator.next().littleEndian) { data.append(contentsOf: $0) } }
        return data
    }

    private static let large = bytes(1 << 20, seed: 1)
    private static let upload = bytes(100_000, seed: 2)

    /// All behaviours, for every way.
    package static let all: [Behaviour] = plain + statuses + uploads + shapes + failures + oddities

    private static let plain: [Behaviour] = [
        Behaviour(
            name: "get", origin: .answers(OriginAnswer("200 OK", [("X-A", "1")], "hello")), looksAt: ["X-A"],
            lines: ["status 200", "X-A: 1", "hello", "end"]),
        Behaviour(
            name: "head", method: "HEAD", origin: .answers(OriginAnswer(framing: .length(500))), looksAt: ["Content-Length"],
            lines: ["status 200", "Content-Length: 500", "end"]),
        Behaviour(
            name: "delete with a body", method: "DELETE", headers: [("Content-Type", "text/plain")], body: .data(Data("all".utf8)),
            origin: .answers(OriginAnswer("200 OK", [], "gone")), lines: ["status 200", "gone", "end"]),
        Behaviour(
            name: "escapes in the target", target: "/caf%C3%A9/%EB%B3%B4%EB%A6%AC%2F1?q=%EA%B0%80+b&empty=&c=%26",
            origin: .answers(OriginAnswer("200 OK", [], "found")), lines: ["status 200", "found", "end"]),
        Behaviour(
            name: "a download", origin: .answers(OriginAnswer("200 OK", [], "to a file")), isDownload: true,
            lines: ["status 200", "to a file", "end"]),
    ]

    private static let statuses: [Behaviour] = [
        Behaviour(
            name: "204", method: "DELETE", origin: .answers(OriginAnswer("204 No Content", framing: .none)), lines: ["status 204", "end"]),
        Behaviour(
            name: "304", headers: [("If-None-Match", "\"1\"")],
            origin: .answers(OriginAnswer("304 Not Modified", [("ETag", "\"1\"")], framing: .none)), looksAt: ["ETag"],
            lines: ["status 304", "ETag: \"1\"", "end"]),
        Behaviour(
            name: "redirect", origin: .answers(OriginAnswer("302 Found", [("Location", "/next")], "moved")), looksAt: ["Location"],
            lines: ["status 302", "Location: /next", "moved", "end"]),
        Behaviour(
            name: "redirect of a post", method: "POST", headers: [("Content-Type", "text/plain")], body: .data(Data("x".utf8)),
            origin: .answers(OriginAnswer("307 Temporary Redirect", [("Location", "/next")])), looksAt: ["Location"],
            lines: ["status 307", "Location: /next", "end"]),
        Behaviour(
            name: "401 basic", origin: .answers(OriginAnswer("401 Unauthorized", [("WWW-Authenticate", "Basic realm=\"x\"")], "denied")),
            looksAt: ["WWW-Authenticate"], lines: ["status 401", "WWW-Authenticate: Basic realm=\"x\"", "denied", "end"]),
        Behaviour(
            name: "401 bearer", headers: [("Authorization", "Bearer old")],
            origin: .answers(OriginAnswer("401 Unauthorized", [("WWW-Authenticate", "Bearer error=\"expired\"")], "late")),
            looksAt: ["WWW-Authenticate"], lines: ["status 401", "WWW-Authenticate: Bearer error=\"expired\"", "late", "end"]),
        Behaviour(
            name: "500", origin: .answers(OriginAnswer("500 Internal Server Error", [], "sorry")), lines: ["status 500", "sorry", "end"]),
        Behaviour(
            name: "early hints",
            origin: .answers(OriginAnswer("200 OK", [], "hello").with { $0.interim = [("103 Early Hints", ("Link", "</a.css>"))] }),
            lines: ["interim 103", "status 200", "hello", "end"]),
    ]

    private static let uploads: [Behaviour] = [
        Behaviour(
            name: "post data", method: "POST", headers: [("Content-Type", "application/json")], body: .data(Data(#"{"a":1}"#.utf8)),
            origin: .answers(OriginAnswer("201 Created", [], "made")), lines: ["status 201", "made", "end"]),
        Behaviour(
            name: "put an empty body", method: "PUT", body: .data(Data()), origin: .answers(OriginAnswer("200 OK", [], "empty")),
            lines: ["status 200", "empty", "end"]),
        Behaviour(
            name: "post multipart", method: "POST", headers: [("Content-Type", "multipart/form-data; boundary=b")],
            body: .data(
                Data(
                    "--b\r\nContent-Disposition: form-data; name=\"이름\"\r\n\r\n보리\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"a.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n"
                        .utf8) + upload + Data("\r\n--b--\r\n".utf8)),
            origin: .answers(OriginAnswer("200 OK", [], "got it")), lines: ["status 200", "got it", "end"]),
        Behaviour(
            name: "put a file", method: "PUT", headers: [("Content-Type", "application/octet-stream")], body: .file(upload),
            origin: .answers(OriginAnswer("200 OK", [], "filed")), looksAtProgress: true,
            lines: ["sent \(upload.count) of \(upload.count)", "status 200", "filed", "end"]),
        Behaviour(
            name: "post a stream", method: "POST", headers: [("Content-Type", "application/octet-stream")], body: .stream(upload),
            origin: .answers(OriginAnswer("200 OK", [], "streamed")), lines: ["status 200", "streamed", "end"]),
    ]

    private static let shapes: [Behaviour] = [
        Behaviour(
            name: "gzip", headers: [("Accept-Encoding", "gzip")],
            origin: .answers(
                OriginAnswer("200 OK", [("Content-Encoding", "gzip")]).with {
                    $0.pieces = [gzip]
                    $0.content = Data("decoded".utf8)
                }),
            looksAt: ["Content-Encoding", "Content-Length"],
            lines: ["status 200", "Content-Encoding: gzip", "Content-Length: \(gzip.count)", "decoded", "end"]),
        Behaviour(
            name: "chunked", origin: .answers(OriginAnswer("200 OK", [], "one", "two", "three", framing: .chunked)),
            lines: ["status 200", "onetwothree", "end"]),
        Behaviour(
            name: "events", headers: [("Accept", "text/event-stream")],
            origin: .answers(
                OriginAnswer(
                    "200 OK", [("Content-Type", "text/event-stream")], "data: 1\n\n", ": still here\n\n", "event: 새\ndata: 2\n\n",
                    framing: .chunked)),
            looksAt: ["Content-Type"],
            lines: [
                "status 200", "Content-Type: text/event-stream", "data: 1\n\n: still here\n\nevent: 새\ndata: 2\n\n", "end",
            ]),
        Behaviour(
            name: "until close", origin: .answers(OriginAnswer("200 OK", [], "to the end", framing: .untilClose)),
            lines: ["status 200", "to the end", "end"]),
        Behaviour(
            name: "a large body", origin: .answers(OriginAnswer().with { $0.pieces = [large] }),
            lines: ["status 200", EventLog.text(large), "end"]),
        Behaviour(
            name: "a large chunked body",
            origin: .answers(
                OriginAnswer(framing: .chunked).with { answer in
                    answer.pieces = stride(from: 0, to: large.count, by: 1 << 16).map { Data(large[$0..<$0 + 1 << 16]) }
                }),
            lines: ["status 200", EventLog.text(large), "end"]),
        Behaviour(
            name: "two cookies",
            origin: .answers(
                OriginAnswer("200 OK", [("Set-Cookie", "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT"), ("Set-Cookie", "b=2")])),
            looksAt: ["Set-Cookie"],
            lines: ["status 200", "Set-Cookie: a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "Set-Cookie: b=2", "end"]),
        Behaviour(
            name: "fields of one name", origin: .answers(OriginAnswer("200 OK", [("X-List", "a"), ("X-List", "b")])), looksAt: ["X-List"],
            lines: ["status 200", "X-List: a", "X-List: b", "end"]),
        Behaviour(
            name: "trailers",
            origin: .answers(OriginAnswer("200 OK", [], "body", framing: .chunked).with { $0.trailers = [("Checksum", "7")] }),
            lines: ["status 200", "body", "trailer Checksum: 7", "end"]),
    ]

    private static let failures: [Behaviour] = [
        Behaviour(
            name: "truncated", origin: .answers(OriginAnswer("200 OK", [], "half", framing: .length(100)).with { $0.ending = .cut }),
            lines: ["status 200", "half", "failed truncated"]),
        Behaviour(
            name: "truncated chunks", origin: .answers(OriginAnswer("200 OK", [], "one", framing: .chunked).with { $0.ending = .cut }),
            lines: ["status 200", "one", "failed truncated"]),
        Behaviour(name: "reset", origin: .fails([.reset], .reset), lines: ["failed reset"]),
        Behaviour(name: "no HTTP", origin: .fails([.text("hello\r\n\r\n"), .close], .malformed), lines: ["failed malformed"]),
        Behaviour(name: "refused", origin: .isAway, lines: ["failed refused"]),
        Behaviour(
            name: "cancelled", origin: .answers(OriginAnswer("200 OK", [], "half", framing: .length(100)).with { $0.ending = .hang }),
            cancelsAfter: 2, lines: ["status 200", "half", "failed cancelled"]),
    ]

    /// Messages that HTTP allows but not every client accepts.
    private static let oddities: [Behaviour] = [
        Behaviour(
            name: "no reason phrase", origin: .answers(OriginAnswer("200 ", [], "plain")), lines: ["status 200", "plain", "end"]),
        Behaviour(
            name: "a field in Latin-1",
            origin: .fails(
                [.send(Array("HTTP/1.1 200 OK\r\nX-Name: caf".utf8) + [0xE9] + Array("\r\nContent-Length: 2\r\n\r\nok".utf8))], .malformed),
            lines: ["failed malformed"]),
        Behaviour(
            name: "a coding that nobody knows", origin: .answers(OriginAnswer("200 OK", [("Content-Encoding", "odd")], "as it is")),
            looksAt: ["Content-Encoding"], lines: ["status 200", "Content-Encoding: odd", "as it is", "end"]),
    ]
}
