import CassetteModel
import CassetteStore
import LocalHTTP
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing

@Suite struct OpenRowsTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    /// The text of an exchange with an open WebSocket.
    private func head(_ id: Int) -> [UInt8] {
        Array(
            """
                { "id": \(id), "started": "2026-11-25T12:00:00.00000\(id)Z", "request": { "method": "GET", "url": "http://a/talk/\(id)", \
            "version": "HTTP/1.1", "headers": ["Host: a", "Upgrade: websocket"] }, "response": { "status": 101, "reason": "Switching Protocols", \
            "version": "HTTP/1.1", "headers": ["Upgrade: websocket"] } }
            """.utf8)
    }

    private func journal(_ id: Int, _ messages: [String]) throws -> ConversationJournal {
        let journal = try BodyStore(cassettePath: self.path).makeJournal(
            id: id, head: self.head(id), form: .webSocket, cassettePath: self.path, digest: PortableSHA256())
        try self.add(messages, to: journal)
        return journal
    }

    private func add(_ messages: [String], to journal: ConversationJournal) throws {
        let lines = messages.map { "{ \"at\": 1, \"from\": \"server\", \"text\": \"\($0)\" }\n" }.joined()
        try journal.append(Array(lines.utf8), count: messages.count)
    }

    private func service(_ interactions: [Interaction], run: InspectedRun? = nil) throws -> InspectorService {
        try RecordedExchanges.write(interactions, to: self.path)
        let cassette = try InspectedCassette(path: self.path)
        while !cassette.moment.isIndexed { _ = cassette.refresh() }
        return InspectorService(cassette: cassette, run: run)
    }

    private func ask(_ service: InspectorService, _ path: String) throws -> (status: Int, body: [UInt8]) {
        switch service.answer(LocalRequest(method: "GET", path: path, query: "", body: [])) {
        case .whole(let answer): return (answer.status, answer.body)
        case .stream(let stream):
            var bytes: [UInt8] = []
            while let piece = try stream.next() { bytes += piece }
            return (stream.head.status, bytes)
        }
    }

    private func json(_ service: InspectorService, _ path: String) throws -> JSONValue {
        try JSONDocument(self.ask(service, path).body).root
    }

    @Test func exchangesOfAnotherProcessAreOpen() throws {
        let service = try self.service([.sample(1)])
        #expect(try self.json(service, "/api/state")["open"]?.int == 0)
        let journals = [try self.journal(2, ["one", "two"]), try self.journal(3, [])]
        service.open.look(besides: service.cassette.moment.rows)
        let state = try self.json(service, "/api/state")
        #expect(state["open"]?.int == 2 && state["openMessages"]?.int == 2 && state["rows"]?.int == 1)
        let open = try self.json(service, "/api/open")
        #expect(open["count"]?.int == 2 && open["open"]?.elements.map { $0["url"]?.string } == ["http://a/talk/2", "http://a/talk/3"])
        #expect(open["open"]?.elements.map { $0["messages"]?.int } == [2, 0])
        withExtendedLifetime(journals) {}
    }

    @Test func anOpenExchangeIsShownAsFarAsItWasRecorded() throws {
        let service = try self.service([.sample(1)])
        let journal = try self.journal(2, ["one"])
        #expect(try self.json(service, "/api/open/2")["webSocket"]?.int == 1)
        try self.add(["two"], to: journal)
        let messages = try self.json(service, "/api/open/2/messages")
        #expect(messages["messages"]?.elements.map { $0["text"]?.string } == ["one", "two"], "read anew each time")
        #expect(try self.ask(service, "/api/open/2/messages/2").body == Array("two".utf8))
        #expect(try self.json(service, "/api/open/2/text")["id"]?.int == 2)
        for path in ["/api/open/9", "/api/open/x", "/api/open/2/nonsense", "/api/open/2/request/parts", "/api/open/2/messages/9"] {
            #expect(try self.ask(service, path).status == 404, "\(path)")
        }
    }

    @Test func exchangeInTheCassetteIsNotOpen() throws {
        // A recorder that is killed between writing an exchange and removing its journal leaves both.
        let started = try #require(Timestamp("2026-11-25T12:00:00.000002Z"))
        var ended = Interaction.sample(2)
        ended.started = started
        let service = try self.service([.sample(1), ended])
        let journal = try self.journal(2, [])
        service.open.look(besides: service.cassette.moment.rows)
        #expect(try self.json(service, "/api/open")["count"]?.int == 0)
        #expect(try self.json(service, "/api/open/2")["ended"]?.int == 2)
        withExtendedLifetime(journal) {}
    }

    @Test func endedExchangeIsFoundInTheCassette() throws {
        let open = OpenExchanges()
        for id in [7, 8] { open.began(id: id, started: Timestamp(microseconds: 0), method: "GET", url: "http://a/slow") }
        let service = try self.service(
            [.sample(1), .sample(7)], run: InspectedRun(command: "record", name: "pets.json", counts: { .init() }, report: nil, open: open))
        func words(_ id: Int) throws -> String { String(decoding: try self.ask(service, "/api/open/\(id)").body, as: UTF8.self) }
        #expect(try words(7).contains("is still open"), "its row may come before the recorder has said so")
        open.recorded([7])
        open.discarded(id: 8)
        #expect(try self.json(service, "/api/open/7")["ended"]?.int == 2)
        #expect(try words(8).contains("has ended, and is not in the cassette"))
    }

    @Test func anExchangeOfTheRunIsOpenOnceItTakesLong() throws {
        let open = OpenExchanges()
        open.began(id: 1, started: .now, method: "GET", url: "http://a/quick")
        open.began(id: 2, started: Timestamp(microseconds: 0), method: "GET", url: "http://a/slow")
        let rows = OpenRows(path: self.path, run: open)
        #expect(rows.counts.exchanges == 1 && rows.counts.change == 1, "nothing changes between two looks")
        #expect(String(decoding: rows.bytes(), as: UTF8.self).contains("/slow"))
        #expect(!String(decoding: rows.bytes(), as: UTF8.self).contains("/quick"))
        // One ends and another begins: the number stays the same.
        open.discarded(id: 2)
        open.began(id: 3, started: Timestamp(microseconds: 0), method: "GET", url: "http://a/other")
        #expect(rows.counts.exchanges == 1 && rows.counts.change == 2)
    }

    @Test func theJournalOfAnOpenExchangeIsReadOnceWhileItStaysAsItIs() throws {
        try RecordedExchanges.write([.sample(1)], to: self.path)
        let (count, looks) = (Guarded(0), Guarded<[Int]>([]))
        let rows = OpenRows(path: self.path, run: nil) {
            count.withLock { $0 += 1 }
            return PortableSHA256()
        }
        // Too long to be inline in the cassette, so that it has a digest.
        let long = (1...200).map { _ in String(repeating: "x", count: 8 << 10) }
        let journals = (try self.journal(2, long), try self.journal(3, long))
        func look(_ id: Int) throws {
            _ = try rows.answer(["\(id)", "messages"], ["count": "1"], range: nil)
            looks.withLock { looks in looks.append(count.withLock { $0 }) }
        }
        for id in [2, 2, 2, 3] { try look(id) }
        try self.add(["one more"], to: journals.1)
        try look(3)
        #expect(looks.withLock { $0 } == [1, 1, 1, 2, 3])
        try journals.1.remove()
        #expect(throws: LocalAnswer.self) { try look(3) }
    }
}
