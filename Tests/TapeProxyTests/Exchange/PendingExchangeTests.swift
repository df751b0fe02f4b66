import TapeBytes
import CassetteModel
import CassettePlayback
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct PendingExchangeTests {
    /// A folder with a cassette of requests with these bodies to `POST /`, each answered with its number.
    private func recorded(_ bodies: String..., fields: String...) throws -> (folder: TemporaryFolder, origin: RawOrigin) {
        let all = bodies
        let origin = try RawOrigin { connection in
            for (number, body) in all.enumerated() {
                try connection.expectRequest("POST /")
                _ = try connection.read(count: body.utf8.count)
                try connection.send(Self.answer("answer \(number)"))
            }
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        for body in bodies {
            try client.send(Self.post(origin, body, fields))
            _ = try client.readMessage()
        }
        origin.finish()
        try proxy.stop()
        return (proxy.folder, origin)
    }

    private static func answer(_ body: String) -> String {
        "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static func post(_ origin: RawOrigin, _ body: String, _ fields: [String] = []) -> String {
        let lines =
            ["POST http://\(origin.authority)/ HTTP/1.1", "Host: \(origin.authority)", "Content-Length: \(body.utf8.count)"] + fields
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }

    private func ask(_ client: RawConnection, _ request: String) throws -> String {
        try client.send(request)
        return String(decoding: try client.readMessage(), as: UTF8.self)
    }

    private static let json = ["Content-Type: application/json"]

    // MARK: Replay

    @Test func theBodyDecidesWhichAnswerComes() throws {
        let (folder, origin) = try self.recorded("{\"a\":1}", "{\"a\":2}", fields: Self.json[0])
        let replay = try RunningProxy(.none, in: folder)
        let client = try replay.connect()
        #expect(try self.ask(client, Self.post(origin, "{ \"a\" : 2 }", Self.json)).hasSuffix("answer 1"))
        #expect(try self.ask(client, Self.post(origin, "{\"a\":3}", Self.json)).hasPrefix("HTTP/1.1 424 "))
        #expect(try self.ask(client, Self.post(origin, "{\"a\":1}", Self.json)).hasSuffix("answer 0"))
        #expect(origin.accepted == 1)
        let counts = replay.server.counts
        #expect(counts.replayed == 2 && counts.misses == 1)
    }

    @Test func aMissNamesTheDifferencesInTheBody() throws {
        let (folder, origin) = try self.recorded("{\"a\":1}", fields: Self.json[0])
        let replay = try RunningProxy(.none, in: folder)
        let answer = try self.ask(replay.connect(), Self.post(origin, "{\"a\":5}", Self.json))
        #expect(answer.hasPrefix("HTTP/1.1 424 "))
        #expect(answer.contains("/a"))
    }

    @Test func anotherBoundaryIsTheSameForm() throws {
        func form(_ boundary: String) -> String {
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x.txt\"\r\n\r\nhello\r\n--\(boundary)--\r\n"
        }
        let (folder, origin) = try self.recorded(form("AaB03x"), fields: "Content-Type: multipart/form-data; boundary=AaB03x")
        let replay = try RunningProxy(.none, in: folder)
        let fields = ["Content-Type: multipart/form-data; boundary=other-one"]
        #expect(try self.ask(replay.connect(), Self.post(origin, form("other-one"), fields)).hasSuffix("answer 0"))
        #expect(try self.ask(replay.connect(), Self.post(origin, form("other-one"), fields)).hasPrefix("HTTP/1.1 424 "))
    }

    @Test func aCassetteThatCannotBeReadToDecideIsNoCleanReplay() throws {
        let (folder, origin) = try self.recorded("abc", "def")
        let text = String(decoding: try folder.read("tape.json"), as: UTF8.self)
        try folder.write(Array(text.replacing("\"status\": 200", with: "\"status\": \"x\"").utf8), to: "tape.json")
        let replay = try RunningProxy(.none, in: folder)
        #expect(try self.ask(replay.connect(), Self.post(origin, "abc")).hasPrefix("HTTP/1.1 500 Cassette Unreadable"))
        let verdict = replay.session.verdict()
        #expect(verdict.hits == 0 && verdict.misses == 0 && verdict.unserved == 1 && verdict.flaws.contains(.unserved))
        #expect(verdict.unservedAnswers.first?.problem.contains("POST http://\(origin.authority)/: ") == true, "\(verdict)")
        let counts = replay.server.counts
        #expect(counts.unreadable == 1 && counts.replayed == 0)
        #expect(RunFailure.all(failOn: FailureRule([]), verdict: verdict, counts: counts, recorder: nil) == [.failed])
    }

    @Test func aBodyThatIsCutDecidesNothing() throws {
        let (folder, origin) = try self.recorded("abc")
        let replay = try RunningProxy(.none, in: folder)
        let cut = try replay.connect()
        try cut.send(Self.post(origin, "abcd").dropLast(1).description)
        cut.closeOutput()
        #expect(try cut.readToEnd().bytes.isEmpty)
        #expect(try self.ask(replay.connect(), Self.post(origin, "abc")).hasSuffix("answer 0"), "nothing was used up")
        #expect(replay.session.verdict().misses == 0)
    }

    @Test func aChunkedBodyIsTheSameBody() throws {
        let (folder, origin) = try self.recorded("abcdef")
        let replay = try RunningProxy(.none, in: folder)
        let client = try replay.connect()
        let head = "POST http://\(origin.authority)/ HTTP/1.1\r\nHost: \(origin.authority)\r\nTransfer-Encoding: chunked\r\n\r\n"
        #expect(try self.ask(client, head + "3\r\nabc\r\n3;x\r\ndef\r\n0\r\nT: 1\r\n\r\n").hasSuffix("answer 0"))
        #expect(try self.ask(client, head + "zz\r\n").hasPrefix("HTTP/1.1 400 "))
    }

    @Test func pipelinedBodiesAreAnsweredInOrder() throws {
        let (folder, origin) = try self.recorded("one", "two")
        let replay = try RunningProxy(.none, in: folder)
        let client = try replay.connect()
        try client.send(Self.post(origin, "two") + Self.post(origin, "one") + Self.post(origin, "none"))
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("answer 1"))
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix("answer 0"))
        #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasPrefix("HTTP/1.1 424 "))
    }

    @Test func aRequestWithoutABodyIsNoneOfThoseWithOne() throws {
        let (folder, origin) = try self.recorded("x")
        let replay = try RunningProxy(.none, in: folder)
        #expect(try self.ask(replay.connect(), Self.post(origin, "")).hasPrefix("HTTP/1.1 424 "))
        #expect(try self.ask(replay.connect(), origin.request("POST", "/")).hasPrefix("HTTP/1.1 424 "))
    }

    @Test(arguments: [10, 100_000, 3_000_000]) func aClientThatWaitsIsAskedForItsBody(size: Int) throws {
        let body = String(repeating: "b", count: size)
        let (folder, origin) = try self.recorded(body)
        let replay = try RunningProxy(.none, in: folder)
        let client = try replay.connect()
        try client.send(Self.post(origin, body, ["Expect: 100-continue"]).dropLast(size).description)
        try client.expect("HTTP/1.1 100 Continue\r\n\r\n")
        #expect(try self.ask(client, body).hasSuffix("answer 0"))
    }

    @Test func aSilentClientGets408() throws {
        let (folder, origin) = try self.recorded("abc")
        let replay = try RunningProxy(.none, in: folder) { $0.limits.clientStall = 1 }
        let client = try replay.connect()
        try client.send(Self.post(origin, "abc").dropLast(1).description)
        #expect(String(decoding: try client.readToEnd().bytes, as: UTF8.self).hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    }

    @Test func manyClientsGetTheAnswersToTheirBodies() throws {
        let bodies = (0..<16).map { "{\"number\":\($0)}" }
        let origin = try RawOrigin { connection in
            for body in bodies {
                try connection.expectRequest("POST /")
                _ = try connection.read(count: body.utf8.count)
                try connection.send(Self.answer(body))
            }
        }
        let live = try RunningProxy()
        let recording = try live.connect()
        for body in bodies { _ = try self.ask(recording, Self.post(origin, body, Self.json)) }
        origin.finish()
        try live.stop()
        let replay = try RunningProxy(.none, in: live.folder, repetition: .cycle)
        let clients = try (0..<64).map { _ in try replay.connect() }
        for (number, client) in clients.enumerated() { try client.send(Self.post(origin, bodies[number * 7 % 16], Self.json)) }
        for (number, client) in clients.enumerated().reversed() {
            #expect(String(decoding: try client.readMessage(), as: UTF8.self).hasSuffix(bodies[number * 7 % 16]))
        }
        #expect(replay.session.verdict().hits == 64)
    }

    // MARK: Forwarding what was read

    /// Records `POST /` with a body, then sends another one in parts, which is forwarded.
    ///
    /// - Parameter size: the number of bytes that the origin has to get after the head.
    private func forwarded(_ fields: [String], _ parts: [[UInt8]], size: Int) throws -> (
        sent: [UInt8], answer: String, recorded: Interaction
    ) {
        let sent = Guarded<[UInt8]>([])
        let origin = try RawOrigin { connection in
            try connection.expectRequest("POST /")
            _ = try connection.read(count: 3)
            try connection.send(Self.answer("old"))
        } _: { connection in
            let head = try connection.expectRequest("POST /")
            if head.contains("100-continue") { try connection.send("HTTP/1.1 100 Continue\r\nFrom: origin\r\n\r\n") }
            let bytes = try connection.read(count: size)
            sent.withLock { $0 = bytes }
            try connection.send(Self.answer("new"))
        }
        let live = try RunningProxy()
        _ = try self.ask(live.connect(), Self.post(origin, "old"))
        try live.stop()
        let proxy = try RunningProxy(.newEpisodes, in: live.folder)
        let client = try proxy.connect()
        #expect(try self.ask(client, Self.post(origin, "old")).hasSuffix("old"), "what is recorded is replayed")
        let lines = ["POST http://\(origin.authority)/ HTTP/1.1", "Host: \(origin.authority)"] + fields
        try client.send(lines.joined(separator: "\r\n") + "\r\n\r\n")
        if fields.contains("Expect: 100-continue") { try client.expect("HTTP/1.1 100 Continue\r\n\r\n") }
        for part in parts { try client.send(part) }
        let answer = String(decoding: try client.readMessage(), as: UTF8.self)
        origin.finish()
        return (sent.withLock { $0 }, answer, try #require(try proxy.recorded().last))
    }

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 9) } }

    @Test(arguments: [4, 70_000, 1_000_000, 5_000_000]) func unrecordedRequestGoesToTheOriginUnchanged(size: Int) throws {
        let body = self.bytes(size)
        let (sent, answer, recorded) = try self.forwarded(["Content-Length: \(size)"], [body], size: size)
        #expect(sent == body)
        #expect(answer == Self.answer("new"))
        #expect(recorded.request.body?.size == size)
        #expect(recorded.request.body?.isComplete == true)
        #expect(recorded.timing.blocked != nil)
        #expect(recorded.timing.send != nil)
    }

    @Test(arguments: [10, 600_000]) func chunksAndTrailersStayAsTheyWere(size: Int) throws {
        let body = self.bytes(size)
        var parts: [[UInt8]] = []
        for _ in 0..<4 { parts.append(Array("0\(String(size, radix: 16).uppercased());name=value\r\n".utf8) + body + Array("\r\n".utf8)) }
        parts.append(Array("000\r\nT: 1\r\n\r\n".utf8))
        let wire = parts.flatMap { $0 }
        let (sent, answer, recorded) = try self.forwarded(["Transfer-Encoding: chunked"], parts, size: wire.count)
        #expect(sent == wire)
        #expect(answer == Self.answer("new"))
        let request = recorded.request
        #expect(request.body?.arrival?.pieces.map(\.size) == [size, size, size, size])
        #expect(request.body?.arrival?.pieces.first?.line == "0\(String(size, radix: 16).uppercased());name=value")
        #expect(request.trailers?.first("t") == "1")
    }

    @Test func theTimesAreThoseOfTheClient() throws {
        // The pieces are slow enough to be distinguished, and only lower bounds are checked.
        let parts = ["1\r\na\r\n", "1\r\nb\r\n", "0\r\n\r\n"].map { Array($0.utf8) }
        let (sent, _, recorded) = try self.forwarded(["Transfer-Encoding: chunked", "Expect: 100-continue"], parts, size: 17)
        #expect(sent == parts.flatMap { $0 })
        let pieces = try #require(recorded.request.body?.arrival?.pieces)
        #expect(pieces.count == 2)
        let blocked = try #require(recorded.timing.blocked)
        #expect(pieces.allSatisfy { $0.at <= blocked }, "they came before the decision")
    }

    @Test func aClientGetsOnlyOne100() throws {
        let (sent, answer, recorded) = try self.forwarded(
            ["Content-Length: 5", "Expect: 100-continue"], [Array("hello".utf8)], size: 5)
        #expect(sent == Array("hello".utf8))
        #expect(answer == Self.answer("new"), "the origin's own 100 is kept, not passed on")
        #expect(recorded.interim.map(\.status) == [100])
    }

    @Test func anOriginThatIsGoneIsReported() throws {
        let (folder, origin) = try self.recorded("old")
        origin.stop()
        let proxy = try RunningProxy(.newEpisodes, in: folder)
        let answer = try self.ask(proxy.connect(), Self.post(origin, "new"))
        #expect(answer.hasPrefix("HTTP/1.1 502 "))
    }
}
