import Testing

@testable import CassettePlayback

/// Following the last line of a miss literally turns the request into a hit.
@Suite struct FollowedAdviceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var match: [String]?
        var recorded: SentRequests.Request
        var live: SentRequests.Request
        var advice: String
        /// A request that the advice must not answer.
        var other: SentRequests.Request?

        var testDescription: String { self.name }
    }

    private static func json(_ body: String, _ url: String = "http://a.test/") -> SentRequests.Request {
        .init(url: url, lines: MatchFixture.json, body: body)
    }

    private static func xml(_ body: String) -> SentRequests.Request { .init(lines: ["Content-Type: text/xml"], body: body) }

    private static func lines(_ body: String) -> SentRequests.Request { .init(lines: ["Content-Type: application/x-ndjson"], body: body) }

    private static func text(_ body: String) -> SentRequests.Request { .init(lines: MatchFixture.text, body: body) }

    private static func binary(_ body: String) -> SentRequests.Request { .init(lines: MatchFixture.binary, body: body) }

    private static func form(_ body: String) -> SentRequests.Request { .init(lines: MatchFixture.form, body: body) }

    private static func parts(_ fields: [(String, String)], _ boundary: String = "0123456789abcdef") -> SentRequests.Request {
        .init(lines: MatchFixture.parts(boundary), body: MatchFixture.fields(boundary, fields))
    }

    private static func nested(_ value: String) -> SentRequests.Request {
        let inner = MatchFixture.fields("fedcba9876543210", [("x", value), ("y", "1")])
        let head = ["Content-Disposition: form-data; name=\"outer\"", "Content-Type: multipart/mixed; boundary=fedcba9876543210"]
        return .init(lines: MatchFixture.parts("0123456789abcdef"), body: MatchFixture.multipart("0123456789abcdef", [(head, inner)]))
    }

    private static func batch(_ line: String, _ second: String = "x") -> SentRequests.Request {
        let parts = [(["Content-Type: application/http"], "\(line) HTTP/1.1\r\n\r\n"), (["Content-Type: text/plain"], second)]
        return .init(lines: ["Content-Type: multipart/mixed; boundary=b"], body: MatchFixture.multipart("b", parts))
    }

    private static func get(_ url: String, _ lines: [String] = []) -> SentRequests.Request { .init(method: "GET", url: url, lines: lines) }

    private static func file(_ name: String, _ data: String) -> SentRequests.Request {
        let head = ["Content-Disposition: form-data; name=\"photo\"; filename=\"\(name)\"", "Content-Type: image/png"]
        return .init(lines: MatchFixture.parts("0123456789abcdef"), body: MatchFixture.multipart("0123456789abcdef", [(head, data)]))
    }

    static let cases = [
        Case(name: "file name", recorded: file("a.png", "x"), live: file("b.png", "x"), advice: "--ignore filename:photo"),
        Case(name: "file name and data", recorded: file("a.png", "x"), live: file("b.png", "y"), advice: "--ignore part:photo"),
        Case(
            name: "query item", recorded: get("http://a.test/?a=1&ts=1"), live: get("http://a.test/?ts=2&a=1"), advice: "--ignore query:ts"),
        Case(name: "missing item", recorded: get("http://a.test/?ts=1"), live: get("http://a.test/"), advice: "--ignore query:ts"),
        Case(
            name: "encoded item", recorded: get("http://a.test/?a%5B%5D=1"), live: get("http://a.test/?a%5B%5D=2"),
            advice: "--ignore 'query:a[]'"),
        Case(name: "port", recorded: get("http://a.test:81/"), live: get("http://a.test:82/"), advice: "--ignore port"),
        Case(name: "scheme", recorded: get("http://a.test:81/"), live: get("https://a.test:81/"), advice: "--ignore scheme"),
        Case(
            name: "header", match: ["method", "url", "header:accept"], recorded: get("http://a.test/", ["Accept: a"]),
            live: get("http://a.test/", ["Accept: b"]), advice: "--ignore header:accept"),
        Case(name: "JSON value", recorded: json(#"{"a":1,"b":[1]}"#), live: json(#"{"b":[2],"a":1}"#), advice: "--ignore json:/b/0"),
        Case(name: "JSON object", recorded: json(#"{"a":1}"#), live: json(#"{"a":1,"b":{"c":{"d":1}}}"#), advice: "--ignore json:/b"),
        Case(name: "JSON name", recorded: json(#"{"a/b c":1}"#), live: json(#"{"a/b c":2}"#), advice: "--ignore 'json:/a~1b c'"),
        Case(name: "JSON of a single value", recorded: json("1"), live: json("2"), advice: "--ignore body"),
        Case(name: "bytes", recorded: binary("ab"), live: binary("ac"), advice: "--ignore body"),
        Case(name: "other kinds", recorded: form("a"), live: form("{}"), advice: "--ignore body"),
        Case(name: "text", recorded: text("a b"), live: text("a c"), advice: "--ignore body"),
        Case(
            name: "many values", recorded: json(#"{"a":{"b":[1,2,3,4]},"c":1}"#), live: json(#"{"a":{"b":[2,3,4,5]},"c":1}"#),
            advice: "--ignore json:/a/b"),
        Case(name: "XML element", recorded: xml("<a><b>1</b><c/></a>"), live: xml("<a><b>2</b><c/></a>"), advice: "--ignore xml:/a/b"),
        Case(name: "XML attribute", recorded: xml("<a b='1'/>"), live: xml("<a b='2'/>"), advice: "--ignore xml:/a/@b"),
        Case(name: "new XML element", recorded: xml("<a><c/></a>"), live: xml("<a><b><d/></b><c/></a>"), advice: "--ignore xml:/a/b"),
        Case(
            name: "the second element", recorded: xml("<a><b/><b/></a>"), live: xml("<a><b/><b>1</b></a>"), advice: "--ignore 'xml:/a/b[2]'"
        ),
        Case(name: "XML text", recorded: xml("<a>x<b/>y</a>"), live: xml("<a>x<b/>z</a>"), advice: "--ignore 'xml:/a/text()[2]'"),
        Case(
            name: "XML instruction", recorded: xml("<a><?p 1?></a>"), live: xml("<a><?p 2?></a>"), advice: "--ignore 'xml:/a/?p'",
            other: xml("<a><?q 2?></a>")),
        Case(
            name: "an XML instruction before the document", recorded: xml("<?p 1?><a/>"), live: xml("<?p 2?><a/>"),
            advice: "--ignore 'xml:/?p'", other: xml("<?p 2?><b/>")),
        Case(
            name: "the second XML instruction", recorded: xml("<a><b/><?p 1?><b/></a>"), live: xml("<a><b/><?p 2?><b/></a>"),
            advice: "--ignore 'xml:/a/?p[2]'", other: xml("<a><b/><?p 2?><b>1</b></a>")),
        Case(
            name: "a new XML instruction", recorded: xml("<a><b/></a>"), live: xml("<a><?p 2?><b/></a>"), advice: "--ignore 'xml:/a/?p'",
            other: xml("<a><?p 2?><b>1</b></a>")),
        Case(
            name: "an attribute of two XML elements", recorded: xml("<a><b i='1' k='x'/><b i='2' k='x'/></a>"),
            live: xml("<a><b i='3' k='x'/><b i='4' k='x'/></a>"), advice: "--ignore xml:/a/b/@i",
            other: xml("<a><b i='3' k='x'/><b i='4' k='y'/></a>")),
        Case(
            name: "the same element of many XML elements",
            recorded: xml("<a>\((0..<6).map { "<b><id>\($0)</id><k>x</k></b>" }.joined())</a>"),
            live: xml("<a>\((9..<15).map { "<b><id>\($0)</id><k>x</k></b>" }.joined())</a>"), advice: "--ignore xml:/a/b/id",
            other: xml("<a>\((9..<15).map { "<b><id>\($0)</id><k>y</k></b>" }.joined())</a>")),
        Case(
            name: "the same element of many XML elements in a part",
            recorded: parts([("meta", "<a>\((0..<6).map { "<b>\($0)</b>" }.joined())<c/></a>")]),
            live: parts([("meta", "<a>\((9..<15).map { "<b>\($0)</b>" }.joined())<c/></a>")]), advice: "--ignore 'part:meta|xml:/a/b'",
            other: parts([("meta", "<a>\((9..<15).map { "<b>\($0)</b>" }.joined())<d/></a>")])),
        Case(
            name: "nameless form field", recorded: form("1732720000000&k=1"), live: form("1732720000999&k=1"), advice: "--ignore form:",
            other: form("1732720000999&k=2")),
        Case(
            name: "new nameless form field", recorded: form("k=1"), live: form("k=1&1732720000999"), advice: "--ignore form:",
            other: form("k=2&1732720000999")),
        Case(
            name: "form field with an empty name", recorded: form("=1&k=1"), live: form("=2&k=1"), advice: "--ignore form:",
            other: form("=2&k=2")),
        Case(
            name: "form field without a value", recorded: form("flag&k=1"), live: form("k=1"), advice: "--ignore form:flag",
            other: form("k=2")),
        Case(
            name: "the first line of a request in a part", recorded: batch("GET /x/1"), live: batch("GET /x/2"),
            advice: "--ignore part:1", other: batch("GET /x/2", "y")),
        Case(
            name: "an item of a request in a part", recorded: batch("GET /x?t=1"), live: batch("GET /x?t=2"),
            advice: "--ignore 'part:1|query:t'", other: batch("GET /y?t=2")),
        Case(
            name: "an item without a name in a part", recorded: batch("GET /x?1732720000000"), live: batch("GET /x?1732720000001"),
            advice: "--ignore 'part:1|query:'", other: batch("GET /y?1732720000001")),
        Case(
            name: "a line of JSON", recorded: lines("{\"a\":1}\n{\"a\":1}\n"), live: lines("{\"a\":1}\n{\"a\":2}\n"),
            advice: "--ignore json:/1/a"),
        Case(
            name: "the same members of many lines",
            recorded: lines((0..<3).map { #"{"index":{"_id":"a\#($0)"}}"# + "\n" + #"{"t":\#($0),"m":"x"}"# + "\n" }.joined()),
            live: lines((5..<8).map { #"{"index":{"_id":"a\#($0)"}}"# + "\n" + #"{"t":\#($0),"m":"x"}"# + "\n" }.joined()),
            advice: "--ignore 'json:/*/index/_id' --ignore 'json:/*/t'"),
        Case(
            name: "a member of many elements in a part",
            recorded: parts([("meta", #"[{"id":1},{"id":2},{"id":3},{"id":4}]"#)]),
            live: parts([("meta", #"[{"id":5},{"id":6},{"id":7},{"id":8}]"#)]), advice: "--ignore 'part:meta|json:/*/id'"),
        Case(name: "nameless item", recorded: get("http://a.test/?172"), live: get("http://a.test/?173"), advice: "--ignore query:"),
        Case(
            name: "nameless item among others", recorded: get("http://a.test/?a=1&172"), live: get("http://a.test/?173&a=1"),
            advice: "--ignore query:"),
        Case(name: "form field", recorded: form("a=1&b=2"), live: form("b=3&a=1"), advice: "--ignore form:b"),
        Case(name: "part", recorded: parts([("a", "1"), ("b", "2")]), live: parts([("a", "1"), ("b", "3")]), advice: "--ignore part:b"),
        Case(
            name: "JSON in a part", recorded: parts([("meta", #"{"id":1,"a":1}"#)]), live: parts([("meta", #"{"id":2,"a":1}"#)]),
            advice: "--ignore 'part:meta|json:/id'"),
        Case(
            name: "many values in a part", recorded: parts([("meta", #"{"a":{"b":[1,2,3,4]}}"#)]),
            live: parts([("meta", #"{"a":{"b":[2,3,4,5]}}"#)]), advice: "--ignore 'part:meta|json:/a/b'"),
        Case(
            name: "a part of another kind", recorded: parts([("meta", #"{"id":1}"#)]), live: parts([("meta", "x")]),
            advice: "--ignore part:meta"),
        Case(
            name: "JSON in a field", recorded: form("d={\"id\":1}&a=1"), live: form("a=1&d={\"id\":2}"),
            advice: "--ignore 'form:d|json:/id'"),
        Case(name: "new part", recorded: parts([("a", "1")]), live: parts([("a", "1"), ("c d", "3")]), advice: "--ignore 'part:c d'"),
        Case(name: "nested part", recorded: nested("1"), live: nested("2"), advice: "--ignore part:outer/x"),
        Case(
            name: "GraphQL variable", match: ["method", "url", "graphql"], recorded: json(#"{"query":"query A{a}","variables":{"x":1}}"#),
            live: json(#"{"query":"query A {a}","variables":{"x":2}}"#), advice: "--ignore json:/variables/x"),
        Case(
            name: "GraphQL in a URL", match: ["method", "url", "graphql"], recorded: get("http://a.test/?query=%7Ba%7D&variables=x"),
            live: get("http://a.test/?query=%7Ba%7D&variables=y"), advice: "--ignore query:variables"),
        Case(
            name: "query and JSON", recorded: json(#"{"a":1}"#, "http://a.test/?t=1"), live: json(#"{"a":2}"#, "http://a.test/?t=2"),
            advice: "--ignore query:t --ignore json:/a"),
    ]

    @Test(arguments: cases)
    func anIgnoredPlaceMakesItAHit(_ entry: Case) throws {
        let texts = MatchRuleTexts(match: entry.match)
        let source = SentRequests(requests: [entry.recorded])
        guard case .refuse(let report) = try source.session(rules: MatchRules(texts)).send(entry.live) else {
            Issue.record("no miss")
            return
        }
        #expect(report.nextStep.hasPrefix("to match it with exchange 1, run with: \(entry.advice); to record it, run: "), "\(report)")
        let ignoring = try MatchRules(texts.adding(MatchRuleTexts(ignore: report.ignorablePlaces)))
        #expect(try source.session(rules: ignoring).send(entry.live).replayed == 0)
        #expect(try source.session(rules: ignoring).send(entry.recorded).replayed == 0)
        if let other = entry.other { #expect(try source.session(rules: ignoring).send(other).replayed == nil) }
    }

    /// A difference that no rule should ignore has to be recorded.
    @Test(arguments: [
        (get("http://a.test/a"), get("http://a.test/b")), (get("http://a.test/"), get("http://b.test/")),
        (get("http://a.test/"), json("{}")), (json("{}"), get("http://a.test/")),
    ])
    func anythingElseIsRecorded(recorded: SentRequests.Request, live: SentRequests.Request) throws {
        guard case .refuse(let report) = try SentRequests(requests: [recorded]).session().send(live) else {
            Issue.record("no miss")
            return
        }
        #expect(report.nextStep == "to record it, run: wiretape run --mode new-episodes CASSETTE -- COMMAND", "\(report)")
        #expect(report.nearest.first?.differences.isEmpty == false)
    }
}
