import CassettePlayback
import CassetteTools
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore

/// Exchanges whose bodies were recorded in pieces by a recorder that was killed.
@Suite struct JournalBodiesTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private static func head(_ fields: [String]) -> Interaction {
        Interaction(
            id: 2, started: Timestamp(microseconds: 1_795_262_400_000_000),
            request: RecordedRequest(method: "POST", url: "http://pets.test/watch", headers: HeaderFields(["Host: pets.test"])),
            response: RecordedResponse(status: 200, reason: Array("OK".utf8), headers: HeaderFields(fields)))
    }

    private func killed(_ lines: [String], fields: [String] = ["Content-Type: text/event-stream"]) throws {
        try CassetteAppender.create(self.path, recorder: "test").append([ConversationFixtures.text(.care(1))])
        let journal = try BodyStore(cassettePath: self.path).makeJournal(
            id: 2, head: ConversationFixtures.text(Self.head(fields)), form: .body, cassettePath: self.path, digest: PortableSHA256())
        for line in lines { try journal.append(Array((line + "\n").utf8), count: 1) }
    }

    private func recovered() throws -> Interaction {
        let appender = try CassetteAppender.open(self.path, recorder: "test")
        #expect(try JournalRecovery.run(appender, BodyStore(cassettePath: self.path)).added == [2])
        #expect(try self.folder.names(in: "pets.bodies").allSatisfy { SidecarName($0) != nil })
        try CassetteVerifier(path: self.path).run { #expect(Bool(false), "\($0)") }
        return try #require(try RecordedExchanges.read(self.path).last)
    }

    private func bytes(_ body: Body?) throws -> [UInt8] {
        try BodyReader(cassettePath: self.path).wireBytes(of: #require(body), digest: { PortableSHA256() }).bytes
    }

    @Test func eventsAreReadAsFarAsTheyCame() throws {
        try self.killed([
            #"{ "at": 0, "from": "client", "text": "{\"a\": 1}" }"#, #"{ "at": 1, "from": "client", "end": true }"#,
            #"{ "at": 2.5, "from": "server", "text": "data: one\n\nda" }"#,
            #"{ "at": 900, "from": "server", "base64": "dGE6IHR3bwoKZA==" }"#,
        ])
        let view = try RecordedCassette(path: self.path).interaction(at: 1)
        let exchange = try self.recovered()
        #expect(view == exchange)
        #expect(try self.bytes(exchange.request.body) == Array("{\"a\": 1}".utf8))
        #expect(exchange.request.body?.isComplete == true)
        let body = try #require(exchange.response?.body)
        #expect(try self.bytes(body) == Array("data: one\n\ndata: two\n\nd".utf8))
        guard case .events(let events) = body.content else { return #expect(Bool(false), "\(body.content)") }
        #expect(events.events.count == 2 && !body.isComplete)
        #expect(body.arrival?.pieces == [Arrival.Piece(at: 2.5, size: 13), Arrival.Piece(at: 900, size: 10)])
        guard case .cut(let cut) = exchange.outcome else { return #expect(Bool(false)) }
        #expect(cut.by == .recorder)
    }

    @Test func bodiesOfWhichNothingCameAreAbsent() throws {
        try self.killed([])
        let exchange = try self.recovered()
        #expect(exchange.request.body == nil && exchange.response?.body == nil)
    }

    @Test func aLongOneIsAFile() throws {
        let event = "data: " + String(repeating: "x", count: 4000) + "\\n\\n"
        try self.killed((0..<500).map { #"{ "at": \#($0), "from": "server", "text": "\#(event)" }"# })
        let view = try RecordedCassette(path: self.path).interaction(at: 1)
        #expect(try #require(view.response?.body).size < JournalBodies.shownLimit, "a view reads as much as fits")
        let exchange = try self.recovered()
        let body = try #require(exchange.response?.body)
        #expect(body.size == 500 * 4008 && body.content.sidecars.count == 1)
        #expect(try self.bytes(body).count == body.size)
    }

    @Test(arguments: [#"{ "at": 1, "from": "server" }"#, #"{ "from": "server", "text": "a" }"#, #"{ "at": 1, "from": "me", "text": "a" }"#])
    func aLineThatIsNoPieceLeavesTheJournal(line: String) throws {
        try self.killed([#"{ "at": 0, "from": "server", "text": "a" }"#, line])
        let appender = try CassetteAppender.open(self.path, recorder: "test")
        let outcome = try JournalRecovery.run(appender, BodyStore(cassettePath: self.path))
        #expect(outcome.added.isEmpty && outcome.notices.count == 1 && outcome.lastID == 2)
        #expect(try self.folder.names(in: "pets.bodies") == ["open-2.json", "open-2.jsonl"])
    }
}
