import CassetteModel
import CassettePlayback
import CassetteRedaction
import CassetteStore
import LocalHTTP
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing

@Suite struct ReplayServiceTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private func url(_ page: Int, _ stamp: Int) -> String { "http://a/pets?page=\(page)&ts=\(stamp)" }

    /// A session that was asked for one page that exists, and for one that does not.
    private func session() throws -> (CassetteSession, RecordedCassette) {
        try RecordedExchanges.write(
            [.sample(1, url: self.url(1, 7)), .sample(2, at: 1, url: self.url(2, 8)), .sample(3, at: 2, url: self.url(2, 9))], to: self.path
        )
        let cassette = try RecordedCassette(path: self.path)
        let session = try CassetteSession(mode: .none, cassette: cassette)
        for url in [self.url(1, 7), self.url(2, 10)] {
            _ = session.begin(method: "GET", url: url, headers: HeaderFields(["Host: a"]), hasBody: false)
        }
        return (session, cassette)
    }

    private func run(_ session: CassetteSession, _ cassette: RecordedCassette) -> InspectedRun {
        InspectedRun(
            command: "replay", name: "pets.json", counts: { InspectedRun.Counts() },
            report: { session.report(name: "pets.json", cassette: cassette) },
            open: OpenExchanges())
    }

    private func ask(_ service: InspectorService, _ path: String, body: String? = nil, ifMatch: String? = nil) throws -> (
        status: Int, json: JSONValue
    ) {
        let request = LocalRequest(
            method: body == nil ? "GET" : "POST", path: path, query: "", body: Array((body ?? "").utf8), ifMatch: ifMatch)
        guard case .whole(let answer) = service.answer(request) else { throw TestProblem("a stream") }
        return (answer.status, try JSONDocument(answer.body).root)
    }

    private func service() throws -> InspectorService {
        let (session, cassette) = try self.session()
        let shown = try InspectedCassette(path: self.path)
        _ = shown.refresh()
        return InspectorService(cassette: shown, run: self.run(session, cassette))
    }

    @Test func theStateHasWhatAnIsolatedProgramWasRefused() throws {
        let (session, cassette) = try self.session()
        let shown = try InspectedCassette(path: self.path)
        #expect(try self.ask(InspectorService(cassette: shown, run: self.run(session, cassette)), "/api/state").json["isolation"] == nil)
        var run = self.run(session, cassette)
        run.isolation = { .init(verdict: "isolated: 1 request", refused: ["refused: udp 203.0.113.9:443 × 2 by \"a\""]) }
        let isolation = try self.ask(InspectorService(cassette: shown, run: run), "/api/state").json["isolation"]
        #expect(isolation?["verdict"]?.string == "isolated: 1 request")
        #expect(isolation?["refused"]?.elements.map(\.string) == ["refused: udp 203.0.113.9:443 × 2 by \"a\""])
    }

    @Test func aMissIsShownNextToItsNearestFieldByField() throws {
        let report = try self.ask(self.service(), "/api/replay").json
        #expect(report["hits"]?.int == 1 && report["misses"]?.int == 1 && report["answers"]?.elements.map(\.int) == [1, 0, 0])
        let miss = try #require(report["missed"]?.elements.first { _ in true })
        #expect(miss["request"]?.string?.contains("ts=10") == true)
        let near = try #require(miss["nearest"]?.elements.first { _ in true })
        let difference = try #require(near["differences"]?.elements.first { _ in true })
        #expect(difference["place"]?.string == "query" && difference["live"]?.string == "ts=10")
        #expect(difference["recorded"]?.string == "ts=8" && difference["ignore"]?.string == "query:ts")
    }

    @Test func aTrialShowsTheAnswerAndTheEqualPlaces() throws {
        let service = try self.service()
        let found = try self.ask(service, "/api/replay/try", body: #"{"ignore": ["query:ts"]}"#).json
        #expect(found["answered"]?.elements.map { $0["exchange"]?.int } == [2])
        #expect(found["equal"]?.elements.map { $0.elements.map(\.int) } == [[2, 3]])
        let none = try self.ask(service, "/api/replay/try", body: #"{"ignore": ["query:other"]}"#).json
        #expect(none["answered"]?.elements.map(\.kind).isEmpty == true && none["equal"]?.elements.map(\.kind).isEmpty == true)
        for body in ["{}", #"{"ignore": ["nonsense"]}"#, #"{"path": "/etc/passwd"}"#, #"{"ignore": "query:ts"}"#] {
            #expect(try self.ask(service, "/api/replay/try", body: body).status == 400, "\(body)")
        }
    }

    @Test(arguments: [
        ("http://a/dogs?page=1&ts=7", "GET", "path"), ("http://b/pets?page=1&ts=7", "GET", "host"),
        ("http://a:81/pets?page=1&ts=7", "GET", "port"), ("http://a/pets?page=1&ts=7", "PUT", "method"),
    ])
    func whatTheTerminalWouldIgnoreIsOfferedAndTried(url: String, method: String, place: String) throws {
        try RecordedExchanges.write([.sample(1, url: self.url(1, 7))], to: self.path)
        let cassette = try RecordedCassette(path: self.path)
        let session = try CassetteSession(mode: .none, cassette: cassette)
        _ = session.begin(method: method, url: url, headers: HeaderFields(["Host: a"]), hasBody: false)
        let shown = try InspectedCassette(path: self.path)
        _ = shown.refresh()
        let service = InspectorService(cassette: shown, run: self.run(session, cassette))
        let miss = try #require(try self.ask(service, "/api/replay").json["missed"]?.elements.first { _ in true })
        let near = try #require(miss["nearest"]?.elements.first { _ in true })
        #expect(near["differences"]?.elements.map { $0["ignore"]?.string } == [place])
        let found = try self.ask(service, "/api/replay/try", body: "{\"ignore\": [\"\(place)\"]}").json
        #expect(found["answered"]?.elements.map { $0["exchange"]?.int } == [1])
    }

    @Test func aPatternIsSuggestedTriedAndWritten() throws {
        let service = try self.service()
        let miss = try #require(try self.ask(service, "/api/replay").json["missed"]?.elements.first { _ in true })
        let near = try #require(miss["nearest"]?.elements.first { _ in true })
        #expect(near["differences"]?.elements.map { $0["pattern"]?.string } == ["query:ts=[0-9]+"])
        let rules = #"{"patterns": ["query:ts=[0-9]+"]}"#
        let found = try self.ask(service, "/api/replay/try", body: rules).json
        #expect(found["answered"]?.elements.map { $0["exchange"]?.int } == [2])
        #expect(found["equal"]?.elements.map { $0.elements.map(\.int) } == [[2, 3]])
        #expect(try self.ask(service, "/api/rules", body: rules, ifMatch: "\"1\"").status == 200)
        #expect(try RecordedCassette(path: self.path).matchTexts()?.patterns == ["query:ts=[0-9]+"])
    }

    @Test func rulesAreWrittenIntoTheHeadOnce() throws {
        let service = try self.service()
        let rules = #"{"ignore": ["query:ts"]}"#
        #expect(try self.ask(service, "/api/rules", body: rules).status == 428, "a page says which file it has seen")
        #expect(try self.ask(service, "/api/rules", body: rules, ifMatch: "\"9\"").status == 412)
        #expect(try RecordedCassette(path: self.path).matchTexts() == nil)
        #expect(try self.ask(service, "/api/rules", body: rules, ifMatch: "\"1\"").status == 200)
        #expect(try RecordedCassette(path: self.path).matchTexts()?.ignore == ["query:ts"])
        #expect(try RecordedExchanges.read(self.path).count == 3)
        // The file has changed.
        _ = service.cassette.refresh()
        #expect(try self.ask(service, "/api/rules", body: rules, ifMatch: "\"1\"").status == 412)
        #expect(try self.ask(service, "/api/rules", body: rules, ifMatch: "\"2\"").status == 200)
        #expect(try RecordedCassette(path: self.path).matchTexts()?.ignore == ["query:ts"])
    }

    @Test func aRecorderKeepsItsCassetteToItself() throws {
        let service = try self.service()
        let appender = try CassetteAppender.open(self.path, recorder: "other")
        #expect(try self.ask(service, "/api/rules", body: #"{"ignore": ["query:ts"]}"#, ifMatch: "\"1\"").status == 409)
        withExtendedLifetime(appender) {}
        #expect(try RecordedCassette(path: self.path).matchTexts() == nil)
    }

    @Test func noReplayHasNoReport() throws {
        try RecordedExchanges.write([.sample(1)], to: self.path)
        let service = InspectorService(cassette: try InspectedCassette(path: self.path))
        #expect(try self.ask(service, "/api/replay").status == 404)
    }

    @Test func exchangesAreOpenUntilTheyAreInTheCassette() throws {
        let open = OpenExchanges()
        for id in 1...4 { open.began(id: id, started: Timestamp(microseconds: Int64(10 - id)), method: "GET", url: "http://a/\(id)") }
        open.discarded(id: 4)
        try RecordedExchanges.write([.sample(1), .sample(3)], to: self.path)
        let cassette = try InspectedCassette(path: self.path)
        let service = InspectorService(
            cassette: cassette,
            run: InspectedRun(command: "record", name: "pets.json", counts: { InspectedRun.Counts() }, report: nil, open: open))
        #expect(open.list(9, before: .now).map(\.id) == [3, 2, 1], "in order of their start")
        _ = cassette.refresh()
        service.settle(after: 0)
        #expect(open.list(9, before: .now).map(\.id) == [2])
        let found = try self.ask(service, "/api/open").json
        #expect(found["count"]?.int == 1 && found["open"]?.elements.map { $0["url"]?.string } == ["http://a/2"])
        #expect(try self.ask(service, "/api/state").json["open"]?.int == 1)
    }
}

extension Interaction {
    fileprivate static func sample(_ id: Int, at milliseconds: Int64 = 0, url: String) -> Interaction {
        .sample(id, at: milliseconds, "GET", url)
    }
}
