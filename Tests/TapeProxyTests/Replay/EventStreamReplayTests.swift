import CassetteModel
import CassettePlayback
import TapeTestSupport
import Testing

@testable import TapeProxy

/// Event streams answered from a cassette, in memory, as transcripts.
@Suite struct EventStreamReplayTests {
    private static let cut = #"{ "cut": "client", "reason": "the client left" }"#

    /// A recorded stream.
    ///
    /// - Parameter after: the last event that its client had received.
    private static func stream(_ body: String, after: String? = nil, outcome: String = Self.cut) -> String {
        let asked = after.map { ", \"Last-Event-ID: \($0)\"" } ?? ""
        return """
            "request": { "method": "GET", "url": "http://h/events", "headers": ["Accept: text/event-stream"\(asked)] },
            "response": { "status": 200, "reason": "OK", "headers": ["Content-Type: text/event-stream", "Connection: close"],
              "body": { "size": \(body.utf8.count), "complete": false, "text": "\(body.replacing("\n", with: "\\n"))" } },
            "outcome": \(outcome), "timing": { "total": 100 }
            """
    }

    private func scene(
        _ streams: String..., mode: RecordMode = .none, repetition: Repetition = .never, order: ReplayOrder = .any
    ) throws -> (scene: ExchangeScene, session: CassetteSession, folder: TemporaryFolder) {
        let folder = try TemporaryFolder()
        let list = streams.enumerated().map { number, members in
            "    { \"id\": \(number + 1), \"started\": \"2026-11-21T04:00:0\(number).000000Z\", \(members) }"
        }
        let text = "{\n  \"wiretape\": 1,\n  \"interactions\": [\n\(list.joined(separator: ",\n"))\n  ]\n}\n"
        try folder.write(Array(text.utf8), to: "tape.json")
        let cassette = try RecordedCassette(path: folder.file("tape.json"))
        let session = try CassetteSession(mode: mode, cassette: cassette, repetition: repetition, order: order)
        return (try ExchangeScene(session, cassette: cassette), session, folder)
    }

    private static func get(after: String? = nil) -> String {
        "GET http://h/events HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\n\(after.map { "Last-Event-ID: \($0)\r\n" } ?? "")\r\n"
    }

    // MARK: Held open

    @Test func aStreamThatTheClientLeftStaysOpenAfterItsLastEvent() throws {
        let (scene, session, folder) = try self.scene(Self.stream("data: 1\n\n"))
        scene.client(Self.get())
        #expect(scene.heard() == ["client < HTTP/1.1 200 OK|Content-Type: text/event-stream|Connection: close||data: 1\n\n"])
        scene.advance(600)
        #expect(scene.heard().isEmpty)
        scene.clientEnds()
        #expect(scene.heard() == ["client closed"])
        #expect(session.verdict().flaws.isEmpty && session.verdict().hits == 1)
        withExtendedLifetime(folder) {}
    }

    /// The recorded client may have received more events than the recorder wrote.
    @Test func aStreamThatItsRecorderCutIsAMissForAClientThatStays() throws {
        let cut = #"{ "cut": "recorder", "reason": "the recorder ended before the conversation" }"#
        let (scene, session, folder) = try self.scene(Self.stream("data: 1\n\n", outcome: cut), Self.stream("data: 2\n\n", outcome: cut))
        scene.client(Self.get())
        #expect(scene.heard().first?.hasSuffix("||data: 1\n\n") == true)
        scene.clientEnds()
        #expect(scene.heard() == ["client closed"])
        #expect(session.verdict().misses == 0 && session.verdict().hits == 1)
        scene.connect()
        scene.client(Self.get())
        #expect(scene.heard().first?.hasSuffix("||data: 2\n\n") == true)
        scene.advance(600)
        #expect(scene.heard().last == "client 2 closed")
        let verdict = session.verdict()
        #expect(verdict.misses == 1 && verdict.hits == 1 && verdict.reports.first?.reason == .recorderEnded(index: 1))
        #expect(verdict.reports.first?.description.contains("was cut by the end of its recorder") == true)
        withExtendedLifetime(folder) {}
    }

