import CassetteModel
import CassettePlayback
import CassetteRedaction
import CassetteStore
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteImport

/// Imports stubs, and replays them: a request gets the answer that the stub's tool would send, or none.
@Suite struct StubReplayTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    private struct Sent {
        var method = "GET"
        var url = "http://a.test/x"
        var headers: [String] = []
        var body: String?

        init(_ method: String = "GET", _ rest: String = "", headers: [String] = [], body: String? = nil) {
            (self.method, self.headers, self.body) = (method, headers, body)
            self.url += rest
        }
    }

    /// The bodies of the answers; nil for a miss.
    private func answers(_ sent: [Sent], order: ReplayOrder = .any, rules: MatchRules? = nil) throws -> [String?] {
        let cassette = try RecordedCassette(path: self.importing.cassette)
        let redaction = try cassette.redactionRules().map { LiveRedactor(Redactor(rules: $0)) }
        let session = try CassetteSession(mode: .none, cassette: cassette, rules: rules, order: order, redaction: redaction)
        return try sent.map { request in
            guard case .replay(let index, _) = try self.decision(request, in: session) else { return nil }
            return String(decoding: try self.importing.bytes(cassette.interaction(at: index).response?.body), as: UTF8.self)
        }
    }

    private func decision(_ request: Sent, in session: CassetteSession) throws -> Decision {
        var headers = request.headers
        if let body = request.body { headers.append("Content-Length: \(body.utf8.count)") }
        let opening = session.begin(
            method: request.method, url: request.url, headers: HeaderFields(headers), hasBody: request.body?.isEmpty == false)
        switch opening {
        case .decided(let decided): return decided
        case .needsBody(let pending):
            var live = pending.body()
            Array((request.body ?? "").utf8).withUnsafeBytes { live.push($0) }
            return try session.resolve(pending, body: live.finish())
        }
    }

    /// How a request that is a miss differs from the nearest recorded one.
    private func differences(_ request: Sent) throws -> [String] {
        let session = try CassetteSession(mode: .none, cassette: RecordedCassette(path: self.importing.cassette))
        guard case .refuse(let report) = try self.decision(request, in: session) else { throw TestProblem("no miss") }
        return report.nearest.first?.differences.map(\.description) ?? []
    }

    private static func stub(_ request: String, _ body: String, _ more: String = "") -> String {
        #"{\#(more) "request": {"method": "GET", "host": {"equalTo": "a.test"}, "scheme": "http", \#(request)}, "response": {"status": 200, "body": "\#(body)"}}"#
    }

    private static func post(_ request: String, _ body: String) -> String {
        self.stub(request, body).split(separator: "GET").joined(separator: "POST")
    }

    /// Imports the stubs, and one more for another method and path, so that there is always an exchange.
    private func report(_ stubs: [String], _ change: (inout ImportOptions) -> Void = { _ in }) throws -> ImportReport {
        let stubs = stubs + [Self.post(#""urlPath": "/unrelated""#, "unrelated")]
        return try self.importing.run(#"{"mappings": [\#(stubs.joined(separator: ","))]}"#, as: "m.json", change).report
    }

    private func wiremock(_ stubs: [String], _ change: (inout ImportOptions) -> Void = { _ in }) throws -> [String: Int] {
        let report = try self.report(stubs, change)
        return Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0.count) })
    }

    /// Imports the pairs, and one more for another method, so that there is always an exchange.
    private func hoverfly(_ pairs: [(request: String, body: String)]) throws -> ImportReport {
        let texts = (pairs.map { ("POST", $0.request, $0.body) } + [("PUT", "", "unrelated")]).map { method, request, body in
            """
            {"request": {"method": [{"matcher": "exact", "value": "\(method)"}], "scheme": [{"matcher": "exact", "value": "http"}],
              "destination": [{"matcher": "exact", "value": "a.test"}], "path": [{"matcher": "exact", "value": "/x"}]\(request)},
             "response": {"status": 200, "body": "\(body)"}}
            """
        }
        return try self.importing.run(#"{"data": {"pairs": [\#(texts.joined(separator: ","))]}}"#, as: "s.json").report
    }

    // MARK: Fields

    @Test func anExactFieldDecides() throws {
        let losses = try self.wiremock([
            Self.stub(#""urlPath": "/x", "headers": {"X-V": {"equalTo": "1"}}"#, "one"),
            Self.stub(#""urlPath": "/x", "headers": {"X-V": {"equalTo": "2"}}"#, "two"),
        ])
        let sent = [["X-V: 2"], ["x-v: 1"], ["X-V: 3"], [], ["X-V: 2"], ["X-V: 2"]].map { Sent(headers: $0) }
        #expect(try self.answers(sent) == ["two", "one", nil, nil, "two", "two"])
        #expect(losses["matcher"] == nil && losses["rival"] == nil && losses["shadowed"] == nil)
    }

    /// A stub without a field answers requests with any.
    @Test func aFieldOfOneStubIsNotComparedForAnother() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "any"), Self.stub(#""urlPath": "/x", "headers": {"Accept": {"equalTo": "text/x"}}"#, "x"),
        ])
        let sent = [["Accept: text/x"], ["Accept: text/y"], [], ["Accept: text/x"], ["Accept: a", "SOAPAction: b", "Range: bytes=0-1"]]
        #expect(try self.answers(sent.map { Sent(headers: $0) }) == ["x", "any", "any", "x", "any"])
    }

    @Test func anAbsentFieldMustBeAbsent() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "any"), Self.stub(#""urlPath": "/x", "headers": {"Accept": {"absent": true}}"#, "none"),
        ])
        #expect(try self.answers([Sent(headers: ["Accept: a"]), Sent()]) == ["any", "none"])
    }

    @Test func anExactCookieDecides() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x", "cookies": {"theme": {"equalTo": "dark"}}"#, "dark"),
            Self.stub(#""urlPath": "/x", "cookies": {"theme": {"equalTo": "light"}}"#, "light"),
            Self.stub(#""urlPath": "/x", "cookies": {"theme": {"absent": true}, "a": {"equalTo": "1"}}"#, "none"),
        ]) { $0.redaction = nil }
        let sent = ["Cookie: z=1; theme=light", "Cookie: theme=dark", "Cookie: theme=x", "Cookie: a=1", "Cookie: a=2"]
        #expect(try self.answers(sent.map { Sent(headers: [$0]) } + [Sent()]) == ["light", "dark", nil, "none", nil, nil])
    }

    private static let users = ["bob", "eve"].map { name in
        stub(#""urlPath": "/x", "basicAuth": {"username": "\#(name)", "password": "pw-\#(name)"}"#, name, #""name": "of \#(name)","#)
    }

    /// `Basic` with a user and a password.
    private static let credentials = (bob: "Authorization: Basic Ym9iOnB3LWJvYg==", eve: "Authorization: Basic ZXZlOnB3LWV2ZQ==")

    /// A placeholder takes the place of both, so a replay cannot tell them apart, and answers neither.
    @Test func twoUsersThatCannotBeToldApartAreLeftOut() throws {
        let report = try self.report(Self.users)
        let rival = report.losses.first { $0.kind == "rival" }
        #expect(rival?.count == 2 && rival?.text.contains(#""of bob" of m.json after "of eve" of m.json"#) == true, "\(report.losses)")
        let secret = report.losses.first { $0.kind == "secretCondition" }
        #expect(secret?.count == 2 && secret?.text.contains(#""of eve" of m.json: header:authorization"#) == true)
        #expect(report.exchanges == 1)
    }

    /// The import reports that other credentials match as well.
    @Test func aUserAloneAnswersWithAnyCredentials() throws {
        _ = try self.wiremock([Self.users[1]])
        #expect(try self.answers([Sent(headers: [Self.credentials.bob]), Sent()]) == ["eve", nil])
    }

    @Test func keptCredentialsDecide() throws {
        let losses = try self.wiremock(Self.users) { $0.redaction = nil }
        let sent = [[Self.credentials.eve], [Self.credentials.bob], ["Authorization: Basic Ym9iOndyb25n"], []].map { Sent(headers: $0) }
        #expect(try self.answers(sent) == ["eve", "bob", nil, nil])
        #expect(losses["rival"] == nil && losses["secretCondition"] == nil)
    }

    /// Fields of the connection are not compared, so they cannot be conditions.
    @Test func aFieldOfTheConnectionIsReported() throws {
        let losses = try self.wiremock([Self.stub(#""urlPath": "/x", "headers": {"Connection": {"equalTo": "close"}}"#, "a")])
        #expect(losses["matcher"] == 1)
        #expect(try self.answers([Sent()]) == ["a"])
    }

    // MARK: Queries

    /// The values of a query are compared decoded, however clients spell them.
    @Test(arguments: [
        ("it's (x)!*", ["it%27s+%28x%29%21*", "it%27s%20(x)!*", "it's%20(x)!*", "it%27s%20%28x%29%21%2A"]),
        ("[1]", ["%5B1%5D", "[1]", "%5b1%5d"]), ("{x}", ["{x}", "%7Bx%7D"]), ("a=b", ["a=b", "a%3Db"]), ("a|b^c", ["a|b^c", "a%7Cb%5Ec"]),
        ("k:v,k2:v2 z/y?q", ["k%3Av%2Ck2%3Av2%20z/y%3Fq", "k:v,k2:v2+z/y?q"]), ("a+b&c%", ["a%2Bb%26c%25"]),
        ("\u{fc}", ["%C3%BC", "%c3%bc"]),
    ]) func aDecodedValueMatchesEachSpelling(_ value: String, _ spellings: [String]) throws {
        _ = try self.wiremock([Self.stub(#""urlPath": "/x", "queryParameters": {"q": {"equalTo": "\#(value)"}}"#, "a")])
        #expect(try RecordedExchanges.read(self.importing.cassette).count == 2)
        #expect(try self.answers(spellings.map { Sent("GET", "?q=\($0)") }) == spellings.map { _ in "a" })
        #expect(try self.answers([Sent("GET", "?q=z"), Sent(), Sent("GET", "?r=\(spellings[0])")]) == [nil, nil, nil])
    }

    @Test func aPathAloneMatchesAnyQuery() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "any"), Self.stub(#""urlPath": "/x", "queryParameters": {"a": {"equalTo": "1"}}"#, "a1"),
            Self.stub(#""url": "/x?b=1""#, "b1"),
            Self.stub(#""urlPath": "/x", "queryParameters": {"c": {"absent": true}, "d": {"equalTo": ""}}"#, "d"),
        ])
        let queries = ["?b=2", "", "?a=1", "?z=2&a=1", "?b=1", "?b=1&z=2", "?a=2", "?d", "?d=&c=1"]
        #expect(try self.answers(queries.map { Sent("GET", $0) }) == ["any", "any", "a1", "a1", "b1", "any", "any", "d", "any"])
    }

    /// It answers more requests than in WireMock, which is reported, and not none.
    @Test func aPatternOfAQueryIsLeftOut() throws {
        let losses = try self.wiremock([Self.stub(#""urlPath": "/x", "queryParameters": {"a": {"matches": "1.*"}}"#, "one")])
        #expect(losses["matcher"] == 1)
        #expect(try self.answers([Sent("GET", "?a=15"), Sent("GET", "?b=2")]) == ["one", "one"])
    }

    @Test func aRedactedValueOfAQueryMatchesAny() throws {
        let losses = try self.wiremock([
            Self.stub(#""urlPath": "/x", "queryParameters": {"api_key": {"equalTo": "k9f3hh20dmw81kfoow"}}"#, "a")
        ])
        #expect(losses["secretCondition"] == 1)
        #expect(try self.answers([Sent("GET", "?api_key=x8dn30qhd83nkasm2l"), Sent()]) == ["a", nil])
    }

    @Test func theSegmentsOfATemplateNameAPath() throws {
        let losses = try self.wiremock([Self.stub(#""urlPathTemplate": "/x/{id}/y", "pathParameters": {"id": {"equalTo": "a b"}}"#, "a")])
        #expect(losses["matcher"] == nil)
        #expect(try self.answers([Sent("GET", "/a%20b/y"), Sent("GET", "/b/y")]) == ["a", nil])
    }

    // MARK: Bodies

    @Test func aStubWithoutABodyMatchesAny() throws {
        _ = try self.wiremock([Self.post(#""urlPath": "/x""#, "any")])
        let bodies = [nil, "", "abc", "{}"].map { Sent("POST", body: $0) }
        #expect(
            try self.answers(bodies + [Sent("POST", headers: ["Content-Type: application/json"], body: "[1]")])
                == Array(repeating: "any", count: 5))
    }

    @Test func anExactBodyOfAnyTypeDecides() throws {
        _ = try self.wiremock([
            Self.post(#""urlPath": "/x", "bodyPatterns": [{"equalTo": "abc"}]"#, "abc"),
            Self.post(#""urlPath": "/x", "bodyPatterns": [{"equalToJson": {"a": 1}}]"#, "json"),
            Self.post(#""urlPath": "/x", "formParameters": {"a": {"equalTo": "1"}}"#, "form"),
            Self.post(#""urlPath": "/x", "bodyPatterns": [{"absent": true}]"#, "none"),
        ])
        let form = "Content-Type: application/x-www-form-urlencoded"
        let sent = [
            Sent("POST", headers: [form], body: "abc"), Sent("POST", headers: ["Content-Type: text/plain"], body: "abc"),
            Sent("POST", body: "abc"), Sent("POST", headers: [form], body: "a=1"), Sent("POST", headers: [form], body: #"{ "a": 1 }"#),
            Sent("POST"), Sent("POST", headers: [form], body: "a=2"), Sent("POST", headers: [form], body: "abcd"),
        ]
        #expect(try self.answers(sent) == ["abc", "abc", "abc", "form", "json", "none", nil, nil])
    }

    @Test(arguments: [
        #"{"matchesJsonPath": "$.a"}"#, #"{"equalToJson": {"a": "${json-unit.any-string}"}}"#,
        #"{"equalToXml": "<a>${xmlunit.ignore}</a>", "enablePlaceholders": true}"#, #"{"contains": "a"}"#,
    ]) func aPatternOfABodyMatchesAnyAndIsReported(_ pattern: String) throws {
        let losses = try self.wiremock([Self.post(#""urlPath": "/x", "bodyPatterns": [\#(pattern)]"#, "a")])
        #expect(losses["matcher"] == 1)
        #expect(try self.answers([Sent("POST", body: "q")]) == ["a"])
    }

    @Test func aLooseBodyIsNarrowedAndReported() throws {
        let losses = try self.wiremock([
            Self.post(#""urlPath": "/x", "bodyPatterns": [{"equalToJson": "{\"a\": 1}", "ignoreExtraElements": true}]"#, "a")
        ])
        #expect(losses["narrowed"] == 1 && losses["matcher"] == nil)
        #expect(try self.answers([Sent("POST", body: #"{"a":1}"#), Sent("POST", body: #"{"a":1,"b":2}"#)]) == ["a", nil])
    }

    // MARK: Precedence

    /// Which of several stubs that match a request answers: the one of the highest priority, and of these the last one.
    @Test func theStubThatItsToolPrefersAnswers() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x", "headers": {"A": {"equalTo": "1"}}"#, "a"),
            Self.stub(#""urlPath": "/x", "headers": {"B": {"equalTo": "1"}}"#, "b"),
            Self.stub(#""urlPath": "/x""#, "fallback", #""priority": 9,"#),
            Self.stub(#""urlPath": "/x", "headers": {"C": {"equalTo": "1"}}"#, "c", #""priority": 1,"#),
        ])
        let sent = [["A: 1", "B: 1"], ["A: 1", "C: 1"], ["A: 1"], [], ["A: 1", "B: 1"]].map { Sent(headers: $0) }
        #expect(try self.answers(sent) == ["b", "c", "a", "fallback", "b"])
    }

    /// The interface of WireMock lists the stub first that was added last.
    @Test(arguments: [("", "new"), (#", "meta": {"total": 2}"#, "old")]) func theStubThatWasAddedLastAnswers(_ meta: String, _ body: String)
        throws
    {
        let stubs = "\(Self.stub(#""urlPath": "/x""#, "old")), \(Self.stub(#""urlPath": "/x""#, "new"))"
        let report = try self.importing.run(#"{"mappings": [\#(stubs)]\#(meta)}"#, as: "m.json").report
        #expect(report.losses.first { $0.kind == "shadowed" }?.count == 1)
        #expect(try self.answers([Sent(), Sent()]) == [body, body])
    }

    /// The tool knows the stubs of all files, so the order of the files is not that of the stubs.
    @Test func theStubsOfSeveralFilesAreOrderedTogether() throws {
        let files = try [
            Self.stub(#""urlPath": "/x""#, "fallback", #""priority": 9,"#),
            Self.stub(#""urlPath": "/x", "headers": {"A": {"equalTo": "1"}}"#, "a"), #"{"request": {"method": 5}}"#,
        ].enumerated().map { try self.importing.folder.write($1.utf8, to: "\($0).json") }
        let report = try CassetteImporter(ImportOptions()).run(files, to: self.importing.cassette, version: "1")
        #expect(report.sources.map(\.exchanges) == [1, 1] && report.failures.count == 1)
        #expect(try self.answers([Sent(headers: ["A: 1"]), Sent()]) == ["a", "fallback"])
    }

    @Test func stubsThatAPatternToldApartAreReportedByName() throws {
        let stubs = ["json", "xml"].map {
            Self.stub(#""urlPath": "/x", "headers": {"Accept": {"contains": "\#($0)"}}"#, $0, #""id": "\#($0)","#)
        }
        let report = try self.report(stubs)
        let rival = report.losses.first { $0.kind == "rival" }
        #expect(rival?.count == 2 && rival?.text.contains(#""json" of m.json after "xml" of m.json"#) == true, "\(report.losses)")
        #expect(report.exchanges == 1 && report.losses.first { $0.kind == "matcher" }?.count == 2)
    }

    @Test func theStatesOfAScenarioAnswerInOrder() throws {
        let stubs = [("one", "", #""newScenarioState": "b","#), ("two", #""requiredScenarioState": "b","#, "")].map {
            body, required, next in
            Self.stub(#""urlPath": "/x""#, body, #""scenarioName": "s", \#(required) \#(next)"#)
        }
        let losses = try self.wiremock(stubs)
        #expect(losses["scenario"] == 2 && losses["state"] == nil && losses["shadowed"] == nil)
        #expect(try self.answers([Sent(), Sent(), Sent()]) == ["one", "two", "two"])
    }

    private static func state(_ body: String, _ required: String, _ next: String? = nil, of method: String = "GET") -> String {
        let states = #""requiredScenarioState": "\#(required)", \#(next.map { #""newScenarioState": "\#($0)","# } ?? "")"#
        return self.stub(#""urlPath": "/x""#, body, #""scenarioName": "s", \#(states)"#).split(separator: "GET").joined(separator: method)
    }

    /// The state changes by a POST, which a replay does not follow. A fallback would answer in its place.
    @Test func statesThatOtherRequestsChangeAreLeftOut() throws {
        let fallback = Self.stub(#""urlPath": "/x""#, "fallback", #""priority": 9,"#)
        let losses = try self.wiremock([
            Self.state("empty", "Started"), Self.state("added", "Started", "b", of: "POST"), Self.state("one", "b"), fallback,
        ])
        #expect(losses["state"] == 3 && losses["rival"] == 1)
        #expect(try self.answers([Sent(), Sent("POST"), Sent()]) == [nil, nil, nil])
    }

    @Test func aStateThatNothingLeadsToIsLeftOut() throws {
        let losses = try self.wiremock([Self.stub(#""urlPath": "/x""#, "plain"), Self.state("never", "b")])
        #expect(losses["state"] == 1 && losses["rival"] == nil)
        #expect(try self.answers([Sent(), Sent()]) == ["plain", "plain"])
    }

    @Test func theLastStepOfAScenarioThatLeavesItAnswersOnce() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "after", #""priority": 9,"#), Self.state("one", "Started", "b"), Self.state("two", "b", "c"),
        ])
        #expect(try self.answers([Sent(), Sent(), Sent(), Sent()]) == ["one", "two", "after", "after"])
    }

    private static func plain(_ priority: Int) -> String { Self.stub(#""urlPath": "/x""#, "plain", #""priority": \#(priority),"#) }

    /// The tool begins again with the first step.
    @Test func aStubAfterACycleIsLeftOut() throws {
        let losses = try self.wiremock([Self.plain(9), Self.state("one", "Started", "b"), Self.state("two", "b", "Started")])
        #expect(losses["rival"] == 1)
        #expect(try self.answers([Sent(), Sent(), Sent()]) == ["one", "two", nil])
    }

    @Test func aStubBetweenTwoStepsMakesThemNoOrder() throws {
        let losses = try self.wiremock([
            Self.state("one", "Started", "b"), Self.stub(#""urlPath": "/x""#, "plain"), Self.state("two", "b"),
        ])
        #expect(losses["state"] == 2)
        #expect(try self.answers([Sent(), Sent(), Sent()]) == [nil, nil, nil])
    }

    @Test func aStateThatAPatternLeadsToIsLeftOut() throws {
        let hidden =
            #"{"scenarioName": "s", "newScenarioState": "b", "request": {"method": "PUT", "urlPathPattern": "/[a-z]"}, "response": {"status": 200}}"#
        let losses = try self.wiremock([hidden, Self.state("full", "b"), Self.plain(9)])
        #expect(losses["rival"] == 1)
        #expect(try self.answers([Sent(), Sent()]) == [nil, nil])
    }

    @Test func theNameOfAScenarioAloneChangesNothing() throws {
        let named = Self.stub(#""urlPath": "/x""#, "named", #""scenarioName": "s", "priority": 9,"#)
        _ = try self.wiremock([named, Self.state("one", "Started", "b"), Self.state("two", "b")])
        #expect(try self.answers([Sent(), Sent(), Sent()]) == ["one", "two", "two"])
    }

    /// The tool answers some of the requests with the other stub, and a replay does not know which.
    @Test(arguments: [
        #""urlPath": "/x", "bodyPatterns": [{"matchesJsonPath": "$.fail"}]"#, #""urlPath": "/x", "headers": {"A": {"contains": "b"}}"#,
        #""urlPath": "/x", "headers": {"A": {"equalTo": "1"}, "B": {"matches": "x.*"}}"#,
        #""urlPath": "/x", "queryParameters": {"q": {"matches": "1.*"}}"#,
    ]) func aStubWithALeftOutConditionIsNotImportedNextToOthers(_ request: String) throws {
        let losses = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "ok"), Self.stub(request, "fail", #""priority": 1,"#),
            Self.stub(#""urlPath": "/x", "headers": {"First": {"equalTo": "1"}}"#, "first", #""priority": 0,"#),
        ])
        #expect(losses["rival"] == 2 && losses["matcher"] == 1)
        #expect(try self.answers([Sent(), Sent(headers: ["A: b"]), Sent(headers: ["First: 1"])]) == [nil, nil, "first"])
    }

    /// The tool prefers a stub that has no exchange, since its URL is a pattern or it forwards.
    @Test(arguments: [
        (#""urlPathPattern": "/[a-z]""#, ""), (#""urlPattern": "/x(\\?.*)?""#, ""), (#""urlPathTemplate": "/{id}""#, ""),
        (#""urlPath": "/x""#, "proxy"), (#""headers": {}"#, ""),
    ]) func aStubAfterAHiddenOneIsLeftOut(_ request: String, _ kind: String) throws {
        var hidden = Self.stub(request, "hidden")
        if kind == "proxy" { hidden = hidden.replacing(#""status": 200"#, with: #""proxyBaseUrl": "http://b.test""#) }
        let losses = try self.wiremock([Self.stub(#""urlPath": "/x""#, "old"), Self.stub(#""url": "/xyz/z""#, "other"), hidden])
        #expect(losses["rival"] == (request.contains("headers") ? 2 : 1), "\(losses)")
        #expect(try self.answers([Sent(), Sent("GET", "yz/z")]) == [nil, request.contains("headers") ? nil : "other"])
    }

    @Test(arguments: [
        #""urlPathPattern": "/x/?""#, #""urlPathPattern": "/[a-z&&[^y]]""#, #""urlPathPattern": "/.""#, #""urlPattern": "/x.*page=2.*""#,
        #""urlPattern": "/x[?]page=\\d+""#, #""urlPattern": "/a\\?p=1|/x\\?p=1""#, #""urlPattern": "/x[^/]*a=1""#,
        #""urlPattern": "/xy?\\?p=1""#, #""urlPathPattern": "/x", "method": {"noneOf": ["PUT"]}"#,
    ]) func aPatternThatMayMatchHidesAStub(_ request: String) throws {
        let method = request.contains("method") ? "" : #", "method": "GET""#
        let hidden = #"{"priority": 1, "request": {\#(request)\#(method)}, "response": {"status": 200, "body": "hidden"}}"#
        let losses = try self.wiremock([hidden, Self.stub(#""urlPath": "/x""#, "x")])
        #expect(losses["rival"] == 1, "\(losses)")
        #expect(try self.answers([Sent()]) == [nil])
    }

    /// Its optional group is not the end of the pattern.
    @Test func aPatternWithTwoGroupsHidesOtherPaths() throws {
        let hidden = Self.stub(#""urlPattern": "/x(\\?a)?y(z)?""#, "hidden", #""priority": 1,"#)
        #expect(try self.wiremock([hidden, Self.stub(#""urlPath": "/xy""#, "xy")])["rival"] == 1)
        #expect(try self.answers([Sent("GET", "y")]) == [nil])
    }

    /// The text decides, and not the document or the fields.
    @Test(arguments: [
        ("{\"a\":1}", "{\"a\": 1}"), ("<a b='1'/>", "<a b=\"1\"/>"), ("a=1&b=2", "b=2&a=1"), ("text", "text "), ("a=%7E", "a=~"),
    ]) func aBodyIsComparedByItsText(_ body: String, _ other: String) throws {
        let json = body.replacing("\"", with: "\\\"")
        let losses = try self.wiremock([
            Self.post(#""urlPath": "/x""#, "any"), Self.post(#""urlPath": "/x", "bodyPatterns": [{"equalTo": "\#(json)"}]"#, "one"),
        ])
        #expect(losses["rival"] == nil, "\(losses)")
        let sent = ["application/json", "application/x-www-form-urlencoded", "application/octet-stream", "text/xml"].flatMap { type in
            [body, other].map { Sent("POST", headers: ["Content-Type: \(type)"], body: $0) }
        }
        #expect(try self.answers(sent) == sent.map { $0.body == body ? "one" : "any" })
    }

    /// WireMock reads JSON and XML whatever the type of the request says.
    @Test(arguments: [
        (#"{"equalToJson": "{\"a\": 1, \"b\": [2]}"}"#, #"{"b":[2],"a":1.0}"#, #"{"a":1,"b":2}"#),
        (#"{"equalToXml": "<a x='1' y='2'/>"}"#, #"<a y="2" x="1"></a>"#, "<a/>"),
    ]) func aDocumentMayHaveAnyType(_ pattern: String, _ equal: String, _ other: String) throws {
        _ = try self.wiremock([
            Self.post(#""urlPath": "/x""#, "any"), Self.post(#""urlPath": "/x", "bodyPatterns": [\#(pattern)]"#, "one"),
        ])
        for type in ["application/json", "application/octet-stream", "text/plain", "image/png"] {
            let sent = [equal, other].map { Sent("POST", headers: ["Content-Type: \(type)"], body: $0) }
            #expect(try self.answers(sent) == ["one", "any"], "\(type)")
        }
    }

    @Test func aBinaryBodyIsComparedByItsBytes() throws {
        _ = try self.wiremock([Self.post(#""urlPath": "/x", "bodyPatterns": [{"binaryEqualTo": "eyJhIjoxfQ=="}]"#, "one")])
        let sent = [#"{"a":1}"#, #"{"a": 1}"#].map { Sent("POST", headers: ["Content-Type: application/json"], body: $0) }
        #expect(try self.answers(sent) == ["one", nil])
    }

    /// WireMock compares no text with an empty body.
    @Test func anEmptyTextIsNeverUsed() throws {
        let losses = try self.wiremock([
            Self.post(#""urlPath": "/x""#, "any"), Self.post(#""urlPath": "/x", "bodyPatterns": [{"equalTo": ""}]"#, "empty"),
        ])
        #expect(losses["unused"] == 1)
        #expect(try self.answers([Sent("POST"), Sent("POST", body: "")]) == ["any", "any"])
    }

    @Test func aMissOfATextShowsTheLine() throws {
        _ = try self.wiremock([Self.post(#""urlPath": "/x", "bodyPatterns": [{"equalTo": "{\"a\":1}"}]"#, "one")])
        #expect(
            try self.differences(Sent("POST", headers: ["Content-Type: application/json"], body: #"{"a": 1}"#)) == [
                #"text line 1 is "{\"a\": 1}", recorded is "{\"a\":1}""#
            ])
    }

    // MARK: Several values

    /// WireMock takes any of them.
    @Test func oneOfSeveralValuesIsEnough() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "any"), Self.stub(#""urlPath": "/x", "queryParameters": {"q": {"equalTo": "1"}}"#, "q1"),
            Self.stub(#""urlPath": "/x", "headers": {"X-V": {"equalTo": "1"}}"#, "v1"),
            Self.stub(#""urlPath": "/x", "cookies": {"theme": {"equalTo": "dark"}}"#, "dark"),
            Self.stub(#""urlPath": "/x", "queryParameters": {"q": {"equalTo": "2"}}"#, "q2"),
            Self.stub(#""urlPath": "/x", "queryParameters": {"r": {"includes": [{"equalTo": "1"}, {"equalTo": "2"}]}}"#, "r12"),
        ]) { $0.redaction = nil }
        let queries = [("?q=0&q=1", "q1"), ("?q=1&q=2", "q2"), ("?q=3&q=4", "any"), ("?r=2&r=3&r=1", "r12"), ("?r=1&r=3", "any")]
        #expect(try self.answers(queries.map { Sent("GET", $0.0) }) == queries.map(\.1))
        let headers = [(["X-V: 0", "X-V: 1"], "v1"), (["X-V: 1, 0"], "any"), (["Cookie: theme=light; theme=dark"], "dark")]
        #expect(try self.answers(headers.map { Sent(headers: $0.0) }) == headers.map(\.1))
    }

    @Test func aUserAmongSeveralCredentialsAnswers() throws {
        _ = try self.wiremock(Self.users) { $0.redaction = nil }
        #expect(try self.answers([Sent(headers: ["Authorization: Bearer x", Self.credentials.eve])]) == ["eve"])
    }

    @Test func anAbsentItemMustBeAbsentInEachSpelling() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "any"), Self.stub(#""urlPath": "/x", "queryParameters": {"q": {"absent": true}}"#, "none"),
        ])
        #expect(
            try self.answers([Sent("GET", "?q=1&q=2"), Sent("GET", "?q"), Sent("GET", "?%71=1"), Sent()]) == ["any", "any", "any", "none"])
    }

    /// The pattern of one stub may be for the first value, and another stub for the second.
    @Test func severalValuesNextToAPatternAreAMiss() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x", "queryParameters": {"q": {"equalTo": "2"}}"#, "two"),
            Self.stub(#""urlPath": "/x", "queryParameters": {"q": {"equalTo": "1"}}, "headers": {"A": {"matches": "b.*"}}"#, "one"),
        ])
        #expect(
            try self.answers([Sent("GET", "?q=1"), Sent("GET", "?q=2"), Sent("GET", "?q=1&q=2"), Sent("GET", "?q=2&q=9")])
                == ["one", "two", nil, nil])
        let differences = try self.differences(Sent("GET", "?q=1&q=2"))
        #expect(differences.contains { $0.contains("q=1&q=2") || $0.contains("several values") }, "\(differences)")
    }

    /// Hoverfly joins them with semicolons before it compares them.
    @Test func severalValuesOfHoverflyAreJoined() throws {
        let pairs = [
            ("", "any"), (#", "query": {"q": [{"matcher": "exact", "value": "1;2"}]}"#, "q12"),
            (#", "query": {"q": [{"matcher": "array", "value": ["3", "4"]}]}"#, "q34"),
            (#", "query": {"q": [{"matcher": "exact", "value": "1"}]}"#, "q1"),
            (#", "headers": {"A": [{"matcher": "exact", "value": "1;2"}]}"#, "a12"),
        ]
        _ = try self.hoverfly(pairs.map { (request: $0.0, body: $0.1) })
        let queries = [
            ("?q=1&q=2", "q12"), ("?q=1;2", "q12"), ("?q=2&q=1", "any"), ("?q=3&q=4", "q34"), ("?q=3;4", "q34"), ("?q=1&q=3", "any"),
            ("?q=1", "q1"),
        ]
        #expect(try self.answers(queries.map { Sent("POST", $0.0) }) == queries.map(\.1))
        let headers = [(["A: 1", "A: 2"], "a12"), (["a: 1;2"], "a12"), (["A: 1, 2"], "any"), (["A: 2", "A: 1"], "any")]
        #expect(try self.answers(headers.map { Sent("POST", headers: $0.0) }) == headers.map(\.1))
    }

    /// The names of items count in any letter case, their values do not.
    @Test func namesOfItemsOfHoverflyHaveAnyCase() throws {
        _ = try self.hoverfly([(request: #", "query": {"pageSize": [{"matcher": "exact", "value": "a"}]}"#, body: "a")])
        let sent = ["?pageSize=a", "?PAGESIZE=a", "?pagesize=a&z=1", "?pageSize=A", "?pagesize=a&pageSize=a"].map { Sent("POST", $0) }
        #expect(try self.answers(sent) == ["a", "a", "a", nil, nil])
    }

    @Test func namesOfItemsOfWireMockHaveTheirCase() throws {
        _ = try self.wiremock([Self.stub(#""urlPath": "/x", "queryParameters": {"pageSize": {"equalTo": "a"}}"#, "a")])
        #expect(try self.answers([Sent("GET", "?pageSize=a"), Sent("GET", "?pagesize=a")]) == ["a", nil])
    }

    /// Hoverfly counts only `exact` in small letters twice.
    @Test func aMatcherInAnotherCaseIsWeaker() throws {
        _ = try self.hoverfly([
            (request: #", "headers": {"A": [{"matcher": "exact", "value": "1"}]}"#, body: "a"),
            (request: #", "headers": {"B": [{"matcher": "Exact", "value": "1"}]}"#, body: "b"),
        ])
        #expect(try self.answers([Sent("POST", headers: ["A: 1", "B: 1"]), Sent("POST", headers: ["B: 1"])]) == ["a", "b"])
    }

    // MARK: The text of a URL

    /// WireMock compares it as it was sent.
    @Test func aURLIsComparedByItsText() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "any"), Self.stub(#""url": "/x?a=1&b=2""#, "ab"), Self.stub(#""url": "/x?q=a%20b""#, "q"),
            Self.stub(#""urlPattern": "/x\\?c=3&d=4""#, "cd"),
        ])
        let queries = [
            ("?a=1&b=2", "ab"), ("?b=2&a=1", "any"), ("?a=1&b=2&c", "any"), ("?q=a%20b", "q"), ("?q=a+b", "any"), ("?a=%31&b=2", "any"),
            ("?c=3&d=4", "cd"), ("?d=4&c=3", "any"), ("?", "any"),
        ]
        #expect(try self.answers(queries.map { Sent("GET", $0.0) }) == queries.map(\.1))
    }

    @Test(arguments: [#""url": "/x~""#, #""urlPath": "/x~""#, #""urlPathPattern": "/x~""#])
    func aPathIsComparedByItsText(_ request: String) throws {
        _ = try self.wiremock([Self.stub(request, "a")])
        #expect(try self.answers([Sent("GET", "~"), Sent("GET", "%7e")]) == ["a", nil])
        let differences = try self.differences(Sent("GET", "%7e"))
        #expect(differences.count == 1 && differences[0].contains("/x%7e") && differences[0].contains("the stub compares the text"))
    }

    /// The text of the URL says whether any request has the items.
    @Test func itemsNextToAURLAreCheckedOnce() throws {
        let losses = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "any"),
            Self.stub(#""url": "/x?a=1", "queryParameters": {"a": {"equalTo": "1"}, "b": {"absent": true}}"#, "a1"),
            Self.stub(#""url": "/x?a=2", "queryParameters": {"a": {"equalTo": "3"}}"#, "never"),
        ])
        #expect(losses["unused"] == 1 && losses["rival"] == nil)
        #expect(try self.answers([Sent("GET", "?a=1"), Sent("GET", "?a=2")]) == ["a1", "any"])
    }

    @Test(arguments: [#""url": "/a b""#, #""urlPath": "/x?a=1""#, #""url": "x""#, #""url": "/\u00fc""#])
    func aTextThatNoURLHasIsNeverUsed(_ request: String) throws {
        #expect(try self.wiremock([Self.stub(request, "never")])["unused"] == 1)
        #expect(try self.answers([Sent("GET", ""), Sent("GET", "?a=1")]) == [nil, nil])
    }

    @Test func rulesApplyToTheTextOfAURL() throws {
        _ = try self.wiremock([Self.stub(#""url": "/x?a=1&ts=5&b=2""#, "a")])
        let rules = try MatchRules(ignore: ["query:ts"])
        #expect(
            try self.answers([Sent("GET", "?a=1&ts=6&b=2"), Sent("GET", "?a=1&b=2"), Sent("GET", "?b=2&a=1")], rules: rules) == [
                "a", "a", nil,
            ])
        let more = try MatchRules(ignore: ["query"])
        #expect(try self.answers([Sent("GET", "?z")], rules: more) == ["a"])
    }

    @Test func aSecretInTheTextOfAURLMatchesAny() throws {
        _ = try self.wiremock([Self.stub(#""url": "/x?a=1&api_key=k9f3hh20dmw81kfoow""#, "a")])
        #expect(
            try self.answers([Sent("GET", "?a=1&api_key=x8dn30qhd83nkasm2l"), Sent("GET", "?api_key=x8dn30qhd83nkasm2l&a=1")]) == [
                "a", nil,
            ])
    }

    // MARK: The order of files

    /// WireMock's order is that of the file system.
    @Test(arguments: [
        (#""urlPath": "/x""#, #""urlPath": "/x""#, "", true), (#""urlPath": "/x""#, #""urlPath": "/x""#, #""priority": 2,"#, false),
        (
            #""urlPath": "/x", "queryParameters": {"q": {"equalTo": "1"}}"#, #""urlPath": "/x", "headers": {"A": {"equalTo": "1"}}"#, "",
            true
        ),
        (#""urlPath": "/x", "queryParameters": {"q": {"equalTo": "1"}}"#, #""url": "/x?q=2""#, "", false),
        (#""urlPath": "/x""#, #""urlPathPattern": "/[a-z]""#, "", true), (#""urlPath": "/x""#, #""urlPath": "/y""#, "", false),
    ]) func stubsWhoseFilesDecideAreReported(_ one: String, _ other: String, _ priority: String, _ isReported: Bool) throws {
        for (name, text) in [("b", Self.stub(one, "b")), ("a", Self.stub(other, "a", priority))] {
            try self.importing.folder.write(text.utf8, to: "wm/mappings/\(name).json")
        }
        let report = try CassetteImporter(ImportOptions()).run(
            [self.importing.folder.file("wm")], to: self.importing.cassette, version: "1")
        let loss = report.losses.first { $0.kind == "fileOrder" }
        #expect((loss?.count == 1) == isReported, "\(report.losses)")
        if isReported { #expect(loss?.text.contains("of b.json") == true && loss?.text.contains("of a.json") == true) }
    }

    /// One file has an order of its own, and equal answers need none.
    @Test func stubsOfOneFileOrWithOneAnswerAreNotReported() throws {
        #expect(try self.wiremock([Self.stub(#""urlPath": "/x""#, "a"), Self.stub(#""urlPath": "/x""#, "b")])["fileOrder"] == nil)
        for name in ["a", "b"] {
            try self.importing.folder.write(Self.stub(#""urlPath": "/x""#, "same").utf8, to: "wm/mappings/\(name).json")
        }
        let path = self.importing.folder.file("other.json")
        let report = try CassetteImporter(ImportOptions()).run([self.importing.folder.file("wm")], to: path, version: "1")
        #expect(!report.losses.contains { $0.kind == "fileOrder" })
    }

    /// Documents are found by what they have in common, and not compared one by one.
    @Test func manyLooseBodiesAreImported() throws {
        let stubs = (0..<400).map { number in
            Self.post(
                #""urlPath": "/x", "bodyPatterns": [{"equalToJson": "{\"id\": \#(number), \"k\": {\"n\": \#(number % 7)}}", "ignoreExtraElements": true}]"#,
                "r\(number)")
        }
        let more = Self.post(
            #""urlPath": "/x", "bodyPatterns": [{"equalToJson": "{\"k\": {\"n\": 3}}", "ignoreExtraElements": true}]"#, "less")
        let losses = try self.wiremock([more] + stubs)
        #expect(losses["rival"] == 1 && losses["narrowed"] == 401)
        #expect(
            try self.answers([Sent("POST", body: #"{"id":399,"k":{"n":0}}"#), Sent("POST", body: #"{"k":{"n":3}}"#)]) == ["r399", nil])
    }

    @Test func aPartOfTheMappingsIsRefused() throws {
        let text = #"{"mappings": [\#(Self.stub(#""urlPath": "/x""#, "x"))], "meta": {"total": 2}}"#
        let error = #expect(throws: CassetteError.self) { try self.importing.run(text, as: "m.json") }
        #expect(error?.message.contains("1 of 2 mappings: save all of them") == true)
    }

    @Test(arguments: [
        #""urlPathPattern": "/y/?""#, #""urlPathPattern": "/x/[0-9]+""#, #""urlPattern": "/xy\\?p=1""#, #""urlPattern": "/y.*""#,
        #""urlPathPattern": "/x", "method": "PUT""#,
    ]) func aPatternThatCannotMatchHidesNothing(_ request: String) throws {
        let method = request.contains("method") ? "" : #", "method": "GET""#
        let hidden = #"{"priority": 1, "request": {\#(request)\#(method)}, "response": {"status": 200, "body": "hidden"}}"#
        let losses = try self.wiremock([hidden, Self.stub(#""urlPath": "/x""#, "x")])
        #expect(losses["rival"] == nil, "\(losses)")
        #expect(try self.answers([Sent()]) == ["x"])
    }

    /// A stub without a host answers requests for each, and is imported for one.
    @Test func aStubForAnyHostIsARivalOfThoseForOne() throws {
        let anyHost = #"{"priority": 1, "request": {"method": "GET", "urlPath": "/x"}, "response": {"status": 200, "body": "any"}}"#
        let losses = try self.wiremock([Self.stub(#""urlPath": "/x""#, "a"), Self.stub(#""urlPath": "/y""#, "y"), anyHost])
        #expect(losses["rival"] == 1)
        #expect(try self.answers([Sent(), Sent("GET", "y")]) == [nil, nil])
    }

    /// Bodies that a condition may take for its own.
    @Test(arguments: [
        (#"{\"a\":1}"#, #"{\"a\":1,\"b\":2}"#, true), (#"{\"a\":1}"#, #"{\"a\":2}"#, false), (#"[1,2]"#, #"[2,1]"#, true),
        (#"{\"a\":{\"b\":1}}"#, #"{\"a\":{\"b\":2},\"c\":1}"#, false), (#"{\"a\":1}"#, #"{\"a\":\"1\"}"#, false),
    ]) func aLooseBodyIsARivalOfThoseThatItMatches(_ one: String, _ other: String, _ areRivals: Bool) throws {
        func loose(_ body: String) -> String {
            #""urlPath": "/x", "bodyPatterns": [{"equalToJson": "\#(body)", "ignoreExtraElements": true, "ignoreArrayOrder": true}]"#
        }
        let losses = try self.wiremock([Self.post(loose(other), "other"), Self.post(loose(one), "one")])
        #expect((losses["rival"] ?? 0) == (areRivals ? 1 : 0), "\(losses)")
    }

    @Test func aStubBeforeAHiddenOneStays() throws {
        let losses = try self.wiremock([Self.stub(#""urlPathPattern": "/.*""#, "any"), Self.stub(#""urlPath": "/x""#, "x")])
        #expect(losses["rival"] == nil)
        #expect(try self.answers([Sent()]) == ["x"])
    }

    /// The tool answers requests with it that a replay would answer with the fallback.
    @Test func aFallbackOfANarrowedStubIsLeftOut() throws {
        let losses = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "fallback"),
            Self.stub(#""urlPath": "/x", "headers": {"A": {"equalTo": "b", "caseInsensitive": true}}"#, "b"),
            Self.stub(#""urlPath": "/x", "headers": {"A": {"equalTo": "c", "caseInsensitive": true}}"#, "c"),
        ])
        #expect(losses["rival"] == 1)
        #expect(try self.answers([["A: b"], ["A: B"], ["A: c"], []].map { Sent(headers: $0) }) == ["b", nil, "c", nil])
    }

    @Test func theOrderOfStubsIsNoOrderOfRequests() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x""#, "1"), Self.stub(#""urlPath": "/x", "headers": {"A": {"equalTo": "1"}}"#, "2"),
        ])
        let cassette = try RecordedCassette(path: self.importing.cassette)
        let session = try CassetteSession(mode: .none, cassette: cassette)
        for headers in [[], ["A: 1"]] {
            guard case .needsBody(let pending) = session.begin(method: "GET", url: "http://a.test/x", headers: HeaderFields(headers)) else {
                throw TestProblem("decided without the fields")
            }
            _ = try session.resolve(pending, body: .none)
        }
        #expect(session.verdict().hits == 2 && session.verdict().orderViolations == 0)
    }

    // MARK: Hoverfly

    @Test func pairsOfHoverflyMatchAnyBodyAndFurtherItems() throws {
        _ = try self.hoverfly([("", "any"), (#", "query": {}"#, "none"), (#", "body": [{"matcher": "exact", "value": ""}]"#, "empty")])
        let sent = [Sent("POST", "?a=1", body: "abc"), Sent("POST", body: "abc"), Sent("POST", "?a=1"), Sent("POST")]
        #expect(try self.answers(sent) == ["any", "none", "empty", "empty"])
    }

    @Test func theStrongestPairOfHoverflyAnswers() throws {
        _ = try self.hoverfly([
            (#", "headers": {"A": [{"matcher": "exact", "value": "1"}], "B": [{"matcher": "exact", "value": "1"}]}"#, "both"),
            (#", "headers": {"A": [{"matcher": "exact", "value": "1"}]}"#, "a"), ("", "any"), ("", "last"),
        ])
        let sent = [["A: 1"], ["A: 1", "B: 1"], ["B: 1"]].map { Sent("POST", headers: $0) }
        #expect(try self.answers(sent) == ["a", "both", "last"])
    }

    @Test func credentialsOfHoverflyAreReported() throws {
        let pairs = ["a", "b"].map {
            (#", "headers": {"Authorization": [{"matcher": "exact", "value": "Bearer \#($0)111122223333"}]}"#, $0)
        }
        let report = try self.hoverfly(pairs)
        #expect(report.exchanges == 1)
        #expect(report.losses.first { $0.kind == "rival" }?.text.contains("pair 1 of s.json after pair 2 of s.json") == true)
    }

    /// As Hoverfly captures repeated requests.
    @Test func theSequenceOfHoverflyAnswersInOrder() throws {
        let pairs = (1...3).map { number in
            (#", "requiresState": {"sequence:1": "\#(number)"}"#, "\(number)", #", "transitionsState": {"sequence:1": "\#(number + 1)"}"#)
        }
        let last = (#", "requiresState": {"sequence:1": "4"}"#, "4", "")
        let report = try self.hoverfly((pairs + [last]).map { (request: $0.0, body: "\($0.1)\"\($0.2), \"x\": \"") })
        #expect(report.losses.first { $0.kind == "scenario" }?.count == 4)
        #expect(try self.answers((0..<5).map { _ in Sent("POST") }) == ["1", "2", "3", "4", "4"])
    }

    /// States of Hoverfly are set from outside as well, so the pair may answer in place of the other one.
    @Test func aPairBesideAStateOfHoverflyIsLeftOut() throws {
        let report = try self.hoverfly([("", "out"), (#", "requiresState": {"in": "1"}"#, "in")])
        #expect(report.losses.first { $0.kind == "state" }?.count == 1 && report.losses.first { $0.kind == "rival" }?.count == 1)
        #expect(try self.answers([Sent("POST"), Sent("POST"), Sent("POST")]) == [nil, nil, nil])
    }

    // MARK: With other exchanges

    /// The keys of a cassette with stubs have no queries, but recorded exchanges still compare theirs.
    @Test func recordedExchangesNextToStubsCompareTheirQueries() throws {
        let har = try self.importing.folder.write(
            HARText.log(
                HARText.entry("GET", "http://a.test/y?q=1", response: #""content": {"size": 1, "text": "1"}"#),
                HARText.entry("GET", "http://a.test/y?q=2", response: #""content": {"size": 1, "text": "2"}"#)
            ).utf8, to: "a.har")
        let stubs = try self.importing.folder.write(
            Self.stub(#""urlPath": "/y", "queryParameters": {"q": {"equalTo": "3"}}"#, "3").utf8, to: "m.json")
        _ = try CassetteImporter(ImportOptions()).run([har, stubs], to: self.importing.cassette, version: "1")
        let sent = ["2", "3", "1", "4", "3", "1"].map { number in
            var sent = Sent()
            sent.url = "http://a.test/y?q=\(number)"
            return sent
        }
        #expect(try self.answers(sent) == ["2", "3", "1", nil, "3", nil])
    }

    @Test func aMissOfAStubNamesWhatDiffers() throws {
        _ = try self.wiremock([
            Self.stub(#""urlPath": "/x", "queryParameters": {"q": {"equalTo": "a b"}}, "headers": {"X-V": {"equalTo": "1"}}"#, "one")
        ])
        let session = try CassetteSession(mode: .none, cassette: RecordedCassette(path: self.importing.cassette))
        guard
            case .needsBody(let pending) = session.begin(
                method: "GET", url: "http://a.test/x?q=c&z=1", headers: HeaderFields(["X-V: 2"])),
            case .refuse(let report) = try session.resolve(pending, body: .none)
        else { throw TestProblem("no miss") }
        #expect(
            report.nearest[0].differences.map(\.description) == [
                "query item is \"q=c\", recorded is \"q=a%20b\"", "header \"x-v\" is \"2\", recorded is \"1\"",
            ])
        #expect(report.request == "GET http://a.test/x?q=c&z=1" && report.nearest[0].request == "GET http://a.test/x?q=a%20b")
    }
}
