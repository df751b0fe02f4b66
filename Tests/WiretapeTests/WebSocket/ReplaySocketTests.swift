import CassetteModel
import CassettePlayback
import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct ReplaySocketTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    private func session(_ interactions: String..., settings: Cassette.Settings = Cassette.Settings()) throws -> (HTTPSession, Cassette) {
        let cassette = try SocketFixture.cassette(interactions, in: self.folder, settings: settings)
        return (HTTPSession.patient(cassette), cassette)
    }

    private static let subscription = SocketFixture.socket(
        #"{ "at": 1, "from": "server", "text": "hello" }"#,
        #"{ "at": 5, "from": "client", "json": { "op": "subscribe", "to": ["cats"] } }"#,
        #"{ "at": 7, "from": "server", "json": { "cat": "Miso" } }"#,
        #"{ "at": 8, "from": "server", "ping": "" }"#,
        #"{ "at": 9, "from": "server", "base64": "AAEC" }"#,
        #"{ "at": 12, "from": "server", "close": { "code": 1001, "reason": "restart" } }"#)

    @Test func aRecordedConversationIsReplayed() async throws {
        let (session, cassette) = try self.session(Self.subscription)
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(socket.response.status == 101)
        #expect(socket.response.source == .replayed(cassette: cassette.path, id: 1))
        #expect(try await socket.receive() == .text("hello"))
        try await socket.send(#"{"to": ["cats"], "op": "subscribe"}"#)
        #expect(try await socket.rest() == [#"{"cat":"Miso"}"#, "3 bytes", "close 1001"])
        #expect(socket.closeReason == "restart")
        #expect(try await socket.receive() == nil)
        let verdict = cassette.verdict
        #expect(verdict.hits == 1 && verdict.misses == 0 && verdict.unsent == 0 && verdict.unused.isEmpty)
    }

    @Test func aMessageThatDiffersIsAMissWithItsDifference() async throws {
        let (session, cassette) = try self.session(Self.subscription)
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(try await socket.receive() == .text("hello"))
        let error = await socketError { try await socket.send(#"{"op": "subscribe", "to": ["dogs"]}"#) }
        #expect(error?.code == .noMatch)
        #expect(error?.missReport?.nearest.first?.index == 0)
        #expect(error?.message.contains("dogs") == true)
        // Not the server's answer to the other message.
        #expect(await socketError { _ = try await socket.receive() }?.code == .noMatch)
        #expect(socket.isClosed)
        #expect(cassette.verdict.misses == 1)
        #expect(try cassette.close().failures.count == 1)
    }

    private static var ignoringIds: Cassette.Settings {
        var settings = Cassette.Settings()
        settings.ignore = ["json:/id"]
        return settings
    }

    @Test func theServerRepeatsTheClientsOwnId() async throws {
        let (session, cassette) = try self.session(
            SocketFixture.socket(
                #"{ "at": 1, "from": "client", "json": { "id": "recorded", "type": "subscribe" } }"#,
                #"{ "at": 2, "from": "server", "json": { "id": "recorded", "type": "next", "of": "recorded" } }"#,
                #"{ "at": 3, "from": "server", "json": { "id": "another" } }"#,
                #"{ "at": 4, "from": "client", "close": {} }"#), settings: Self.ignoringIds)
        let socket = try await session.webSocket(SocketFixture.url)
        try await socket.send(#"{"type": "subscribe", "id": "live"}"#)
        #expect(try await socket.receive() == .text(#"{"id":"live","type":"next","of":"recorded"}"#))
        #expect(try await socket.receive() == .text(#"{"id":"another"}"#))
        await socket.close()
        #expect(cassette.verdict.misses == 0 && cassette.verdict.unsent == 0)
    }

    @Test func aMessageInAFileRepeatsTheClientsOwnId() async throws {
        let text = #"{"id":"recorded","of":"\#(String(repeating: "x", count: 70_000))"}"#
        let path = self.folder.file("long.json")
        let settings = Self.ignoringIds
        func use(_ session: HTTPSession, id: String) async throws -> String? {
            let socket = try await session.webSocket(SocketFixture.url)
            try await socket.send(#"{"id": "\#(id)"}"#)
            return try await socket.receive()?.text
        }
        let recording = try Cassette(path, mode: .once, settings: settings)
        let server = StubResponse.webSocket { socket in
            _ = try await socket.receive()
            try await socket.send(text)
        }
        #expect(
            try await use(HTTPSession(transport: RecordingTransport(recording, around: StubTransport([server]))), id: "recorded") == text)
        try recording.close()
        let cassette = try Cassette(path, settings: settings)
        #expect(try await use(HTTPSession.patient(cassette), id: "mine") == text.replacing("recorded", with: "mine"))
    }

    @Test func secondClientOfTheLastConversationGetsAMiss() async throws {
        var settings = Cassette.Settings()
        settings.latency = .fixed(2000)
        let cassette = try SocketFixture.cassette([Self.subscription], in: self.folder, settings: settings)
        let clock = ManualClock()
        let session = HTTPSession(transport: ReplayTransport(cassette, clock: clock))
        // Both get the opening, and then wait until it is due.
        async let first = session.webSocket(SocketFixture.url)
        async let second = session.webSocket(SocketFixture.url)
        await clock.sleepers(2)
        clock.advance(by: .seconds(2))
        var errors: [WiretapeError] = []
        do { _ = try await first } catch { errors.append(error as? WiretapeError ?? .cancelled) }
        do { _ = try await second } catch { errors.append(error as? WiretapeError ?? .cancelled) }
        #expect(errors.map(\.code) == [.noMatch])
        #expect(cassette.verdict.misses == 1 && cassette.verdict.hits == 1)
    }

    @Test func messagesOfSeveralTasksMayComeInAnyOrder() async throws {
        var settings = Cassette.Settings()
        settings.conversation = .any
        let (session, cassette) = try self.session(
            SocketFixture.socket(
                #"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 2, "from": "client", "text": "b" }"#,
                #"{ "at": 3, "from": "server", "text": "both" }"#, #"{ "at": 4, "from": "client", "close": {} }"#), settings: settings)
        let socket = try await session.webSocket(SocketFixture.url)
        try await socket.send("b")
        try await socket.send("a")
        #expect(try await socket.receive() == .text("both"))
        await socket.close()
        #expect(cassette.verdict.misses == 0 && cassette.verdict.unsent == 0)
    }

    @Test func oneMessageTooManyIsAMiss() async throws {
        let (session, cassette) = try self.session(
            SocketFixture.socket(
                #"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 2, "from": "server", "text": "b" }"#,
                #"{ "at": 3, "from": "client", "close": { "code": 1000 } }"#))
        let socket = try await session.webSocket(SocketFixture.url)
        try await socket.send("a")
        #expect(try await socket.receive() == .text("b"))
        #expect(await socketError { try await socket.send("c") }?.code == .noMatch)
        #expect(cassette.verdict.misses == 1)
    }

    @Test func textAndBinaryMessagesAreNotEqual() async throws {
        let (session, _) = try self.session(SocketFixture.socket(#"{ "at": 1, "from": "client", "text": "a" }"#))
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(await socketError { try await socket.send(Data("a".utf8)) }?.code == .noMatch)
    }

    @Test func unsentMessagesAreCounted() async throws {
        let recorded = SocketFixture.socket(
            #"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 2, "from": "client", "text": "b" }"#,
            #"{ "at": 3, "from": "client", "close": {} }"#)
        let (session, cassette) = try self.session(recorded)
        func use() async throws {
            let socket = try await session.webSocket(SocketFixture.url)
            try await socket.send("a")
        }
        // Released without a close.
        try await use()
        #expect(cassette.verdict.unsent == 1)
        let (second, other) = try self.session(recorded)
        let socket = try await second.webSocket(SocketFixture.url)
        try await socket.send("a")
        await socket.close()
        #expect(other.verdict.unsent == 0 && other.verdict.misses == 1)
        #expect(other.verdict.reports.first?.nearest.first?.differences == [.messagesMissing(sent: 1, recorded: 2)])
    }

    @Test func closingTheCassetteEndsOpenExchanges() async throws {
        let (session, cassette) = try self.session(
            SocketFixture.socket(#"{ "at": 1, "from": "server", "text": "a" }"#, #"{ "at": 2, "from": "client", "text": "b" }"#))
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(try await socket.receive() == .text("a"))
        try cassette.close()
        #expect(cassette.verdict.unsent == 1)
        #expect(await socketError { _ = try await socket.receive() }?.isCancelled == true)
        #expect(await socketError { _ = try await session.webSocket(SocketFixture.url) }?.code == .unserved)
    }

    @Test func aServerThatBrokeOffDoesSoAgain() async throws {
        let (session, _) = try self.session(
            SocketFixture.socket(
                outcome: #"{ "cut": "origin", "reason": "the origin ended its side" }"#, #"{ "at": 1, "from": "server", "text": "a" }"#))
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(try await socket.receive() == .text("a"))
        #expect(await socketError { _ = try await socket.receive() }?.networkFailure == .truncated)
    }

    @Test func serverIsSilentAfterTheRecordedClientLeftUntilThisOneCloses() async throws {
        let (session, cassette) = try self.session(
            SocketFixture.socket(
                outcome: #"{ "cut": "client", "reason": "the client left" }"#, #"{ "at": 1, "from": "server", "text": "a" }"#))
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(try await socket.receive() == .text("a"))
        async let silence = socket.receive()
        await socket.close(code: .goingAway, reason: "bye")
        #expect(try await silence == nil)
        #expect(socket.closeCode == .goingAway && socket.closeReason == "bye")
        #expect(cassette.verdict.unsent == 0 && cassette.verdict.misses == 0)
    }

    @Test func conversationsOfOneURLAreDistinguishedByTheirMessages() async throws {
        let (session, cassette) = try self.session(
            SocketFixture.socket(
                id: 1, #"{ "at": 1, "from": "client", "text": "cats" }"#, #"{ "at": 2, "from": "server", "text": "Miso" }"#),
            SocketFixture.socket(id: 2, #"{ "at": 1, "from": "client", "text": "dogs" }"#, #"{ "at": 2, "from": "server", "text": "Rex" }"#)
        )
        let (dogs, cats) = (try await session.webSocket(SocketFixture.url), try await session.webSocket(SocketFixture.url))
        try await dogs.send("dogs")
        try await cats.send("cats")
        #expect(try await dogs.receive() == .text("Rex"))
        #expect(try await cats.receive() == .text("Miso"))
        #expect(cassette.verdict.unused.isEmpty)
        // Both are used up.
        #expect(await socketError { _ = try await session.webSocket(SocketFixture.url) }?.code == .noMatch)
    }

    @Test func aSubprotocolIsChosenOnlyIfItIsOffered() async throws {
        let recorded = SocketFixture.socket(protocol: "v2", #"{ "at": 1, "from": "server", "text": "a" }"#)
        let (session, _) = try self.session(recorded)
        #expect(try await session.webSocket(SocketFixture.url, protocols: ["v1", "v2"]).negotiatedProtocol == "v2")
        let (second, _) = try self.session(recorded)
        #expect(try await second.webSocket(SocketFixture.url).negotiatedProtocol == nil)
    }

    @Test func anotherURLIsAMiss() async throws {
        let (session, cassette) = try self.session(Self.subscription)
        let error = await socketError { _ = try await session.webSocket("wss://pets.test/other") }
        #expect(error?.code == .noMatch)
        #expect(error?.message.contains("https://pets.test/other") == true)
        #expect(cassette.verdict.misses == 1 && cassette.verdict.unused == [0])
    }

    @Test func aRecordedRefusalIsTheAnswer() async throws {
        let (session, cassette) = try self.session(SocketFixture.refusal(status: 401, body: "who are you?"), Self.subscription)
        let error = await socketError { _ = try await session.webSocket(SocketFixture.url) }
        #expect(error?.code == .validation)
        let cause = try #require(error?.cause as? ValidationError)
        #expect(cause.status == 401 && cause.data == Data("who are you?".utf8))
        #expect(error?.message.contains("\"wss://pets.test/talk\" answered with the status 401") == true)
        #expect(try await session.webSocket(SocketFixture.url).receive() == .text("hello"))
        #expect(cassette.verdict.hits == 2)
    }

    @Test func aTaskThatIsCancelledEndsItsSocket() async throws {
        let (session, cassette) = try self.session(
            SocketFixture.socket(#"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 2, "from": "server", "text": "b" }"#))
        let socket = try await session.webSocket(SocketFixture.url)
        let reader = Task { await socketError { _ = try await socket.receive() } }
        reader.cancel()
        #expect(await reader.value?.isCancelled == true)
        #expect(socket.isClosed)
        #expect(await socketError { try await socket.send("a") }?.isCancelled == true)
        #expect(cassette.verdict.unsent == 1)
    }

    @Test func latencyIsWaitedForByTheTransportsClock() async throws {
        var settings = Cassette.Settings()
        settings.latency = .scaled(1)
        let cassette = try SocketFixture.cassette(
            [SocketFixture.socket(#"{ "at": 1, "from": "client", "text": "a" }"#, #"{ "at": 501, "from": "server", "text": "b" }"#)],
            in: self.folder, settings: settings)
        let clock = ManualClock()
        let socket = try await HTTPSession(transport: ReplayTransport(cassette, clock: clock)).webSocket(SocketFixture.url)
        try await socket.send("a")
        async let message = socket.receive()
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(500))
        #expect(try await message == .text("b"))
    }

    @Test func theOpeningWaitsAsTheRecordedOneDid() async throws {
        for latency in [Latency.scaled(2), .fixed(400)] {
            var settings = Cassette.Settings()
            settings.latency = latency
            let recorded = SocketFixture.socket(#"{ "at": 200, "from": "server", "text": "a" }"#)
                .replacing("\"wait\": 0", with: "\"wait\": 200")
            let cassette = try SocketFixture.cassette([recorded], in: self.folder, settings: settings)
            let clock = ManualClock()
            let session = HTTPSession(transport: ReplayTransport(cassette, clock: clock))
            async let socket = session.webSocket(SocketFixture.url)
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(400))
            #expect(try await socket.receive() == .text("a"))
        }
    }

    @Test func aMessageThatCouldNotBeReadIsNotServed() async throws {
        let (session, cassette) = try self.session(
            SocketFixture.socket(
                #"{ "at": 1, "from": "server", "text": "ha", "complete": false, "deflated": true, "note": "given up" }"#,
                #"{ "at": 2, "from": "server", "text": "more" }"#))
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(await socketError { _ = try await socket.receive() }?.code == .unserved)
        #expect(cassette.verdict.unserved == 1 && cassette.verdict.hits == 0)
    }

    @Test func messageThatDiffersFromAllIsAMissInNewEpisodes() async throws {
        let path = try SocketFixture.cassette(
            [
                SocketFixture.socket(id: 1, #"{ "at": 1, "from": "client", "text": "cats" }"#),
                SocketFixture.socket(id: 2, #"{ "at": 1, "from": "client", "text": "dogs" }"#),
            ], in: self.folder
        ).path
        let cassette = try Cassette(path, mode: .newEpisodes)
        let session = HTTPSession.patient(cassette)
        let socket = try await session.webSocket(SocketFixture.url)
        #expect(await socketError { try await socket.send("birds") }?.code == .noMatch)
        #expect(cassette.verdict.misses == 1 && cassette.verdict.forwarded == 0)
    }

    @Test func latencyEndsWithItsSocket() async throws {
        var settings = Cassette.Settings()
        settings.latency = .scaled(1)
        let cassette = try SocketFixture.cassette(
            [SocketFixture.socket(#"{ "at": 5000, "from": "server", "text": "b" }"#)], in: self.folder, settings: settings)
        let clock = ManualClock()
        let socket = try await HTTPSession(transport: ReplayTransport(cassette, clock: clock)).webSocket(SocketFixture.url)
        async let message = socket.receive()
        await clock.sleepers(1)
        await socket.close()
        #expect(try await message == nil)
    }

    @Test func fiftyConcurrentSocketsAreDistinguished() async throws {
        let recorded = (1...50).map { number in
            SocketFixture.socket(
                id: number, #"{ "at": 1, "from": "client", "json": { "room": \#(number) } }"#,
                #"{ "at": 2, "from": "server", "text": "welcome to \#(number)" }"#, #"{ "at": 3, "from": "client", "text": "bye" }"#,
                #"{ "at": 4, "from": "server", "close": { "code": 1000 } }"#)
        }
        let cassette = try SocketFixture.cassette(recorded, in: self.folder)
        let session = HTTPSession.patient(cassette)
        try await withThrowingTaskGroup(of: (Int, [String]).self) { group in
            for number in (1...50).reversed() {
                group.addTask {
                    let socket = try await session.webSocket(SocketFixture.url)
                    try await socket.send(#"{"room":\#(number)}"#)
                    let first = try await socket.receive()
                    try await socket.send("bye")
                    return (number, [first?.text ?? "nothing"] + (try await socket.rest()))
                }
            }
            for try await (number, lines) in group { #expect(lines == ["welcome to \(number)", "close 1000"]) }
        }
        let verdict = cassette.verdict
        #expect(verdict.hits == 50 && verdict.misses == 0 && verdict.unused.isEmpty && verdict.unsent == 0)
    }
}
