import CassetteModel
import CassetteStore
import Foundation
import LocalHTTP
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing

@Suite struct InspectorServiceTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    private func service(_ interactions: [Interaction]) throws -> InspectorService {
        try RecordedExchanges.write(interactions, to: self.folder.file("pets.json"))
        return try self.service(at: self.folder.file("pets.json"))
    }

    private func service(at path: String) throws -> InspectorService {
        let cassette = try InspectedCassette(path: path)
        while !cassette.moment.isIndexed { _ = cassette.refresh() }
        return InspectorService(cassette: cassette)
    }

    /// The answer's status and complete body.
    private func ask(_ service: InspectorService, _ target: String, body: String? = nil, range: String? = nil) throws -> (
        status: Int, body: [UInt8]
    ) {
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        let request = LocalRequest(
            method: body == nil ? "GET" : "POST", path: parts[0], query: parts.count > 1 ? parts[1] : "", body: Array((body ?? "").utf8),
            range: range)
        switch service.answer(request) {
        case .whole(let answer): return (answer.status, answer.body)
        case .stream(let stream):
            var bytes: [UInt8] = []
            while let piece = try stream.next() { bytes += piece }
            return (stream.head.status, bytes)
        }
    }

    private func json(_ service: InspectorService, _ target: String, body: String? = nil) throws -> JSONValue {
        let answer = try self.ask(service, target, body: body)
        #expect(answer.status == 200, "\(target): \(String(decoding: answer.body, as: UTF8.self))")
        return try JSONDocument(answer.body).root
    }

    private func lines(_ bytes: [UInt8]) throws -> [JSONValue] { try bytes.split(separator: 10).map { try JSONDocument(Array($0)).root } }

    @Test func rowsAndExchangesNameTheRulesThatChangedThem() throws {
        var changed = Interaction.sample(1)
        changed.modified = Modification(rules: ["staging", "a \"b\""], forwardedTo: "http://b/")
        let service = try self.service([changed, .sample(2)])
        let rows = try self.json(service, "/api/rows?from=0&count=5")
        #expect(rows["rules"]?.elements.map(\.string) == ["staging, a \"b\"", nil])
        let modified = try #require(try self.json(service, "/api/x/1")["modified"])
        #expect(modified["rules"]?.elements.map(\.string) == ["staging", "a \"b\""] && modified["forwardedTo"]?.string == "http://b/")
        #expect(try self.json(service, "/api/x/2")["modified"] == nil)
    }

    @Test func rowsComeInColumns() throws {
        let service = try self.service([
            .sample(1), .sample(2, at: 5, "POST", "http://a/x\"y", status: nil, outcome: .failed(Failure(kind: .dns, message: "no"))),
        ])
        let rows = try self.json(service, "/api/rows?from=0&count=5")
        #expect(rows["key"]?.elements.map(\.int) == [1, 2] && rows["method"]?.elements.map(\.string) == ["GET", "POST"])
        #expect(rows["url"]?.elements.map(\.string) == ["http://a/pets", "http://a/x\"y"])
        #expect(rows["status"]?.elements.map(\.int) == [200, 0] && rows["outcome"]?.elements.map(\.string) == [nil, "failed dns"])
        #expect(try self.json(service, "/api/rows?at=2,1")["key"]?.elements.map(\.int) == [2, 1])
        for query in ["at=0", "at=3", "at=x", "at=1,", "from=-1", "at=" + (0..<501).map { _ in "1" }.joined(separator: ",")] {
            #expect(try self.ask(service, "/api/rows?\(query)").status == 400 || query == "at=1,", "\(query)")
        }
        #expect(try self.json(service, "/api/rows?from=9")["key"]?.elements.map(\.int) == [])
    }

    @Test func theStateComesWithRowsIfTheyAreAskedFor() throws {
        let service = try self.service([.sample(1), .sample(2, at: 5), .sample(3, at: 6)])
        let state = try self.json(service, "/api/state?rows=2")
        #expect(state["rows"]?.int == 3 && state["list"]?["key"]?.elements.map(\.int) == [1, 2])
        #expect(state["list"]?["epoch"]?.int == state["epoch"]?.int)
        #expect(try self.json(service, "/api/state")["list"] == nil)
        #expect(try self.ask(service, "/api/state?rows=x").status == 400)
    }

    @Test func rowsAreNumberedInOrderOfRequestStart() throws {
        // As left by a recorder that was killed.
        let killed = try self.service([.sample(1, at: 9), .sample(2, at: 3), .sample(3, at: 6)])
        #expect(try self.json(killed, "/api/rows")["number"]?.elements.map(\.int) == [3, 1, 2])
        #expect(try self.json(killed, "/api/x/2")["number"]?.int == 1)
        let made = try self.lines(self.ask(killed, "/api/views", body: "{}").body)
        let view = try self.ask(killed, "/api/views/\(made.last?["view"]?.int ?? 0)")
        #expect(view.body == [2, 0, 0, 0, 3, 0, 0, 0, 1, 0, 0, 0])
    }

    @Test func viewsHoldTheKeysOfTheMatches() throws {
        let service = try self.service([
            .sample(1), .sample(2, at: 1, status: 404), .sample(3, at: 2, "PUT"), .sample(4, at: 3, status: 404),
        ])
        let made = try self.lines(self.ask(service, "/api/views", body: #"{"filter": "~c 404", "sort": "start", "descends": true}"#).body)
        #expect(made.last?["count"]?.int == 2)
        #expect(made.last?["keys"]?.elements.map(\.int) == [4, 2], "a short list comes with its view")
        #expect(
            made.last?["list"]?["key"]?.elements.map(\.int) == [4, 2] && made.last?["list"]?["status"]?.elements.map(\.int) == [404, 404])
        #expect(try self.ask(service, "/api/views/\(made.last?["view"]?.int ?? 0)").body == [4, 0, 0, 0, 2, 0, 0, 0])
        #expect(try self.ask(service, "/api/views/99").status == 404)
        let bad = try self.ask(service, "/api/views", body: #"{"filter": "~nonsense"}"#)
        #expect(bad.status == 422 && String(decoding: bad.body, as: UTF8.self).contains("~nonsense"))
        for body in ["", "[]", #"{"filter": 1}"#, #"{"sort": "colour"}"#] {
            #expect(try self.ask(service, "/api/views", body: body).status == 400, "\(body)")
        }
    }

    @Test func matchesOfAFilterAreReportedBeforeAllBodiesAreDecoded() throws {
        let needle = Body(size: 6, content: .text(Array("needle".utf8)))
        let exchanges: [Interaction] = (1...450).map { id in
            [3, 7, 301, 450].contains(id) ? .sample(id, at: Int64(id), body: needle) : .sample(id, at: Int64(id))
        }
        let service = try self.service(exchanges)
        let lines = try self.lines(self.ask(service, "/api/views", body: #"{"filter": "~b needle"}"#).body)
        #expect(lines.map { $0["found"]?.elements.compactMap(\.int) } == [[3, 7], [301], nil])
        #expect(lines.last?["keys"]?.elements.map(\.int) == [3, 7, 301, 450])
        // In another order, the first rows are known only at the end.
        let other = try self.lines(self.ask(service, "/api/views", body: #"{"filter": "~b needle", "sort": "size"}"#).body)
        #expect(other.count == 3 && other.allSatisfy { $0["found"] == nil })
    }

    @Test func searchesSayWhereAHitIs() throws {
        let body = Body(size: 20, content: .text(Array("before the NEEDLE in".utf8)))
        var upload = Interaction.sample(2, at: 1, "GET", "http://a/Needle")
        upload.request.headers.append(name: "X-Sought", value: "a needle")
        let service = try self.service([.sample(1, body: body), upload, .sample(3, at: 2)])
        let found = try self.lines(self.ask(service, "/api/searches", body: #"{"text": "needle"}"#).body)
        let hits = found.filter { $0["key"] != nil }
        #expect(hits.map { $0["key"]?.int } == [1, 2, 2] && hits.map { $0["place"]?.string } == ["body", "url", "header X-Sought"])
        #expect(hits[0]["offset"]?.int == 11 && hits[0]["before"]?.string == "before the " && hits[0]["hit"]?.string == "NEEDLE")
        #expect(found.last?["looked"]?.int == 3 && found.last?["done"]?.bool == true)
        let urls = try self.lines(self.ask(service, "/api/searches", body: #"{"text": "needle", "in": ["url"]}"#).body)
        #expect(urls.filter { $0["key"] != nil }.count == 1)
        #expect(try self.ask(service, "/api/searches", body: #"{"text": ""}"#).status == 400)
    }

    @Test func bodiesComeInRanges() throws {
        let body = Body(size: 10, content: .text(Array("0123456789".utf8)))
        let service = try self.service([.sample(1, body: body)])
        let path = "/api/x/1/response/body"
        #expect(try self.ask(service, path).body == Array("0123456789".utf8))
        let part = try self.ask(service, path, range: "bytes=2-4")
        #expect(part.status == 206 && part.body == Array("234".utf8))
        #expect(try self.ask(service, path, range: "bytes=9-").body == Array("9".utf8))
        #expect(try self.ask(service, path, range: "bytes=10-").status == 416)
        #expect(try self.ask(service, "/api/x/1/request/body").status == 404)
        #expect(try self.ask(service, "/api/x/2/response/body").status == 404)
        #expect(try self.ask(service, path + "?as=nonsense").status == 400)
    }

    @Test func partsAreListedAndServed() throws {
        let service = try self.service([FormFixtures.upload(FormFixtures.pets)])
        let parts = try self.json(service, "/api/x/1/request/parts")["parts"]
        #expect(parts?.elements.compactMap { $0["label"]?.string } == ["1", "2", "3", "4"])
        #expect(parts?.elements.map { $0["form"]?.string } == ["text", "json", "image", "text"])
        #expect(try self.ask(service, "/api/x/1/request/body?part=4").body == Array("hello".utf8))
        #expect(try self.ask(service, "/api/x/1/request/body?part=4&as=raw").body == Array("aGVsbG8=".utf8))
        #expect(try self.ask(service, "/api/x/1/request/body?part=9").status == 404)
        let findings = try self.json(service, "/api/x/1/request/lint")["findings"]
        #expect(findings?.elements.map { $0["problem"]?.string } == ["transferEncoding"])
        #expect(try self.ask(service, "/api/x/1/response/lint").status == 404)
        try RecordedExchanges.write([FormFixtures.upload(FormFixtures.nested)], to: self.folder.file("nested.json"))
        let nested = try self.service(at: self.folder.file("nested.json"))
        #expect(try self.ask(nested, "/api/x/1/request/body?part=1.1").body == Array("deep".utf8))
    }

    @Test func aDefectIsShownAtItsByte() throws {
        let service = try self.service([FormFixtures.upload(FormFixtures.pets.dropLast(8).map { $0 })])
        let finding = try #require(try self.json(service, "/api/x/1/request/lint")["findings"]?.elements.first { _ in true })
        #expect((finding["offset"]?.int ?? 0) > 300 && finding["excerpt"]?.elements.map(\.kind).isEmpty == false)
    }

    @Test func messagesOfAWebSocketAreServed() throws {
        var socket = Interaction.sample(1, status: 101)
        socket.webSocket = .inline([
            WebSocketMessage(at: 1, from: .client, content: .text(.text(Array("hello".utf8)))),
            WebSocketMessage(at: 2, from: .server, content: .binary(.bytes([0, 1, 255]))),
            WebSocketMessage(at: 3, from: .server, content: .close(WebSocketClose(code: 1000))),
        ])
        let service = try self.service([socket])
        let all = try self.json(service, "/api/x/1/messages")
        #expect(all["count"]?.int == 3 && all["messages"]?.elements.map { $0["text"]?.string } == ["hello", nil, nil])
        #expect(all["messages"]?.elements.map { $0["hex"]?.string } == [nil, "0001ff", nil])
        #expect(try self.json(service, "/api/x/1/messages?from=3")["messages"]?.elements.map { $0["number"]?.int } == [3])
        #expect(try self.ask(service, "/api/x/1/messages/2").body == [0, 1, 255])
        #expect(try self.ask(service, "/api/x/1/messages/9").status == 404)
    }

    @Test func aJSONValueIsFoundByItsPointer() throws {
        let text = #"{"a/b": [1, {"c~d": "x"}], "big": 12345678901234567890}"#
        let service = try self.service([.sample(1, body: Body(size: text.utf8.count, content: .text(Array(text.utf8))))])
        #expect(try self.json(service, "/api/x/1/response/json?pointer=/a~1b/1/c~0d")["value"]?.string == "x")
        #expect(
            try self.json(service, "/api/x/1/response/json?pointer=/big")["value"].map { Array($0.raw) }
                == Array("12345678901234567890".utf8))
        for pointer in ["/nothing", "/a~1b/9", "/a~1b/-1", "/a~1b/x"] {
            #expect(try self.ask(service, "/api/x/1/response/json?pointer=\(pointer)").status == 400, "\(pointer)")
        }
    }

    @Test func placeholdersAreFoundWhereTheyAre() throws {
        var one = Interaction.sample(
            1, body: Body(size: 30, content: .json(Array(#"{"token":"{{access_token:1}}"}"#.utf8), style: .compact)))
        one.request.headers.append(name: "Authorization", value: "Bearer {{access_token:1}}")
        let service = try self.service([one, .sample(2, at: 1)])
        let found = try self.json(service, "/api/x/1")["redactions"]?.elements.map { $0["place"]?.string }
        #expect(found == ["request headers", "response body json token"])
        #expect(try self.json(service, "/api/x/2")["redactions"]?.elements.map(\.kind).isEmpty == true)
        #expect(try self.lines(self.ask(service, "/api/redactions").body).map { $0["key"]?.int } == [1, 1])
    }

    @Test func exchangesAreComparedFieldByField() throws {
        let service = try self.service([
            .sample(1, at: 0, "GET", "http://a/pets?page=1"), .sample(2, at: 1, "GET", "http://a/pets?page=2", status: 404),
        ])
        let changes = try self.json(service, "/api/diffs", body: #"{"left": 1, "right": 2}"#)["changes"]
        #expect(changes?.elements.map { $0["place"]?.string } == ["request query:page", "response status"])
        #expect(changes?.elements.map { $0["new"]?.string } == ["2", "404"])
        for body in ["{}", #"{"left": 1}"#, #"{"left": 1, "right": 3}"#, #"{"left": 0, "right": 1}"#, #"{"older": "/etc/passwd"}"#] {
            #expect(try self.ask(service, "/api/diffs", body: body).status == 400, "\(body)")
        }
    }

    @Test func exchangesThatNameTheSameFileAreNotEqualWithoutIt() throws {
        let digest = "64ec88ca00b268e5ba1a35678a1b5316d212f4f366b2477232534a8aeca37f3c"
        let body = Body(size: 11, content: .file(Sidecar(path: "pets.bodies/x.bin", size: 11, sha256: digest)))
        let service = try self.service([.sample(1, body: body), .sample(2, at: 1, body: body)])
        let order = #"{"left": 1, "right": 2}"#
        #expect(try self.ask(service, "/api/diffs", body: order).status != 200)
        try self.folder.write("Hello world".utf8, to: "pets.bodies/x.bin")
        #expect(try self.json(service, "/api/diffs", body: order)["changes"]?.elements.map { $0 }.isEmpty == true)
        try self.folder.write("Jello world".utf8, to: "pets.bodies/x.bin")
        #expect(try self.ask(service, "/api/diffs", body: order).status != 200)
    }

    @Test func aCassetteIsComparedWithTheOlderOneItWasGiven() throws {
        try RecordedExchanges.write([.sample(1), .sample(2, at: 1, "GET", "http://a/gone")], to: self.folder.file("old.json"))
        try RecordedExchanges.write([.sample(1, status: 500), .sample(2, at: 1, "GET", "http://a/new")], to: self.folder.file("new.json"))
        let cassette = try InspectedCassette(path: self.folder.file("new.json"))
        _ = cassette.refresh()
        let service = InspectorService(cassette: cassette, older: self.folder.file("old.json"))
        let found = try self.lines(self.ask(service, "/api/diffs", body: "{}").body)
        #expect(Set(found.compactMap { $0["kind"]?.string }) == ["changed", "added", "removed"] && found.last?["same"]?.int == 0)
    }

    // MARK: Cassettes of all kinds

    @Test func anEmptyCassetteHasNoRows() throws {
        let service = try self.service([])
        #expect(try self.json(service, "/api/state")["rows"]?.int == 0)
        #expect(try self.json(service, "/api/rows")["key"]?.elements.map(\.int) == [])
        #expect(try self.ask(service, "/api/x/1").status == 404)
        #expect(try self.lines(self.ask(service, "/api/views", body: #"{"filter": "~all"}"#).body).last?["count"]?.int == 0)
        #expect(try self.lines(self.ask(service, "/api/searches", body: #"{"text": "a"}"#).body).last?["done"]?.bool == true)
    }

    @Test func aTornCassetteShowsTheRestAndTheLosses() throws {
        try RecordedExchanges.write([.sample(1), .sample(2, at: 1)], to: self.folder.file("whole.json"))
        let whole = try self.folder.read("whole.json")
        let path = try self.folder.write(whole.dropLast(40), to: "torn.json")
        let service = try self.service(at: path)
        let state = try self.json(service, "/api/state")
        #expect(state["rows"]?.int == 1 && state["damage"]?.string?.contains("1 exchange lost") == true)
    }

    @Test func aCassetteOfVersion1IsShown() throws {
        let text =
            #"{"wiretape":1,"interactions":[{"id":1,"started":"2026-11-21T08:07:24.927474Z","request":{"method":"GET","url":"http://a/"},"response":{"status":200}}]}"#
        let service = try self.service(at: try self.folder.write(Array(text.utf8), to: "old.json"))
        #expect(try self.json(service, "/api/rows")["url"]?.elements.map(\.string) == ["http://a/"])
        #expect(try self.json(service, "/api/x/1")["response"]?["status"]?.int == 200)
    }

    @Test func anInvalidExchangeIsARowWithItsProblem() throws {
        let text =
            #"{"wiretape":2,"interactions":[{"id":1,"started":"2026-11-21T08:07:24.927474Z","request":{"method":"GET","url":"http://a/"},"response":{"status":"x"}},{"a":1}]}"#
        let service = try self.service(at: try self.folder.write(Array(text.utf8), to: "wrong.json"))
        #expect(try self.json(service, "/api/rows")["method"]?.elements.map(\.string) == ["GET", "?"])
        for key in 1...2 {
            let answer = try self.ask(service, "/api/x/\(key)")
            #expect(answer.status == 422 && String(decoding: answer.body, as: UTF8.self).contains("byte"))
            #expect(try self.ask(service, "/api/x/\(key)/text").status == 200)
        }
    }

    @Test func tablesOfManyBlocksAreWhole() throws {
        let count = RowTable.blockSize * 2 + 100
        try RecordedExchanges.write(
            (1...count).map { .sample($0, at: Int64($0), "GET", "http://a/\($0)") }, to: self.folder.file("many.json"))
        let service = try self.service(at: self.folder.file("many.json"))
        let last = [1, RowTable.blockSize, RowTable.blockSize + 1, count]
        let rows = try self.json(service, "/api/rows?at=\(last.map(String.init).joined(separator: ","))")
        #expect(rows["url"]?.elements.map(\.string) == last.map { "http://a/\($0)" })
    }

    @Test func aLargeFileIsNotReadToItsEndForAWindow() throws {
        // A sparse file with another digest than the cassette has: reading all of it would report an error.
        let size = 3 << 30
        let name = String(repeating: "ab", count: 32) + ".bin"
        try self.folder.write([], to: "big.bodies/\(name)")
        let file = try #require(FileHandle(forUpdatingAtPath: self.folder.file("big.bodies/\(name)")))
        try file.truncate(atOffset: UInt64(size))
        try file.seek(toOffset: UInt64(size - 4))
        try file.write(contentsOf: Array("tail".utf8))
        let sidecar = Sidecar(path: "big.bodies/\(name)", size: size, sha256: String(repeating: "ab", count: 32))
        try RecordedExchanges.write(
            [.sample(1, type: "video/mp4", body: Body(size: size, content: .file(sidecar)))], to: self.folder.file("big.json"))
        let service = try self.service(at: self.folder.file("big.json"))
        #expect(try self.json(service, "/api/x/1")["response"]?["body"]?["large"]?.bool == true)
        for form in ["raw", "decoded"] {
            let tail = try self.ask(service, "/api/x/1/response/body?as=\(form)", range: "bytes=\(size - 4)-")
            #expect(tail.status == 206 && tail.body == Array("tail".utf8), "\(form)")
        }
    }
}
