import CassetteFormat
import CassetteModel
import Foundation
import TapeBytes
import TapeTestSupport
import Testing

@testable import TapeProxy

/// Answers computed from the recording, as clients see them.
@Suite struct ComputedReplayTests {
    /// Records requests to an origin that gives these answers one after another, each on its own connection.
    private func recorded(_ answers: [String], _ requests: (RawOrigin) -> [String]) throws -> (proxy: RunningProxy, origin: RawOrigin) {
        let origin = try RawOrigin(
            scripts: answers.map { answer in
                { connection in
                    _ = try connection.read(through: "\r\n\r\n")
                    try connection.send(answer)
                }
            })
        let proxy = try RunningProxy()
        for request in requests(origin) { _ = try proxy.ask(request) }
        origin.finish()
        _ = try proxy.recorded()
        return (proxy, origin)
    }

    private func get(_ origin: RawOrigin, _ fields: String...) -> String {
        "GET http://\(origin.authority)/file HTTP/1.1\r\nHost: \(origin.authority)\r\nConnection: close\r\n"
            + fields.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    private static let whole =
        "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Type: text/plain\r\nContent-Length: 10\r\nConnection: close\r\n\r\n0123456789"

    /// Two requests of which one lacks a field of the other, or has a plain value instead of a secret. Each gets its own answer in any
    /// order.
    @Test(
        arguments: [
            ["Authorization: Bearer kT7-pQ2xV9mZ4w01", nil], ["Cookie: sid=kT7pQ2xV9mZ4w01", nil], ["X-Foo: 1", nil],
            ["Origin: http://a.test", nil],
            ["Authorization: Bearer kT7-pQ2xV9mZ4w01", "Authorization: Digest username=\"bob\", nc=1"],
            ["Cookie: sid=kT7pQ2xV9mZ4w01", "Cookie: lang=en"],
            ["Cookie: sid=kT7pQ2xV9mZ4w01; lang=de", "Cookie: sid=kT7pQ2xV9mZ4w01; lang=en"],
        ] as [[String?]])
    func absentAndPlainFieldsTellRequestsApart(fields: [String?]) throws {
        let answers = ["one", "two"].map { "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n\($0)" }
        for recordedOrder in [[0, 1], [1, 0]] {
            let (live, origin) = try self.recorded(recordedOrder.map { answers[$0] }) { origin in
                recordedOrder.map { fields[$0].map { self.get(origin, $0) } ?? self.get(origin) }
            }
            for order in [[0, 1], [1, 0]] {
                let replay = try RunningProxy(.none, in: live.folder)
                for number in order {
                    let answer = try replay.ask(fields[number].map { self.get(origin, $0) } ?? self.get(origin))
                    #expect(answer.hasSuffix(["one", "two"][number]), "recorded \(recordedOrder), asked \(order)")
                }
            }
        }
    }

    @Test func rangesAreCutFromTheWholeAnswer() throws {
        let (live, origin) = try self.recorded([Self.whole]) { [self.get($0)] }
        let replay = try RunningProxy(.none, in: live.folder)
        let one = try replay.ask(self.get(origin, "Range: bytes=2-4"))
        #expect(one.hasPrefix("HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Type: text/plain\r\n"))
        #expect(one.contains("Content-Range: bytes 2-4/10\r\n") && one.contains("Content-Length: 3\r\n") && one.hasSuffix("\r\n\r\n234"))
        let two = try replay.ask(self.get(origin, "Range: bytes=0-0,-2"))
        #expect(two.contains("Content-Type: multipart/byteranges; boundary=wiretape-part-1\r\n"))
        #expect(two.contains("\r\n--wiretape-part-1\r\nContent-Type: text/plain\r\nContent-Range: bytes 0-0/10\r\n\r\n0\r\n"))
        #expect(two.hasSuffix("\r\nContent-Range: bytes 8-9/10\r\n\r\n89\r\n--wiretape-part-1--\r\n"))
        let none = try replay.ask(self.get(origin, "Range: bytes=10-"))
        #expect(none.hasPrefix("HTTP/1.1 416 Range Not Satisfiable\r\n") && none.contains("Content-Range: bytes */10\r\n"))
        let verdict = replay.session.verdict()
        #expect(verdict.computed == 3 && verdict.flaws.isEmpty)
    }

    @Test func theClientsOwnIdsComeBack() throws {
        let id = "0e3f1c52-9d2e-4a4e-8f4c-1f0a5b2f0c11"
        let body = "{\"request\":\"\(id)\"}"
        let answer =
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Request-Id: \(id)\r\nContent-Length: \(body.utf8.count)\r\n"
            + "Connection: close\r\n\r\n\(body)"
        let (live, origin) = try self.recorded([answer]) { [self.get($0, "X-Request-Id: \(id)")] }
        let replay = try RunningProxy(.none, in: live.folder)
        let own = try replay.ask(self.get(origin, "X-Request-Id: the client's own id"))
        #expect(own.contains("X-Request-Id: the client's own id\r\n") && own.hasSuffix("\r\n\r\n" + body))
        let uuid = "ffffffff-9d2e-4a4e-8f4c-1f0a5b2f0c22"
        let again = try RunningProxy(.none, in: live.folder)
        #expect(try again.ask(self.get(origin, "X-Request-Id: \(uuid)")).hasSuffix("\r\n\r\n{\"request\":\"\(uuid)\"}"))
        #expect(again.session.verdict().flaws.isEmpty && again.session.verdict().computed == 0)
    }

    @Test func rangesOfALargeFileAreRead() throws {
        let size = 3_000_000
        let body = (0..<size).map { UInt8(truncatingIfNeeded: 97 + $0 % 26) }
        let text = String(decoding: body, as: UTF8.self)
        let answer = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: \(size)\r\nConnection: close\r\n\r\n" + text
        let (live, origin) = try self.recorded([answer]) { [self.get($0)] }
        let replay = try RunningProxy(.none, in: live.folder)
        let part = try replay.ask(self.get(origin, "Range: bytes=2500000-2500009"))
        #expect(part.hasSuffix("\r\n\r\n" + String(decoding: body[2_500_000..<2_500_010], as: UTF8.self)))
        #expect(replay.session.verdict().flaws.isEmpty)
    }

    @Test func aPartOfACodedBodyIsAMissForAClientThatDoesNotAcceptTheCoding() throws {
        let part = "HTTP/1.1 206 Partial Content\r\nETag: \"a\"\r\nContent-Encoding: gzip\r\nContent-Range: bytes 0-4/10\r\n"
        let (live, origin) = try self.recorded([part + "Content-Length: 5\r\nConnection: close\r\n\r\n01234", Self.whole]) {
            [self.get($0, "Accept-Encoding: gzip", "Range: bytes=0-4"), self.get($0)]
        }
        let replay = try RunningProxy(.none, in: live.folder)
        let own = try replay.ask(self.get(origin, "Range: bytes=0-4"))
        #expect(own.hasPrefix("HTTP/1.1 206 ") && !own.contains("Content-Encoding") && own.hasSuffix("\r\n\r\n01234"), "\(own)")
        #expect(try replay.ask(self.get(origin, "Range: bytes=0-4", "Accept-Encoding: gzip")).contains("Content-Encoding: gzip"))
    }

    @Test func headOfACodedBodyIsThatOfTheBodyWithoutItsCoding() throws {
        let (proxy, origin) = try self.recorded([
            "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding\r\nContent-Length: 25\r\nConnection: close\r\n\r\n"
        ]) { origin in [self.get(origin, "Accept-Encoding: gzip").replacing("GET ", with: "HEAD ")] }
        let replay = try RunningProxy(.none, in: proxy.folder, repetition: .last)
        for (accepted, isDecoded) in [("identity", true), ("gzip", false), ("br", true)] {
            let answer = try replay.ask(self.get(origin, "Accept-Encoding: \(accepted)").replacing("GET ", with: "HEAD "))
            #expect(answer.hasPrefix("HTTP/1.1 200 "))
            #expect(answer.contains("Content-Encoding: gzip\r\n") != isDecoded, "\(answer)")
            #expect(answer.contains("Content-Length: 25\r\n") != isDecoded, "\(answer)")
            #expect(answer.contains("ETag: W/\"a\"") == isDecoded, "\(answer)")
        }
    }

    /// On a connection that stays open, an answer that is in memory is sent in one piece.
    @Test func aClientThatNamesNoCodingGetsNoneEachTime() throws {
        let coded: [UInt8] = [
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            try connection.send(Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n".utf8) + coded)
        }
        let live = try RunningProxy()
        _ = try live.ask(self.get(origin, "Accept-Encoding: gzip"))
        origin.finish()
        _ = try live.recorded()
        let replay = try RunningProxy(.none, in: live.folder, repetition: .last)
        let client = try replay.connect()
        for (field, isCoded) in [("Accept-Encoding: gzip\r\n", true), ("Accept-Encoding: gzip\r\n", true), ("", false)] {
            try client.send("GET http://\(origin.authority)/file HTTP/1.1\r\nHost: \(origin.authority)\r\n\(field)\r\n")
            let head = String(decoding: try client.read(through: "\r\n\r\n"), as: UTF8.self)
            #expect(head.contains("Content-Encoding: gzip") == isCoded, "\(head)")
            #expect(try client.read(count: isCoded ? coded.count : 5) == (isCoded ? coded : Array("hello".utf8)))
        }
    }

    @Test func codedBodyIsDecodedForAClientThatDoesNotAcceptIt() throws {
        let coded: [UInt8] = [
            0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 7, 0, 0x86, 0xa6, 0x10, 0x36, 5, 0, 0, 0,
        ]
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            try connection.send(
                Array(
                    "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Encoding: gzip\r\nVary: Accept-Encoding\r\nContent-Length: \(coded.count)\r\nConnection: close\r\n\r\n"
                        .utf8) + coded)
        }
        let live = try RunningProxy()
        _ = try live.ask(self.get(origin, "Accept-Encoding: gzip"))
        origin.finish()
        _ = try live.recorded()
        let replay = try RunningProxy(.none, in: live.folder, repetition: .last)
        for (accepted, isDecoded) in [("identity", true), ("gzip", false), ("br", true), ("", true), ("gzip, br", false)] {
            let answer = try replay.ask(self.get(origin, "Accept-Encoding: \(accepted)"))
            #expect(answer.contains("Content-Encoding: gzip") != isDecoded, "\(accepted)")
            #expect(answer.hasSuffix("\r\n\r\nhello") == isDecoded, "\(accepted)")
            #expect(answer.contains("ETag: W/\"a\"") == isDecoded, "\(accepted)")
        }
        #expect(try replay.ask(self.get(origin)).hasSuffix("\r\n\r\nhello"))
        #expect(replay.session.verdict().computed == 4)
        for accepted in ["br, identity;q=0", "br, *;q=0"] {
            let answer = try replay.ask(self.get(origin, "Accept-Encoding: \(accepted)"))
            #expect(answer.hasPrefix("HTTP/1.1 424 ") && answer.contains("which this client does not accept"), "\(answer)")
        }
        #expect(replay.session.verdict().reports.map(\.reason) == Array(repeating: .codingNotAccepted(index: 0, coding: "gzip"), count: 2))
        let part = try replay.ask(self.get(origin, "Range: bytes=0-3", "Accept-Encoding: gzip"))
        #expect(part.contains("HTTP/1.1 206 ") && part.contains("Content-Range: bytes 0-3/\(coded.count)\r\n"))
        for (range, status, field, body) in [
            ("bytes=0-3", 206, "bytes 0-3/5", "hell"), ("bytes=-2", 206, "bytes 3-4/5", "lo"), ("bytes=1-", 206, "bytes 1-4/5", "ello"),
            ("bytes=5-", 416, "bytes */5", ""), ("bytes=30-", 416, "bytes */5", ""),
        ] {
            let other = try replay.ask(self.get(origin, "Range: \(range)", "Accept-Encoding: identity"))
            #expect(other.hasPrefix("HTTP/1.1 \(status) ") && other.hasSuffix("\r\n\r\n\(body)"), "\(other)")
            #expect(other.contains("Content-Range: \(field)\r\n") && !other.contains("Content-Encoding"), "\(other)")
        }
        let two = try replay.ask(self.get(origin, "Range: bytes=0-0,4-4", "Accept-Encoding: identity"))
        #expect(two.contains("\r\nContent-Range: bytes 0-0/5\r\n\r\nh\r\n") && two.contains("\r\nContent-Range: bytes 4-4/5\r\n\r\no\r\n"))
        // The tag belongs to the coded body.
        let whole = try replay.ask(self.get(origin, "Range: bytes=0-3", "If-Range: \"a\"", "Accept-Encoding: identity"))
        #expect(whole.hasPrefix("HTTP/1.1 200 ") && whole.hasSuffix("\r\n\r\nhello"), "\(whole)")
    }

    /// The body without its coding is longer than the coded one, so it contains a range beyond the coded body's end.
    @Test func rangesOfALongBodyWithAShortCodingAreThoseOfTheBody() throws {
        let content = (0..<500).map { String(format: "%04d", $0) }.joined()
        let coded = try #require(Array(content.utf8).withUnsafeBytes { Deflater.encode($0, DeflateParameters(level: 9), format: .gzip) })
        #expect(coded.count < 1900)
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\nConnection: close\r\n\r\n"
            try connection.send(Array(head.utf8) + coded)
        }
        let live = try RunningProxy()
        _ = try live.ask(self.get(origin, "Accept-Encoding: gzip"))
        origin.finish()
        _ = try live.recorded()
        let replay = try RunningProxy(.none, in: live.folder, repetition: .last)
        let part = try replay.ask(self.get(origin, "Range: bytes=1996-", "Accept-Encoding: identity"))
        #expect(
            part.hasPrefix("HTTP/1.1 206 ") && part.contains("Content-Range: bytes 1996-1999/2000\r\n") && part.hasSuffix("\r\n\r\n0499"))
        let none = try replay.ask(self.get(origin, "Range: bytes=1996-", "Accept-Encoding: gzip"))
        #expect(none.hasPrefix("HTTP/1.1 416 ") && none.contains("Content-Range: bytes */\(coded.count)\r\n"))
    }
}

