import CassetteFormat
import CassetteModel
import CassettePlayback
import CassetteStore
import Dispatch
import LocalHTTP
import TapeBytes
@testable import TapeInspector
import TapeTestSupport
import Testing

@Suite struct EditServiceTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private func service(_ tools: InspectorTools = InspectorTools(), count: Int = 3) throws -> InspectorService {
        try RecordedExchanges.write((1...count).map { .sample($0, at: Int64($0), "GET", "http://a/\($0)") }, to: self.path)
        return try self.opened(tools)
    }

    private func opened(_ tools: InspectorTools = InspectorTools(), run: InspectedRun? = nil) throws -> InspectorService {
        let cassette = try InspectedCassette(path: self.path)
        while !cassette.moment.isIndexed { _ = cassette.refresh() }
        return InspectorService(cassette: cassette, run: run, tools: tools)
    }

    private func ask(_ service: InspectorService, _ path: String, _ body: [(String, String)], ifMatch: String? = nil) throws -> (
        status: Int, json: JSONValue
    ) {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        for (name, value) in body {
            writer.member(named: name)
            if name == "text" || name == "answer" { writer.string(value) } else { writer.raw(Array(value.utf8)) }
        }
        writer.endObject()
        let request = LocalRequest(method: "POST", path: path, query: "", body: writer.bytes, ifMatch: ifMatch)
        guard case .whole(let answer) = service.answer(request) else { throw TestProblem("a stream") }
        return (answer.status, try JSONDocument(answer.body).root)
    }

    private func text(_ service: InspectorService, _ key: Int) throws -> String {
        let moment = service.cassette.moment
        return String(decoding: try moment.epoch.bytes(moment.epoch.ranges[key - 1]), as: UTF8.self)
    }

    private func problems(_ service: InspectorService, _ text: String) throws -> [JSONValue] {
        let answer = try self.ask(service, "/api/edits/try", [("key", "2"), ("text", text)])
        #expect(answer.status == 200)
        return answer.json["problems"]?.elements.map { $0 } ?? []
    }

    // MARK: Checks

    @Test func aTextThatIsNotJSONIsRefusedAtItsPlace() throws {
        let problem = try #require(try self.problems(self.service(), "{\n  \"보리\": tru\n}").first)
        #expect(problem["kind"]?.string == "json" && problem["line"]?.int == 2 && problem["column"]?.int == 9)
        #expect(problem["blocks"]?.bool == true)
    }

    @Test func aTextThatIsNoExchangeIsRefusedWithItsLine() throws {
        let service = try self.service()
        let text = try self.text(service, 2)
        let wrong = try self.problems(service, text.replacing("\"status\": 200", with: "\"status\": \"many\""))
        #expect(wrong.first?["text"]?.string?.hasPrefix("response.status") == true && (wrong.first?["line"]?.int ?? 0) > 1)
        #expect(try self.problems(service, "[]").first?["kind"]?.string == "json")
        #expect(try self.problems(service, text.replacing("http://a/2", with: "a/2")).first?["kind"]?.string == "malformed")
        #expect(try self.problems(service, text.replacing("\"id\": 2", with: "\"id\": 3")).first?["kind"]?.string == "duplicate-id")
        #expect(try self.problems(service, text).isEmpty)
    }

    @Test func anEditedBodyIsReportedAndMayBeWritten() throws {
        var digest = PortableSHA256()
        Array("ok".utf8).withUnsafeBytes { digest.update($0) }
        let body = Body(size: 2, content: .text(Array("ok".utf8)), sha256: Hex.encode(digest.finalize()))
        try RecordedExchanges.write([.sample(1), .sample(2, body: body)], to: self.path)
        let service = try self.opened()
        let problems = try self.problems(service, try self.text(service, 2).replacing("\"ok\"", with: "\"no\""))
        #expect(problems.map { $0["kind"]?.string } == ["changed-body"] && problems.first?["blocks"]?.bool == false)
        let named = try self.problems(
            service,
            try self.text(service, 2).replacing("\"text\": \"ok\"", with: "\"file\": \"../pets.json\", \"bytes\": 2"))
        #expect(named.contains { $0["blocks"]?.bool == true }, "no path leads out of the folder of bodies")
    }

    @Test func sizesDigestsAndLengthsOfAnEditAreCorrected() throws {
        var digest = PortableSHA256()
        Array("ok".utf8).withUnsafeBytes { digest.update($0) }
        var recorded = Interaction.sample(
            2, body: Body(size: 2, content: .text(Array("ok".utf8)), sha256: Hex.encode(digest.finalize())))
        recorded.response?.headers.append(name: "content-length", value: "2")
        try RecordedExchanges.write([.sample(1), recorded], to: self.path)
        let service = try self.opened()
        let text = try self.text(service, 2)
        #expect(try self.ask(service, "/api/edits/try", [("key", "2"), ("text", text)]).json["correctable"]?.bool == false)
        let edited = text.replacing("\"ok\"", with: "\"better\"")
        let checked = try self.ask(service, "/api/edits/try", [("key", "2"), ("text", edited)]).json
        #expect(checked["correctable"]?.bool == true)
        #expect(
            checked["problems"]?.elements.map { $0["text"]?.string } == [
                "response body: it has 6 bytes, but its \"size\" is 2", "response body: its \"sha256\" does not match its bytes",
                "response body: its Content-Length is 2, but it has 6 bytes",
            ])
        let answer = try self.ask(service, "/api/edits/correct", [("key", "2"), ("text", edited)])
        let corrected = try #require(answer.json["text"]?.string)
        #expect(try self.problems(service, corrected).isEmpty)
        #expect(corrected.contains("\"content-length: 6\"") && corrected.contains("\"better\""))
        #expect(
            corrected.replacing("\"content-length: 6\"", with: "\"content-length: 2\"").count == edited.count,
            "all else is as it was written")
        #expect(try self.ask(service, "/api/edits/correct", [("key", "2"), ("text", "{}")]).status == 422)
    }

    @Test func theFileOfACodedBodyIsNoLongerNamedOnceTheBodyIsEdited() throws {
        let store = try BodyStore(cassettePath: self.path)
        // Encoded as other programs do it, not as zlib would.
        let coded: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 2, 0, 0xfd, 0xff, 0x6f, 0x6b, 0x47, 0xdd, 0xdc, 0x79, 2, 0, 0, 0]
        var digest = PortableSHA256()
        coded.withUnsafeBytes { digest.update($0) }
        let name = Hex.encode(digest.finalize())
        let spool = try store.makeSpool()
        try spool.write(coded)
        let file = try spool.finish(sha256: name, ext: "gz")
        let body = Body(
            size: coded.count, codings: [.gzip(nil, header: .plain)], content: .text(Array("ok".utf8)), original: file, sha256: name)
        try RecordedExchanges.write([.sample(1), .sample(2, body: body)], to: self.path)
        let service = try self.opened()
        let text = try self.text(service, 2)
        #expect(try self.problems(service, text).isEmpty)
        let edited = text.replacing("\"ok\"", with: "\"better\"")
        #expect(try self.problems(service, edited).contains { $0["text"]?.string?.hasSuffix("still has the old bytes") == true })
        let corrected = try #require(try self.ask(service, "/api/edits/correct", [("key", "2"), ("text", edited)]).json["text"]?.string)
        #expect(try self.problems(service, corrected).isEmpty && !corrected.contains("original"))
    }

    @Test(arguments: [("HEAD", 200, "Server: a"), ("GET", 304, "Server: a"), ("GET", 200, "Transfer-Encoding: chunked")])
    func aLengthThatIsOfAnotherMessageIsLeft(_ method: String, _ status: Int, _ field: String) throws {
        var recorded = Interaction.sample(2, at: 1, method, "http://a/2", status: status, body: Body(size: 0, content: .empty))
        recorded.response?.headers = HeaderFields(["Content-Length: 9", field])
        try RecordedExchanges.write([.sample(1), recorded], to: self.path)
        let service = try self.opened()
        #expect(
            try self.ask(service, "/api/edits/try", [("key", "2"), ("text", self.text(service, 2))]).json["correctable"]?.bool == false)
    }

    @Test func secretsThatWereNotThereBeforeAreRefused() throws {
        var tools = InspectorTools()
        tools.secrets = { interaction, number, _ in
            #expect(number == 2)
            return interaction.request.url.contains("token")
                ? [.init(exchange: number, place: "request url", placeholder: "{{token:1}}", excerpt: "")] : []
        }
        let service = try self.service(tools)
        let text = try self.text(service, 2).replacing("http://a/2", with: "http://a/2?token=abc")
        let problem = try #require(try self.problems(service, text).first)
        #expect(problem["kind"]?.string == "secret" && problem["blocks"]?.bool == true)
        #expect(problem["text"]?.string == "request url contains what the rules call token: write a placeholder instead")
        #expect(try self.ask(service, "/api/edits", [("key", "2"), ("text", text)], ifMatch: "\"1\"").status == 422)
    }

    @Test func changesOfAnEditAreShown() throws {
        let service = try self.service()
        let text = try self.text(service, 2).replacing("\"status\": 200", with: "\"status\": 404")
        let changes = try #require(try self.ask(service, "/api/edits/try", [("key", "2"), ("text", text)]).json["changes"])
        #expect(changes.elements.map { $0["place"]?.string } == ["response status"])
        #expect(changes.elements.map { $0["new"]?.string } == ["404"])
    }

    // MARK: Writing

    @Test func anEditReplacesItsExchangeAndNothingElse() throws {
        let service = try self.service()
        let before = String(decoding: try self.folder.read("pets.json"), as: UTF8.self)
        let text = try self.text(service, 2)
        let edited = text.replacing("\"status\": 200", with: "\"status\":   404")
        let order = [("key", "2"), ("text", "\n  \(edited)\n\n")]
        #expect(try self.ask(service, "/api/edits", order).status == 428)
        #expect(try self.ask(service, "/api/edits", order, ifMatch: "\"7\"").status == 412)
        #expect(String(decoding: try self.folder.read("pets.json"), as: UTF8.self) == before)
        let written = try self.ask(service, "/api/edits", order, ifMatch: "\"1\"")
        #expect(written.status == 200 && written.json["epoch"]?.int == 2)
        #expect(String(decoding: try self.folder.read("pets.json"), as: UTF8.self) == before.replacing(text, with: edited))
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func aFileThatBecameAnotherOneIsNotWritten() throws {
        let service = try self.service()
        let text = try self.text(service, 2)
        try RecordedExchanges.write([.sample(1), .sample(2, at: 1, "PUT", "http://b/")], to: self.folder.file("other.json"))
        try CassettePlace.replace(self.path, with: self.folder.file("other.json"))
        let before = try self.folder.read("pets.json")
        // The service has not read the file again yet.
        let answer = try self.ask(
            service, "/api/edits", [("key", "2"), ("text", text.replacing("http://a/2", with: "http://a/9"))], ifMatch: "\"1\"")
        #expect(answer.status == 412)
        #expect(try self.folder.read("pets.json") == before && self.folder.names() == ["pets.json"])
    }

    @Test func anEditDoesNotHideAConcurrentChange() throws {
        let service = try self.service()
        let text = try self.text(service, 2)
        let other = try self.folder.read("pets.json")
        // The edited exchange is unchanged, but another one is not.
        try self.folder.write(
            Array(String(decoding: other, as: UTF8.self).replacing("http://a/3", with: "http://b/3").utf8), to: "other.json")
        try CassettePlace.replace(self.path, with: self.folder.file("other.json"))
        let order = [("key", "2"), ("text", text.replacing("http://a/2", with: "http://a/9"))]
        #expect(try self.ask(service, "/api/edits", order, ifMatch: "\"1\"").status == 412)
        #expect(String(decoding: try self.folder.read("pets.json"), as: UTF8.self).contains("http://a/2"))
        // Once the page has seen it, the edit is written.
        while service.cassette.refresh() {}
        #expect(try self.ask(service, "/api/edits", order, ifMatch: "\"2\"").json["epoch"]?.int == 3)
    }

    @Test func anExchangeThatAnotherProgramHasAddedStays() throws {
        let service = try self.service()
        var added = JSONWriter()
        InteractionEncoder.encode(.sample(4, at: 4, "GET", "http://a/4"), into: &added)
        do {
            let appender = try CassetteAppender.open(self.path, recorder: "another")
            try appender.append([added.bytes])
            _ = try appender.finish()
        }
        let order = [("key", "2"), ("text", try self.text(service, 2).replacing("http://a/2", with: "http://a/9"))]
        let answer = try self.ask(service, "/api/edits", order, ifMatch: "\"1\"")
        #expect(answer.json["epoch"]?.int == 2, "\(answer.status) \(String(decoding: answer.json.raw, as: UTF8.self))")
        #expect(try RecordedExchanges.read(self.path).map(\.request.url) == ["http://a/1", "http://a/9", "http://a/3", "http://a/4"])
    }

    @Test func aBodyThatIsEditedOutDoesNotStayInAFile() throws {
        let store = try BodyStore(cassettePath: self.path)
        func sidecar(_ byte: String) throws -> Sidecar {
            let (bytes, spool) = (Array(String(repeating: byte, count: 1000).utf8), try store.makeSpool())
            try spool.write(bytes)
            var digest = PortableSHA256()
            bytes.withUnsafeBytes { digest.update($0) }
            return try spool.finish(sha256: Hex.encode(digest.finalize()), ext: "bin")
        }
        let (first, second) = (try sidecar("a"), try sidecar("b"))
        try RecordedExchanges.write(
            [first, second].enumerated().map { index, file in
                .sample(index + 1, body: Body(size: 1000, content: .file(file), sha256: file.sha256))
            }, to: self.path)
        let service = try self.opened()
        var edited = try InteractionDecoder.decode(Array(try self.text(service, 2).utf8), at: .textAlone)
        edited.response?.body = Body(size: 2, content: .text(Array("no".utf8)))
        let order = [("key", "2"), ("text", String(decoding: Self.text(of: edited), as: UTF8.self))]
        let answer = try self.ask(service, "/api/edits", order, ifMatch: "\"1\"")
        #expect(answer.status == 200 && answer.json["problem"] == nil)
        #expect(self.folder.exists(first.path) && !self.folder.exists(second.path))
    }

    @Test func anIDThatIsTakenMeanwhileIsNotWritten() throws {
        let service = try self.service()
        let text = try self.text(service, 2).replacing("\"id\": 2", with: "\"id\": 4")
        func append() throws {
            let appender = try CassetteAppender.open(self.path, recorder: "other")
            try appender.append([Self.text(of: .sample(4))])
            _ = try appender.finish()
        }
        try append()
        let before = try self.folder.read("pets.json")
        // The service has not read the file again yet.
        let answer = try self.ask(service, "/api/edits", [("key", "2"), ("text", text)], ifMatch: "\"1\"")
        #expect(answer.status == 422 && answer.json["error"]?["message"]?.string?.contains("exchange 4 already has the id 4") == true)
        #expect(try self.folder.read("pets.json") == before)
    }

    private static func text(of interaction: Interaction) -> [UInt8] {
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        return writer.bytes
    }

    @Test func aRecorderKeepsItsCassetteToItself() throws {
        let service = try self.service()
        let before = try self.folder.read("pets.json")
        let appender = try CassetteAppender.open(self.path, recorder: "other")
        let text = try self.text(service, 2).replacing("http://a/2", with: "http://a/9")
        #expect(try self.ask(service, "/api/edits", [("key", "2"), ("text", text)], ifMatch: "\"1\"").status == 409)
        withExtendedLifetime(appender) {}
        #expect(try self.folder.read("pets.json") == before)
    }

    @Test func aTornCassetteIsLeftAsItIs() throws {
        _ = try self.service()
        let torn = Array(try self.folder.read("pets.json").dropLast(30))
        try self.folder.write(torn, to: "pets.json")
        let service = try self.opened()
        let text = try self.text(service, 1).replacing("http://a/1", with: "http://a/9")
        let answer = try self.ask(service, "/api/edits", [("key", "1"), ("text", text)], ifMatch: "\"1\"")
        #expect(answer.status == 422 && answer.json["error"]?["message"]?.string?.contains("wiretape decode") == true)
        #expect(try self.folder.read("pets.json") == torn)
    }

    // MARK: Sending, redaction, review

    @Test func recordedOrEditedRequestIsSent() throws {
        let sent = Guarded<[String]>([])
        var tools = InspectorTools()
        tools.send = { order, take in
            guard order.allowsUnsafe || order.interaction.request.method == "GET" else {
                throw SendService.NotSent(reason: "it may change something", isUnsafe: true)
            }
            sent.withLock { $0.append("\(order.interaction.request.method) \(order.interaction.request.url)") }
            try take(.init(interaction: .sample(1, status: 418), changes: [], notes: ["a note"], path: order.path))
        }
        let service = try self.service(tools)
        #expect(try self.ask(service, "/api/send", [("key", "2")]).status == 428)
        #expect(try self.ask(service, "/api/send", [("key", "2")], ifMatch: "\"7\"").status == 412)
        let answer = try self.ask(service, "/api/send", [("key", "2")], ifMatch: "\"1\"")
        #expect(answer.json["status"]?.int == 418 && answer.json["notes"]?.elements.map(\.string) == ["a note"])
        let post = try self.text(service, 2).replacing("\"GET\"", with: "\"POST\"")
        let refused = try self.ask(service, "/api/send", [("key", "2"), ("text", post)], ifMatch: "\"1\"")
        #expect(refused.status == 403 && refused.json["error"]?["code"]?.string == "unsafe-method")
        #expect(try self.ask(service, "/api/send", [("key", "2"), ("text", post), ("unsafe", "true")], ifMatch: "\"1\"").status == 200)
        #expect(try self.ask(service, "/api/send", [("key", "2"), ("text", "{}")], ifMatch: "\"1\"").status == 422)
        #expect(try self.ask(service, "/api/send", [("key", "9")], ifMatch: "\"1\"").status == 400)
        #expect(sent.withLock { $0 } == ["GET http://a/2", "POST http://a/2"])
    }

    @Test func oneTextIsCheckedAtATime() throws {
        let again = Guarded<(@Sendable () -> Int)?>(nil)
        var tools = InspectorTools()
        tools.secrets = { _, _, _ in
            #expect(again.withLock { $0 }?() == 409)
            return []
        }
        let service = try self.service(tools)
        let text = try self.text(service, 2)
        let request = LocalRequest(method: "POST", path: "/api/edits/try", query: "", body: Array(#"{"key": 1, "text": "{}"}"#.utf8))
        again.withLock {
            $0 = {
                guard case .whole(let answer) = service.answer(request) else { return 0 }
                return answer.status
            }
        }
        #expect(try self.ask(service, "/api/edits/try", [("key", "2"), ("text", text)]).status == 200)
        #expect(try self.ask(service, "/api/edits", [("key", "2"), ("text", text)], ifMatch: "\"1\"").status == 200)
    }

    @Test func oneRequestIsSentAtATime() throws {
        let again = Guarded<(@Sendable () -> Int)?>(nil)
        var tools = InspectorTools()
        tools.send = { order, take in
            #expect(again.withLock { $0 }?() == 409)
            try take(.init(interaction: nil, changes: [], notes: [], path: order.path))
        }
        let service = try self.service(tools)
        let request = LocalRequest(method: "POST", path: "/api/send", query: "", body: Array(#"{"key": 1}"#.utf8), ifMatch: "\"1\"")
        again.withLock {
            $0 = {
                guard case .whole(let answer) = service.answer(request) else { return 0 }
                return answer.status
            }
        }
        #expect(try self.ask(service, "/api/send", [("key", "1")], ifMatch: "\"1\"").status == 200)
        #expect(try self.ask(service, "/api/send", [("key", "1")], ifMatch: "\"1\"").status == 200, "the first one has ended")
    }

    @Test func aReplaySendsNothing() throws {
        #expect(try self.ask(self.service(), "/api/send", [("key", "2")]).status == 403)
    }

    @Test func rulesAreTriedAsTheyAreWritten() throws {
        var tools = InspectorTools()
        tools.tryRedaction = { path, _ in
            .init(
                exchanges: 3, changed: 1, places: 1,
                found: [.init(exchange: 2, place: "request url", placeholder: "{{x:1}}", excerpt: "/{{x:1}}")])
        }
        let service = try self.service(tools)
        let found = try self.ask(service, "/api/redactions/try", [("redact", #"["query:x"]"#), ("values", #"["long secret"]"#)])
        #expect(found.json["found"]?.elements.map { $0["placeholder"]?.string } == ["{{x:1}}"])
        for wrong in [("redact", #"["nonsense"]"#), ("redact", #""query:x""#), ("keep", "[1]"), ("values", #"["a"]"#)] {
            #expect(try self.ask(service, "/api/redactions/try", [wrong]).status == 400, "\(wrong)")
        }
    }

    @Test func aRecordingIsAcceptedOnce() throws {
        try RecordedExchanges.write([.sample(1)], to: self.path)
        let question = ReviewQuestion(old: "pets.json", new: self.path)
        var run = InspectedRun(
            command: "record", name: "pets.json", counts: { InspectedRun.Counts() }, report: nil, open: OpenExchanges())
        run.review = question
        let service = try self.opened(run: run)
        #expect(try self.ask(service, "/api/review", [("answer", "accept")]).status == 409, "the recording has not ended")
        question.open()
        #expect(try self.ask(service, "/api/review", [("answer", "perhaps")]).status == 400)
        // The command does the same after an answer.
        DispatchQueue.global().async { question.end(question.wait().map { "\($0.answer.rawValue)ed" } ?? "not answered") }
        let accepted = try self.ask(service, "/api/review", [("answer", "accept")])
        #expect(accepted.status == 200 && accepted.json["review"]?["by"]?.string == "page")
        #expect(try self.ask(service, "/api/review", [("answer", "reject")]).status == 409)
        #expect(try JSONDocument(service.state()).root["review"]?["words"]?.string == "accepted")
        #expect(try self.ask(self.opened(), "/api/review", [("answer", "accept")]).status == 404)
    }
}
