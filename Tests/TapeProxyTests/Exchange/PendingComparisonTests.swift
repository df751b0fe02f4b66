import CassetteModel
import CassettePlayback
import CassetteStore
import Testing
@testable import TapeProxy

@Suite struct PendingComparisonTests {
    /// Without a cassette nothing accepts the body, so the comparison comes from a session that has one.
    private func work(_ session: CassetteSession, _ origin: RawOrigin, _ body: String) throws -> PendingExchange.Comparison {
        let opening = session.begin(
            method: "POST", url: "http://\(origin.authority)/", headers: HeaderFields(["Content-Type: text/plain"]), hasBody: true)
        guard case .needsBody(let pending) = opening else { throw RawError("the head decided") }
        let work = PendingExchange.Comparison(session: session, pending: pending)
        Array(body.utf8).withUnsafeBytes { work.push($0) }
        return work
    }

    @Test func theCassetteIsReadOnceAndThenThereIsNoWait() throws {
        let origin = try RawOrigin { connection in
            for _ in 0..<2 {
                try connection.expectRequest("POST /")
                _ = try connection.read(count: 3)
                try connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            }
        }
        let live = try RunningProxy()
        let client = try live.connect()
        for body in ["one", "two"] {
            try client.send(origin.request("POST", "/", "Content-Type: text/plain", "Content-Length: 3", body: body))
            _ = try client.readMessage()
        }
        origin.finish()
        try live.stop()
        let session = try CassetteSession(mode: .none, cassette: RecordedCassette(path: live.folder.file("tape.json")))
        let first = try self.work(session, origin, "one")
        #expect(try first.decideUnasked().get() == nil)
        #expect(first.decideNow() == nil, "nobody has looked yet")
        #expect(try first.decide().get() == .replay(index: 0))
        let second = try self.work(session, origin, "two")
        #expect(second.decideNow() == .replay(index: 1))
    }
}