/// Exchanges whose recorded client left before their end.
@Suite struct AbortedReplayTests {
    /// Records one request whose client leaves, after a head and a part of the body or before both.
    private func left(sending part: String?) throws -> (folder: TemporaryFolder, request: String) {
        let gate = Gate("the client has left")
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            if let part { try connection.send(part) }
            try gate.wait()
            _ = try? connection.readToEnd()
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        let request = "GET http://\(origin.authority)/slow HTTP/1.1\r\nHost: \(origin.authority)\r\n\r\n"
        try client.send(request)
        if let part { _ = try client.read(through: String(part.suffix(4))) }
        client.closeOutput()
        _ = try client.readToEnd()
        gate.open()
        let recorded = try proxy.recorded()
        origin.stop()
        guard case .cut(let cut)? = recorded.first?.outcome, cut.by == .client else { throw RawError("\(recorded) was not left") }
        return (proxy.folder, request)
    }

    @Test(arguments: [
        nil, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
    ])
    func clientThatLeavesLikeTheRecordedOneIsServed(part: String?) throws {
        let (folder, request) = try self.left(sending: part)
        let replay = try RunningProxy(.none, in: folder)
        let client = try replay.connect()
        try client.send(request)
        if part != nil { _ = try client.read(through: "part") }
        client.closeOutput()
        _ = try client.readToEnd()
        try replay.stop()
        let verdict = replay.session.verdict()
        #expect(verdict.hits == 1 && verdict.flaws.isEmpty, "\(verdict)")
    }

