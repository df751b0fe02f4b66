import CassetteModel
import CassettePlayback
import CassetteStore
import TapeTestSupport
import Testing
@testable import TapeProxy

/// A client that leaves before its answer counts as unanswered.
@Suite struct AbandonedReplayTests {
    private static let cut = #","outcome": { "cut": "client", "reason": "client left" }"#
    private static let request = "GET http://h.test/ HTTP/1.1\r\nHost: h.test\r\n\r\n"

    private func replay(latency: Latency, outcome: String = "", response: String = #"{ "status": 204 }"#) throws -> RunningProxy {
        let folder = try TemporaryFolder()
        let text = """
            {
              "wiretape": 1,
              "interactions": [
                {
                  "id": 1,
                  "started": "2026-11-21T04:00:00.000000Z",
                  "request": { "method": "GET", "url": "http://h.test/" },
                  "response": \(response)\(outcome)
                }
              ]
            }

            """
        try folder.write(Array(text.utf8), to: "tape.json")
        return try RunningProxy(.none, in: folder) { $0.latency = latency }
    }

    /// Leaves, and waits until the proxy has noticed.
    private func leave(_ replay: RunningProxy) throws {
        let client = try replay.connect()
        try client.send(Self.request)
        client.closeOutput()
        _ = try client.readToEnd()
    }

    @Test func clientThatLeavesBeforeTheAnswerIsNoHit() throws {
        let replay = try self.replay(latency: .fixed(600_000))
        try self.leave(replay)
        try replay.stop()
        let verdict = replay.session.verdict()
        #expect(verdict.hits == 0 && verdict.flaws.contains(.unserved) && verdict.unused == [0])
        #expect(verdict.unservedAnswers.first?.problem.hasPrefix("the client left before the answer began") == true)
    }

    @Test func clientThatLeavesLikeTheRecordedOneIsAHit() throws {
        let replay = try self.replay(latency: .fixed(600_000), outcome: Self.cut)
        try self.leave(replay)
        try replay.stop()
        #expect(replay.session.verdict().flaws.isEmpty)
    }

    private typealias Busy = (begun: Gate, released: Gate)

    /// Nothing is read until each thread is released.
    private func occupy(_ disk: WorkPool, of loops: ServerLoops) throws -> [Busy] {
        let threads: [Busy] = (0..<WorkPool.threadCount).map { _ in (Gate("a thread is busy"), Gate("the client has left")) }
        for (begun, released) in threads {
            _ = disk.run(on: loops.first) {
                begun.open()
                try released.wait()
            }
            try begun.wait()
        }
        return threads
    }

    @Test func anAnswerUnreadBeforeTheStopIsAHitToo() throws {
        let replay = try self.replay(latency: .fixed(600_000), outcome: Self.cut)
        let loops = replay.server.loops
        let disk = try #require(try loops.loops.map { $0.disk }.first)
        let threads = try self.occupy(disk, of: loops)
        try self.leave(replay)
        // The queue is dropped first, and then the threads continue.
        disk.run(on: loops.first) {}.whenFailure { _ in for thread in threads { thread.released.open() } }
        try replay.stop()
        #expect(replay.session.verdict().flaws.isEmpty)
    }

    /// Whether the client leaves before or after the damage is found.
    @Test func clientThatLeavesAnUnreadableAnswerIsNoHit() throws {
        let body = #"{ "size": 3, "file": "tape.bodies/\#(String(repeating: "a", count: 64)).bin" }"#
        let replay = try self.replay(
            latency: .fixed(600_000), outcome: Self.cut, response: #"{ "status": 200, "headers": ["Content-Length: 3"], "body": \#(body) }"#
        )
        let loops = replay.server.loops
        let disk = try #require(try loops.loops.map { $0.disk }.first)
        let threads = try self.occupy(disk, of: loops)
        try self.leave(replay)
        for thread in threads { thread.released.open() }
        // Comes after the answer.
        try disk.run(on: loops.first) {}.wait()
        try replay.stop()
        #expect(replay.session.verdict().flaws.contains(.unserved))
    }

    @Test func clientThatLeavesAfterTheAnswerIsAHit() throws {
        let replay = try self.replay(latency: .none)
        let client = try replay.connect()
        try client.send(Self.request)
        _ = try client.read(through: "\r\n\r\n")
        client.closeOutput()
        _ = try client.readToEnd()
        #expect(replay.session.verdict().hits == 1 && replay.session.verdict().flaws.isEmpty)
    }

    @Test func retryOfALeftRequestGetsTheAnswer() throws {
        let replay = try self.replay(latency: .fixed(600_000))
        try self.leave(replay)
        try replay.stop()
        let opening = replay.session.begin(method: "GET", url: "http://h.test/", headers: HeaderFields(["Host: h.test"]))
        guard case .decided(.replay(index: 0, _)) = opening else { throw RawError("\(opening) is no replay") }
        let verdict = replay.session.verdict()
        #expect(verdict.hits == 1 && verdict.flaws.isEmpty && verdict.unused.isEmpty)
    }
}