    @Test func aLongStreamIsHeldOpenOnceItsClientHasTakenIt() throws {
        let (scene, _, folder) = try self.scene(Self.stream(String(repeating: "data: 123\n\n", count: 20_000)))
        scene.client(Self.get())
        _ = scene.heard()
        // The written bytes drain.
        scene.clientTakes(false)
        scene.clientTakes(true)
        scene.advance(600)
        #expect(scene.heard().isEmpty)
        withExtendedLifetime(folder) {}
    }

    @Test func aStreamThatTheOriginCutIsCut() throws {
        let (scene, _, folder) = try self.scene(
            Self.stream("data: 1\n\n", outcome: #"{ "cut": "origin", "reason": "the origin left" }"#))
        scene.client(Self.get())
        #expect(scene.heard().last == "client closed")
        withExtendedLifetime(folder) {}
    }

    @Test func aProxyThatStopsDoesNotWaitForAHeldStream() throws {
        let (scene, _, folder) = try self.scene(Self.stream("data: 1\n\n"))
        scene.client(Self.get())
        _ = scene.heard()
        scene.stop()
        #expect(scene.heard() == ["stopped", "client closed"])
        withExtendedLifetime(folder) {}
    }

    // MARK: Resumed

    @Test func lastEventIDSelectsTheFollowingStreamInAnyOrder() throws {
        let (scene, session, folder) = try self.scene(
            Self.stream("data: a1\n\n"), Self.stream("data: b1\n\n"), Self.stream("data: a2\n\n", after: "7"),
            Self.stream("data: b2\n\n", after: "9"))
        for (after, wanted) in [("9", "data: b2\n\n"), (nil, "data: a1\n\n"), ("7", "data: a2\n\n"), (nil, "data: b1\n\n")] {
            scene.client(Self.get(after: after))
            let heard = scene.heard()
            #expect(heard.first?.hasSuffix("||" + wanted) == true, "\(after ?? "none"): \(heard)")
            scene.connect()
        }
        #expect(session.verdict().misses == 0 && session.verdict().unused.isEmpty && session.verdict().hits == 4)
        withExtendedLifetime(folder) {}
    }

    @Test func anIdThatWasNotRecordedGoesByTheOrder() throws {
        let (scene, session, folder) = try self.scene(
            Self.stream("data: 1\n\n"), Self.stream("data: 2\n\n", after: "old-7"), Self.stream("data: 3\n\n", after: "old-8"))
        for (after, wanted) in [(nil, "data: 1\n\n"), ("new-7", "data: 2\n\n"), ("new-8", "data: 3\n\n")] {
            scene.client(Self.get(after: after))
            let heard = scene.heard()
            #expect(heard.first?.hasSuffix("||" + wanted) == true, "\(after ?? "none"): \(heard)")
            scene.connect()
        }
        scene.client(Self.get(after: "new-9"))
        #expect(scene.heard().first?.contains("424 Not In Cassette") == true)
        #expect(session.verdict().reports.first?.reason == .usedUp(count: 3))
        withExtendedLifetime(folder) {}
    }

    @Test func repeatedRequestGetsTheSameStream() throws {
        let (scene, session, folder) = try self.scene(
            Self.stream("data: 1\n\n"), Self.stream("data: 2\n\n", after: "7"), repetition: .last)
        for after in [nil, nil, "7", "7", nil] {
            scene.client(Self.get(after: after))
            let wanted = after == nil ? "data: 1\n\n" : "data: 2\n\n"
            #expect(scene.heard().first?.hasSuffix("||" + wanted) == true)
            scene.connect()
        }
        #expect(session.verdict().hits == 5 && session.verdict().repeatedHits == 3)
        withExtendedLifetime(folder) {}
    }

    @Test func aStrictOrderIsKept() throws {
        let (scene, session, folder) = try self.scene(
            Self.stream("data: 1\n\n"), Self.stream("data: 2\n\n", after: "7"), order: .strict)
        scene.client(Self.get(after: "7"))
        #expect(scene.heard().first?.hasSuffix("||data: 1\n\n") == true)
        #expect(session.verdict().orderViolations == 0)
        withExtendedLifetime(folder) {}
    }
}
