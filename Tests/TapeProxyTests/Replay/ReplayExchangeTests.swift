import CassetteModel
import CassettePlayback
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct ReplayExchangeTests {
    /// A folder with a cassette of these answers to `GET /`, and the origin that gave them, which accepts no more connections.
    private func recorded(_ answers: String..., closes: Bool = false) throws -> (folder: TemporaryFolder, origin: RawOrigin) {
        let all = answers
        let origin = try RawOrigin { connection in
            for answer in all {
                try connection.expectRequest("GET /")
                try connection.send(answer)
            }
        }
        let proxy = try RunningProxy()
        let client = try proxy.connect()
        for _ in answers {
            try client.send(origin.request())
            _ = try client.readMessage()
        }
        origin.finish()
        try proxy.stop()
        return (proxy.folder, origin)
    }

    private func answer(_ body: String) -> String { "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)" }

    private func ask(_ client: RawConnection, _ request: String) throws -> String {
        try client.send(request)
        return String(decoding: try client.readMessage(), as: UTF8.self)
    }

    // MARK: Modes

    @Test func equalRequestsGetTheirAnswersInOrderAndThenNoMore() throws {
        let (folder, origin) = try self.recorded(self.answer("one"), self.answer("two"))
        let replay = try RunningProxy(.once, in: folder)
        let client = try replay.connect()
        #expect(try self.ask(client, origin.request()).hasSuffix("one"))
        #expect(try self.ask(client, origin.request()).hasSuffix("two"))
        #expect(try self.ask(client, origin.request()).hasPrefix("HTTP/1.1 424 Not In Cassette\r\nWiretape-Error: miss\r\n"))
        #expect(try self.ask(client, origin.request("GET", "/other")).hasPrefix("HTTP/1.1 424 "))
        #expect(replay.server.counts.replayed == 2)
        #expect(replay.server.counts.misses == 2)
        #expect(origin.accepted == 1)
    }

    @Test func onceRecordsWhereThereIsNoCassette() throws {
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send(self.answer("live"))
        }
        let first = try RunningProxy(.once)
        #expect(try self.ask(first.connect(), origin.request()).hasSuffix("live"))
        origin.finish()
        try first.stop()
        let second = try RunningProxy(.once, in: first.folder)
        #expect(try self.ask(second.connect(), origin.request()).hasSuffix("live"))
        #expect(origin.accepted == 1)
    }

    @Test func newEpisodesReplaysRecordedExchangesAndRecordsTheRest() throws {
        let (folder, _) = try self.recorded(self.answer("old"))
        let url = try #require(try RecordedExchanges.read(folder.file("tape.json")).first?.request.url)
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /new")
            try connection.send(self.answer("new"))
        }
        let proxy = try RunningProxy(.newEpisodes, in: folder)
        let client = try proxy.connect()
        let old = url.dropFirst("http://".count).dropLast()
        #expect(try self.ask(client, "GET \(url) HTTP/1.1\r\nHost: \(old)\r\n\r\n").hasSuffix("old"))
        #expect(try self.ask(client, origin.request("GET", "/new")).hasSuffix("new"))
        origin.finish()
        let interactions = try proxy.recorded()
        #expect(interactions.map(\.id) == [1, 2])
        #expect(interactions.last?.request.url == "http://\(origin.authority)/new")
    }

    @Test func allForwardsInSpiteOfTheCassetteAndReplacesIt() throws {
        let (folder, _) = try self.recorded(self.answer("old"))
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /new")
            try connection.send(self.answer("new"))
        }
        let proxy = try RunningProxy(.all, in: folder)
        #expect(try self.ask(proxy.connect(), origin.request("GET", "/new")).hasSuffix("new"))
        origin.finish()
        #expect(try proxy.recorded().map(\.request.url) == ["http://\(origin.authority)/new"])
        #expect(try folder.names() == ["tape.json"])
    }

    @Test func passthroughLeavesTheCassetteAlone() throws {
        let (folder, _) = try self.recorded(self.answer("old"))
        let before = try folder.read("tape.json")
        let origin = try RawOrigin { connection in
            try connection.expectRequest("GET /")
            try connection.send(self.answer("live"))
        }
        let proxy = try RunningProxy(.passthrough, in: folder)
        #expect(try self.ask(proxy.connect(), origin.request()).hasSuffix("live"))
        origin.finish()
        try proxy.stop()
        #expect(try folder.read("tape.json") == before)
    }

    // MARK: Contents of the cassette

    @Test func anEditedBodyBringsItsLength() throws {
        let (folder, origin) = try self.recorded(self.answer("short"))
        let text = String(decoding: try folder.read("tape.json"), as: UTF8.self)
        try folder.write(Array(text.replacing("\"short\"", with: "\"rather longer\"").utf8), to: "tape.json")
        let replay = try RunningProxy(.none, in: folder)
        #expect(try self.ask(replay.connect(), origin.request()) == self.answer("rather longer"))
    }

    /// A replay of one answer, the file of whose body has changed since.
    private func damaged(size: Int) throws -> (replay: RunningProxy, origin: RawOrigin) {
        let body = String(repeating: "sidecar ", count: size / 8)
        let (folder, origin) = try self.recorded(
            "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let name = try #require(try folder.names(in: "tape.bodies").first)
        let whole = try RunningProxy(.none, in: folder)
        #expect(try self.ask(whole.connect(), origin.request()).hasSuffix(body))
        try whole.stop()
        var bytes = try folder.read("tape.bodies/\(name)")
        bytes[bytes.count - 10] ^= 1
        try folder.write(bytes, to: "tape.bodies/\(name)")
        return (try RunningProxy(.none, in: folder), origin)
    }

    @Test(arguments: [100_000, 700_000]) func aDamagedSidecarIsNeverDeliveredAsWhole(size: Int) throws {
        let (replay, origin) = try self.damaged(size: size)
        let client = try replay.connect()
        try client.send(origin.request("GET", "/", "Connection: close"))
        let (received, _) = try client.readToEnd()
        let text = String(decoding: received, as: UTF8.self)
        if text.hasPrefix("HTTP/1.1 500 Cassette Unreadable\r\nWiretape-Error: cassette\r\n") { return }
        #expect(text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(received.count < size)
    }

    @Test(arguments: [100_000, 700_000]) func aDamagedSidecarIsNoHit(size: Int) throws {
        let (replay, origin) = try self.damaged(size: size)
        let client = try replay.connect()
        try client.send(origin.request("GET", "/", "Connection: close"))
        _ = try client.readToEnd()
        let (verdict, counts) = (replay.session.verdict(), replay.server.counts)
        #expect(verdict.hits == 0 && verdict.unserved == 1 && verdict.flaws == [.unserved])
        #expect(counts.unreadable == 1 && counts.firstUnreadable != nil)
    }

    @Test func nothingIsAnsweredAfterADamagedBody() throws {
        let (replay, origin) = try self.damaged(size: 700_000)
        let client = try replay.connect()
        try client.send(origin.request() + origin.request("GET", "/", "Connection: close"))
        let received = try client.readToEnd().bytes
        #expect(!String(decoding: received, as: UTF8.self).contains("424 Not In Cassette"), "it was taken for the body's rest")
    }

    @Test func aMissingSidecarIsReported() throws {
        let body = String(repeating: "x", count: 100_000)
        let (folder, origin) = try self.recorded("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 100000\r\n\r\n\(body)")
        let name = try #require(try folder.names(in: "tape.bodies").first)
        try folder.write([], to: "tape.bodies/\(name)")
        let replay = try RunningProxy(.none, in: folder)
        #expect(
            try self.ask(replay.connect(), origin.request()).hasPrefix("HTTP/1.1 500 Cassette Unreadable\r\nWiretape-Error: cassette\r\n"))
    }

    @Test func pipelinedReplaysComeInOrder() throws {
        let (folder, origin) = try self.recorded(self.answer("1"), self.answer("2"), self.answer("3"))
        let replay = try RunningProxy(.none, in: folder)
        let client = try replay.connect()
        try client.send(origin.request() + origin.request() + origin.request())
        let texts = try (0..<3).map { _ in String(decoding: try client.readMessage(), as: UTF8.self) }
        #expect(texts == [self.answer("1"), self.answer("2"), self.answer("3")])
    }
}