    @Test func clientThatStaysGetsAMissThatSaysSo() throws {
        let (folder, request) = try self.left(sending: nil)
        let replay = try RunningProxy(.none, in: folder) { $0.limits.tunnelIdle = 1 }
        let client = try replay.connect()
        try client.send(request)
        let answer = String(decoding: try client.readMessage(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 424 Not In Cassette\r\n") && answer.contains("ended when its recorded client left"))
        let verdict = replay.session.verdict()
        #expect(verdict.hits == 0 && verdict.misses == 1 && verdict.reports.first?.reason == .clientStayed(index: 0))
    }
}

/// The proxy's own answers, as a web page sees them.
@Suite struct CrossOriginAnswerTests {
    private func ask(_ proxy: RunningProxy, _ method: String, _ path: String, _ fields: String...) throws -> String {
        try proxy.ask(
            "\(method) http://h.test\(path) HTTP/1.1\r\nHost: h.test\r\nConnection: close\r\n" + fields.map { $0 + "\r\n" }.joined()
                + "\r\n")
    }

    private func replay() throws -> RunningProxy {
        let origin = try RawOrigin { connection in
            _ = try connection.read(through: "\r\n\r\n")
            try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
        }
        let live = try RunningProxy()
        _ = try live.ask("GET http://\(origin.authority)/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        origin.finish()
        _ = try live.recorded()
        return try RunningProxy(.none, in: live.folder)
    }

    @Test func missIsSharedWithThePageThatAsked() throws {
        let proxy = try self.replay()
        let answer = try self.ask(proxy, "GET", "/x", "Origin: http://page.test")
        #expect(answer.hasPrefix("HTTP/1.1 424") && answer.contains("Access-Control-Allow-Origin: http://page.test\r\n"))
        #expect(answer.contains("Access-Control-Allow-Credentials: true\r\n") && answer.contains("Vary: Origin\r\n"))
        #expect(try !self.ask(proxy, "GET", "/x").contains("Access-Control"))
    }

    @Test func preflightThatWasNotRecordedIsAllowed() throws {
        let proxy = try self.replay()
        let answer = try self.ask(
            proxy, "OPTIONS", "/x", "Origin: http://page.test", "Access-Control-Request-Method: PUT",
            "Access-Control-Request-Headers: x-a, x-b", "Access-Control-Request-Private-Network: true")
        #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n") && answer.contains("Access-Control-Allow-Methods: PUT\r\n"))
        #expect(
            answer.contains("Access-Control-Allow-Headers: x-a, x-b\r\n")
                && answer.contains("Access-Control-Allow-Private-Network: true\r\n"))
        #expect(proxy.session.verdict().misses == 0 && proxy.session.verdict().computed == 1)
        #expect(try self.ask(proxy, "OPTIONS", "/x", "Origin: http://page.test").hasPrefix("HTTP/1.1 424"))
    }

    @Test func unreachableOriginIsSharedToo() throws {
        let origin = try RawOrigin()
        origin.stop()
        let proxy = try RunningProxy()
        let answer = try proxy.ask(
            "GET http://\(origin.authority)/ HTTP/1.1\r\nHost: a\r\nOrigin: http://page.test\r\nConnection: close\r\n\r\n")
        #expect(answer.hasPrefix("HTTP/1.1 502") && answer.contains("Access-Control-Allow-Origin: http://page.test\r\n"))
    }
}
