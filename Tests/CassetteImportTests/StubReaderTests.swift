import CassetteModel
import Foundation
import TapeBytes
import TapeTestSupport
import Testing
@testable import CassetteImport

@Suite struct StubReaderTests {
    private let importing: Importing

    init() throws { self.importing = try Importing() }

    @Test func azuresRecordingsAreRead() throws {
        let text = #"""
            {"Entries": [
              {"RequestUri": "https://a.test/t?x=1", "RequestMethod": "POST", "RequestHeaders": {"Content-Type": "application/json", "X": ["1", "2"]},
               "RequestBody": {"name": "Miso"}, "StatusCode": 201, "ResponseHeaders": {"Content-Type": "text/plain"}, "ResponseBody": ["one\n", "two"]},
              {"RequestUri": "https://a.test/b", "RequestMethod": "GET", "RequestHeaders": {}, "RequestBody": null, "StatusCode": 200,
               "ResponseHeaders": {"Content-Type": "application/octet-stream"}, "ResponseBody": "AQID"}],
             "Variables": {"seed": "1"}}
            """#
        let (report, exchanges) = try self.importing.run(text, as: "t.json")
        #expect(report.sources[0].kind == .testProxy && exchanges.count == 2)
        #expect(try self.importing.bytes(exchanges[0].request.body) == Array(#"{"name":"Miso"}"#.utf8))
        #expect(exchanges[0].request.headers.count == 3)
        #expect(try self.importing.bytes(exchanges[0].response?.body) == Array("one\ntwo".utf8))
        #expect(try self.importing.bytes(exchanges[1].response?.body) == [1, 2, 3])
    }

    @Test func aMemberOfAnotherToolsNameIsPassedOver() throws {
        let text = #"""
            {"data": 5, "x": {}, "Entries": [
              {"RequestUri": "https://a.test/b", "RequestMethod": "GET", "RequestHeaders": {}, "RequestBody": null, "StatusCode": 204,
               "ResponseHeaders": {}, "ResponseBody": null}]}
            """#
        #expect(try self.importing.run(text, as: "t.json").report.sources[0].kind == .testProxy)
    }

    /// Stubs of two ports are two servers.
    @Test func portAndSchemeOfAStubWithoutAHostAreKept() throws {
        let text = #"""
            {"mappings": [
              {"request": {"method": "GET", "urlPath": "/s", "port": 8443, "scheme": "https"}, "response": {"status": 200, "body": "A"}},
              {"request": {"method": "GET", "urlPath": "/s", "port": 9443}, "response": {"status": 200, "body": "B"}},
              {"request": {"method": "GET", "urlPath": "/s", "scheme": "https"}, "response": {"status": 200, "body": "C"}}]}
            """#
        let urls = try self.importing.run(text, as: "mappings.json").interactions.map(\.request.url)
        // The last one answers for all ports, so the first one never does.
        #expect(urls == ["http://localhost:9443/s", "https://localhost/s"])
    }

    @Test func stubsOfWireMockThatNameARequestAreRead() throws {
        let first = #"""
            {"request": {"method": "POST", "urlPath": "/pets", "queryParameters": {"q": {"equalTo": "a b"}},
              "headers": {"X-A": {"equalTo": "1"}, "X-B": {"matches": "[0-9]+"}}, "bodyPatterns": [{"equalToJson": {"a": 1}}]},
             "response": {"status": 201, "headers": {"A": ["1", "2"]}, "jsonBody": {"ok": true}, "fixedDelayMilliseconds": 20}}
            """#
        let second = #"{"request": {"method": "GET", "url": "/file?x=1"}, "response": {"status": 200, "bodyFileName": "a/b.txt"}}"#
        let pattern = #"{"request": {"method": "GET", "urlPattern": "/pets/[0-9]+"}, "response": {"status": 200}}"#
        let fault = #"{"request": {"method": "GET", "url": "/f"}, "response": {"fault": "CONNECTION_RESET_BY_PEER"}}"#
        for (name, text) in [("1", first), ("2", second), ("3", pattern), ("4", fault)] {
            try self.importing.folder.write(text.utf8, to: "wm/mappings/\(name).json")
        }
        try self.importing.folder.write("from a file".utf8, to: "wm/__files/a/b.txt")
        var options = ImportOptions()
        options.base = "http://a.test:8080"
        let report = try CassetteImporter(options).run([self.importing.folder.file("wm")], to: self.importing.cassette, version: "1")
        let exchanges = try RecordedExchanges.read(self.importing.cassette)
        #expect(report.sources[0].kind == .wiremock)
        #expect(
            exchanges.map(\.request.url) == [
                "http://a.test:8080/pets?q=a%20b", "http://a.test:8080/file?x=1", "http://a.test:8080/f",
            ])
        for exchange in exchanges.prefix(1) {
            #expect(exchange.request.headers.lines == ["X-A: 1"])
            #expect(try self.importing.bytes(exchange.request.body) == Array(#"{"a":1}"#.utf8))
            #expect(try self.importing.bytes(exchange.response?.body) == Array(#"{"ok":true}"#.utf8))
            #expect(exchange.timing.wait == 20 && exchange.response?.headers.lines == ["A: 1", "A: 2"])
        }
        #expect(try self.importing.bytes(exchanges[1].response?.body) == Array("from a file".utf8))
        #expect(exchanges.map { $0.stub?.exact.map(\.text) } == [["path", "body:json"], ["url"], ["url"]])
        #expect(exchanges[0].stub?.includes.map(\.text) == ["query:q", "header:x-a"])
        #expect(exchanges.map(\.repeats) == [true, true, true])
        guard case .failed(let failure) = exchanges[2].outcome else { throw TestProblem("\(exchanges[2].outcome)") }
        #expect(failure.kind == .reset)
        let counts = Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0.count) })
        #expect(counts["refused"] == 1 && counts["matcher"] == 2 && counts["host"] == 3)
    }

    @Test func scenariosAreInTheOrderOfTheirStates() throws {
        func stub(_ body: String, _ state: String?, _ next: String?) -> String {
            let state = state.map { #", "requiredScenarioState": "\#($0)""# } ?? ""
            let next = next.map { #", "newScenarioState": "\#($0)""# } ?? ""
            return
                #"{"scenarioName": "s"\#(state)\#(next), "request": {"method": "GET", "url": "/"}, "response": {"status": 200, "body": "\#(body)"}}"#
        }
        let text = "{\"mappings\": [\(stub("3", "b", nil)), \(stub("2", "a", "b")), \(stub("1", "Started", "a"))]}"
        let exchanges = try self.importing.run(text, as: "m.json").interactions
        #expect(exchanges.map { $0.response?.body?.content } == ["1", "2", "3"].map { .text(Array($0.utf8)) })
    }

    private static func stub(_ body: String, _ priority: Int?, _ more: String = "") -> String {
        let priority = priority.map { #""priority": \#($0), "# } ?? ""
        return #"{\#(priority)"request": {"method": "GET", "url": "/a"\#(more)}, "response": {"status": 200, "body": "\#(body)"}}"#
    }

    private static let field = #", "headers": {"X": {"equalTo": "1"}}"#
    private static let pattern = #", "headers": {"X": {"matches": ".+"}}"#

    @Test(arguments: [
        ([stub("low", nil), stub("high", 1)], ["high"], ["shadowed"]), ([stub("low", 7), stub("high", nil)], ["high"], ["shadowed"]),
        // The one of a higher priority answers all that the other one does, or only some.
        ([stub("low", nil, field), stub("high", 1)], ["high"], ["shadowed"]),
        ([stub("low", nil), stub("high", 1, field)], ["high", "low"], []),
        // Without the pattern, a replay cannot tell them apart, so it has neither.
        ([stub("low", nil), stub("high", 1, pattern)], [], ["rival"]),
        // Of the same priority, the one that was added last.
        ([stub("1", nil), stub("2", 5)], ["2"], ["shadowed"]), ([stub("1", nil, pattern), stub("2", 5, pattern)], [], ["rival"]),
        ([stub("1", nil, field), stub("2", 5)], ["2"], ["shadowed"]), ([stub("1", nil), stub("2", 5, field)], ["2", "1"], []),
    ]) func theStubOfTheHighestPriorityAnswers(_ stubs: [String], _ bodies: [String], _ losses: [String]) throws {
        let other = #"{"request": {"method": "GET", "url": "/b"}, "response": {"status": 200, "body": "other"}}"#
        let (report, exchanges) = try self.importing.run(#"{"mappings": [\#((stubs + [other]).joined(separator: ","))]}"#, as: "m.json")
        #expect(exchanges.map { $0.response?.body?.content } == (bodies + ["other"]).map { .text(Array($0.utf8)) })
        #expect(report.losses.map(\.kind).filter { ["shadowed", "rival"].contains($0) } == losses)
    }

    @Test(arguments: [
        #"{"path": [{"matcher": "exact", "value": "/a"}], "headers": {"X": [{"matcher": "regex", "value": "y"}]}}"#,
        #"{"method": [{"matcher": "exact", "value": "GET"}]}"#,
    ]) func whatOnlyAPatternSaysIsReported(_ request: String) throws {
        let text = #"{"data": {"pairs": [{"request": \#(request), "response": {"status": 200, "body": "x"}}]}}"#
        let (report, exchanges) = try self.importing.run(text, as: "sim.json")
        let kinds = report.losses.map(\.kind)
        #expect(exchanges.count == 1 && (kinds.contains("matcher") || kinds.contains("narrowed")))
    }

    @Test func aBodyFileOutsideOfItsFolderIsRefused() throws {
        try self.importing.folder.write("secret".utf8, to: "secret.txt")
        let text = #"{"request": {"method": "GET", "url": "/"}, "response": {"status": 200, "bodyFileName": "../secret.txt"}}"#
        try self.importing.folder.write(text.utf8, to: "wm/mappings/1.json")
        #expect(throws: CassetteError.self) {
            try CassetteImporter(ImportOptions()).run([self.importing.folder.file("wm")], to: self.importing.cassette, version: "1")
        }
        #expect(!self.importing.folder.exists("out.json"))
    }

    @Test func aFolderThatIsALinkIsNotFollowed() throws {
        let folder = self.importing.folder
        try folder.write("secret".utf8, to: "outside/p.txt")
        let text = #"{"request": {"method": "GET", "url": "/"}, "response": {"status": 200, "bodyFileName": "p.txt"}}"#
        try folder.write(text.utf8, to: "wm/mappings/1.json")
        try FileManager.default.createSymbolicLink(atPath: folder.file("wm/__files"), withDestinationPath: "../outside")
        try folder.write(text.utf8, to: "plain/__files/p.txt")
        try FileManager.default.createSymbolicLink(atPath: folder.file("plain/mappings"), withDestinationPath: "../wm/mappings")
        try folder.write("x".utf8, to: "file/mappings/x.txt")
        try FileManager.default.createSymbolicLink(
            atPath: folder.file("file/mappings/1.json"), withDestinationPath: "../../wm/mappings/1.json")
        for name in ["wm", "plain", "file"] {
            var options = ImportOptions()
            options.kind = .wiremock
            #expect(throws: CassetteError.self, "\(name)") {
                try CassetteImporter(options).run([folder.file(name)], to: self.importing.cassette, version: "1")
            }
        }
        #expect(!folder.exists("out.json"))
    }

    @Test(arguments: [
        #""method": [{"matcher": "negate", "value": "POST"}]"#, #""destination": [{"matcher": "negate", "value": "b.test"}]"#,
        #""body": [{"matcher": "xpath", "value": "/items"}]"#, #""headers": {"A": [{"matcher": "jsonPartial", "value": "x"}]}"#,
        #""scheme": [{"matcher": "exact", "value": "http", "doMatch": {"matcher": "exact", "value": "x"}}]"#,
    ])
    func matcherForAnotherValueMakesNoRequest(_ matcher: String) throws {
        let path = #""path": [{"matcher": "exact", "value": "/a"}]"#
        let text = #"{"data": {"pairs": [{"request": {\#(path), \#(matcher)}, "response": {"status": 200, "body": "x"}}]}}"#
        let message = try self.importing.failure(text, as: "sim.json")
        #expect(message.contains("no exchange to import") && message.split(separator: " of them: ").count >= 3, "\(message)")
    }

    @Test func aPatternIsOneTextOrNone() {
        #expect(StubRequest.literal(#"/a\.b\/c\?x=1"#) == "/a.b/c?x=1")
        for pattern in ["/a/?", #"/users/\d"#, #"/users/\w"#, "/a/.*", "/a|b", #"/a\"#] {
            #expect(StubRequest.literal(pattern) == nil, "\(pattern)")
        }
    }

    @Test func aClassOfCharactersIsNoRequest() throws {
        let text = #"{"request": {"method": "GET", "urlPattern": "/users/\\d"}, "response": {"status": 200, "body": "u"}}"#
        let message = try self.importing.failure(text, as: "m.json")
        #expect(message.contains("no exchange to import") && message.split(separator: " of them: ").count == 3, "\(message)")
    }

    @Test func simulationsOfHoverflyAreRead() throws {
        let text = #"""
            {"data": {"pairs": [
              {"request": {"path": [{"matcher": "exact", "value": "/pets"}], "method": [{"matcher": "exact", "value": "GET"}],
                "destination": [{"matcher": "exact", "value": "a.test"}], "scheme": [{"matcher": "exact", "value": "https"}],
                "query": {"page": [{"matcher": "exact", "value": "1"}]}, "headers": {"Accept": [{"matcher": "glob", "value": "*"}]}, "body": [{"matcher": "exact", "value": ""}]},
               "response": {"status": 200, "body": "aGk=", "encodedBody": true, "headers": {"Content-Type": ["text/plain"]}, "templated": false}},
              {"request": {"path": [{"matcher": "glob", "value": "/x*"}]}, "response": {"status": 200, "body": ""}}],
             "globalActions": {"delays": [{"urlPattern": ".", "delay": 30}]}},
             "meta": {"schemaVersion": "v5.2"}}
            """#
        let (report, exchanges) = try self.importing.run(text, as: "sim.json")
        #expect(report.sources[0].kind == .hoverfly && exchanges.count == 1)
        #expect(exchanges[0].request.url == "https://a.test/pets?page=1" && exchanges[0].request.body == nil)
        #expect(exchanges[0].response?.body?.content == .text(Array("hi".utf8)) && exchanges[0].timing.wait == 30)
        let counts = Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0.count) })
        #expect(counts["refused"] == 1 && counts["repeated"] == nil)
    }

    private func urls(_ request: String) throws -> (urls: [String], losses: [String: Int], headers: HeaderFields?) {
        let text = #"{"data": {"pairs": [{"request": {\#(request)}, "response": {"status": 200, "body": "x"}}]}}"#
        let (report, exchanges) = try Importing().run(text, as: "sim.json")
        let losses = Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0.count) })
        return (exchanges.map(\.request.url), losses, exchanges.first?.request.headers)
    }

    @Test func decodedValuesOfHoverflyAreOneRequest() throws {
        let destination = #""destination": [{"matcher": "exact", "value": "a.test"}]"#
        for query in [
            #""query": {"q": [{"matcher": "Exact", "value": "a b"}]}"#, #""deprecatedQuery": [{"matcher": "EXACT", "value": "q=a b"}]"#,
        ] {
            let path = #""path": [{"matcher": "Exact", "value": "/a b?c"}]"#
            #expect(
                try self.urls("\(destination), \(path), \(query)").urls == ["http://a.test/a%20b%3Fc?q=a%20b"])
        }
        let slash = #""path": [{"matcher": "exact", "value": "/"}], "query": {"q": [{"matcher": "exact", "value": "a/b"}]}"#
        #expect(try self.urls("\(destination), \(slash)").urls == ["http://a.test/?q=a%2Fb"])
    }

    @Test(arguments: [#"[{"matcher": "exact", "value": ""}]"#, "[]", #"[{"matcher": "exact", "value": "http"}]"#])
    func anEmptyMatcherMatchesEverything(_ scheme: String) throws {
        let path = #""path": [{"matcher": "exact", "value": "/a"}], "destination": [{"matcher": "exact", "value": "a.test"}]"#
        #expect(try self.urls("\(path), \"scheme\": \(scheme), \"method\": []").urls == ["http://a.test/a"])
    }

    @Test(arguments: [
        (#"{"equalToJson": {"a": "${json-unit.any-string}"}}"#, false), (##"{"equalToJson": "{\"a\": \"#{json-unit.ignore}\"}"}"##, false),
        (#"{"equalToXml": "<a>${xmlunit.ignore}</a>", "enablePlaceholders": true}"#, false),
        (#"{"equalToXml": "<a>${xmlunit.ignore}</a>"}"#, true), (#"{"equalToJson": {"a": "${other}"}}"#, true),
    ]) func aValueThatStandsForOthersIsAPattern(_ pattern: String, _ hasBody: Bool) throws {
        let text = #"{"request": {"method": "POST", "url": "/", "bodyPatterns": [\#(pattern)]}, "response": {"status": 200}}"#
        let (report, exchanges) = try self.importing.run(text, as: "m.json")
        #expect((exchanges[0].request.body != nil) == hasBody)
        #expect(report.losses.first { $0.kind == "matcher" }?.count == (hasBody ? nil : 1))
    }

    @Test func aStubThatForwardsIsReported() throws {
        let text = #"""
            {"mappings": [{"request": {"method": "GET", "url": "/"}, "response": {"proxyBaseUrl": "http://a.test"}},
              {"request": {"method": "GET", "url": "/b"}, "response": {"status": 200}}]}
            """#
        let (report, exchanges) = try self.importing.run(text, as: "m.json")
        let counts = Dictionary(uniqueKeysWithValues: report.losses.map { ($0.kind, $0.count) })
        #expect(exchanges.count == 1 && counts["forwarded"] == 1 && counts["refused"] == nil)
    }

    private static func pair(_ request: String) -> String {
        #"{"data": {"pairs": [{"request": {"destination": [{"matcher": "exact", "value": "a.test"}], \#(request)}, "response": {"status": 200, "body": "x"}}]}}"#
    }

    /// Hoverfly records a form in this way.
    @Test(arguments: [
        (#"{"a": [{"matcher": "exact", "value": "1 2"}], "b": [{"matcher": "array", "value": ["x", "y"]}]}"#, "a=1%202&b=x&b=y"),
        (#"{"a": [{"matcher": "exact", "value": "1"}]}"#, "a=1"),
    ]) func aFormOfHoverflyIsABody(_ form: String, _ body: String) throws {
        let text = Self.pair(#""body": [{"matcher": "form", "value": \#(form)}]"#)
        let (report, exchanges) = try self.importing.run(text, as: "sim.json")
        #expect(try self.importing.bytes(exchanges[0].request.body) == Array(body.utf8))
        #expect(exchanges[0].request.headers.lines == ["Content-Type: application/x-www-form-urlencoded"])
        // The matcher allows further fields.
        #expect(report.losses.map(\.kind).contains("narrowed") && !report.losses.map(\.kind).contains("refused"))
    }

    @Test(arguments: [#"{"a": [{"matcher": "glob", "value": "*"}]}"#, #"{"a": [{"matcher": "jsonpath", "value": "$.a"}]}"#, "5"])
    func aFormThatIsAPatternIsReported(_ form: String) throws {
        let text = Self.pair(#""body": [{"matcher": "form", "value": \#(form)}]"#)
        do {
            let (report, exchanges) = try self.importing.run(text, as: "sim.json")
            #expect(exchanges[0].request.body == nil && report.losses.map(\.kind).contains("matcher"))
        } catch let error as CassetteError {
            #expect(error.message.contains("a stub has no request that could be recorded"))
        }
    }

    @Test func repeatedValuesOfHoverflyAreRead() throws {
        let destination = #""destination": [{"matcher": "exact", "value": "a.test"}], "path": [{"matcher": "exact", "value": "/"}]"#
        let array = #"[{"matcher": "array", "value": ["1", "2"]}]"#
        let found = try self.urls(
            #"\#(destination), "query": {"a": \#(array), "b": [{"matcher": "exact", "value": "3"}]}, "headers": {"X": \#(array)}"#)
        #expect(found.urls == ["http://a.test/?a=1&a=2&b=3"] && found.headers?.lines == ["X: 1", "X: 2"])
        let loose = #"[{"matcher": "array", "value": ["1"], "config": {"ignoreUnknown": true, "ignoreOrder": false}}]"#
        let before = try self.urls(#"\#(destination), "method": [{"matcher": "exact", "value": "GET"}], "query": {"a": \#(array)}"#).losses[
            "narrowed"]
        let after = try self.urls(#"\#(destination), "method": [{"matcher": "exact", "value": "GET"}], "query": {"a": \#(loose)}"#)
        #expect(before == nil && after.losses["narrowed"] == 1 && after.urls == ["http://a.test/?a=1"])
    }

    /// A replay compares the values of a repeated name as one text with semicolons, as Hoverfly does.
    @Test func aValueWithSemicolonsIsOneRequest() throws {
        let destination = #""destination": [{"matcher": "exact", "value": "a.test"}], "path": [{"matcher": "exact", "value": "/"}]"#
        let urls = try self.urls(#"\#(destination), "query": {"a": [{"matcher": "exact", "value": "1;2"}]}"#).urls
        #expect(urls == ["http://a.test/?a=1%3B2"])
    }

    @Test(arguments: [
        (
            #""method": [{"matcher": "exact", "value": "GET"}], "scheme": [{"matcher": "exact", "value": "http"}]"#, "http://a.test/",
            [String]()
        ),
        (#""method": [{"matcher": "exact", "value": "GET"}]"#, "https://a.test/", ["scheme"]),
        (#""method": [{"matcher": "exact", "value": "GET"}], "scheme": []"#, "https://a.test/", ["scheme"]),
        (
            #""method": [{"matcher": "exact", "value": "GET"}], "scheme": [{"matcher": "exact", "value": ""}]"#, "https://a.test/",
            ["scheme"]
        ),
        (#""scheme": [{"matcher": "exact", "value": "HTTPS"}]"#, "https://a.test/", ["narrowed"]),
        (#""method": [], "scheme": [{"matcher": "exact", "value": "http"}]"#, "http://a.test/", ["narrowed"]),
    ]) func aMissingMethodOrSchemeIsReported(_ request: String, _ url: String, _ losses: [String]) throws {
        let text = Self.pair(#""path": [{"matcher": "exact", "value": "/"}], \#(request)"#)
        let (report, exchanges) = try self.importing.run(text, as: "sim.json") { $0.base = "https://b.test:8443" }
        #expect(exchanges.map(\.request.url) == [url])
        #expect(report.losses.map(\.kind).filter { ["scheme", "narrowed"].contains($0) } == losses)
    }

    @Test func aStubWithAHostButNoSchemeUsesThatOfTheBase() throws {
        let text = #"{"request": {"method": "GET", "urlPath": "/", "host": {"equalTo": "a.test"}}, "response": {"status": 200}}"#
        let (report, exchanges) = try self.importing.run(text, as: "m.json") { $0.base = "https://b.test" }
        #expect(exchanges.map(\.request.url) == ["https://a.test/"] && report.losses.map(\.kind).contains("scheme"))
    }

    @Test func aPairWithoutADestinationKeepsItsScheme() throws {
        let text =
            #"{"data": {"pairs": [{"request": {"path": [{"matcher": "exact", "value": "/"}], "scheme": [{"matcher": "exact", "value": "https"}]}, "response": {"status": 200, "body": "x"}}]}}"#
        #expect(try self.importing.run(text, as: "sim.json").interactions.map(\.request.url) == ["https://localhost/"])
    }

    /// People paste texts of binary bodies into stubs.
    @Test(arguments: [
        #"{"request": {"method": "GET", "url": "/"}, "response": {"status": 200, "headers": {"Content-Type": "image/png"}, "body": "\ufffdPNG"}}"#,
        #"[{"scope": "http://a.test", "method": "GET", "path": "/", "status": 200, "response": "\ufffdPNG", "rawHeaders": ["Content-Type", "image/png"]}]"#,
        #"{"data": {"pairs": [{"request": {"path": "/"}, "response": {"status": 200, "body": "\ufffdPNG", "headers": {"Content-Type": ["image/png"]}}}]}}"#,
        #"""
        {"Entries": [{"RequestUri": "https://a.test/", "RequestMethod": "GET", "RequestHeaders": {}, "StatusCode": 200,
          "ResponseHeaders": {"Content-Type": "image/png"}, "ResponseBody": "\ufffdPNG"}]}
        """#,
    ]) func replacedBytesCutTheAnswerOfAStub(_ text: String) throws {
        let (report, exchanges) = try self.importing.run(text, as: "m.json")
        #expect(report.losses.first { $0.kind == "responseBody" }?.count == 1 && exchanges[0].response?.body?.isComplete == false)
    }

    @Test(arguments: [
        (#""basicAuth": {"username": "u", "password": "p"}"#, 0), (#""cookies": {"a": {"equalTo": "1"}}"#, 0),
        (#""cookies": {"a": {"contains": "1"}}"#, 1), (#""cookies": {"a": {"equalTo": "1;2"}}"#, 1),
        (#""formParameters": {"a": {"contains": "1"}}"#, 1), (#""headers": {"Host": {"equalTo": "a.test"}}"#, 1),
        (#""formParameters": {"a": {"equalTo": "1"}}"#, 1), (#""multipartPatterns": []"#, 1), (#""clientIp": {"equalTo": "1.2.3.4"}"#, 1),
        (#""headers": {"A": {"absent": true}}"#, 0), (#""headers": {"A": {"equalTo": "x", "caseInsensitive": true}}"#, 1),
        (#""queryParameters": {"a": {"absent": true}}"#, 0), (#""bodyPatterns": [{"equalTo": "x"}, {"contains": "x"}]"#, 1),
        (#""bodyPatterns": [{"equalToJson": "{}", "ignoreExtraElements": true}]"#, 1), (#""bodyPatterns": [{"equalToJson": "{}"}]"#, 0),
    ]) func matchersThatAreDroppedAreReported(_ matcher: String, _ count: Int) throws {
        let text = #"{"request": {"method": "GET", "url": "/", \#(matcher)}, "response": {"status": 200}}"#
        let (report, exchanges) = try self.importing.run(text, as: "m.json") { $0.redaction = nil }
        #expect(
            report.losses.filter { ["matcher", "narrowed"].contains($0.kind) }.reduce(0) { $0 + $1.count } == count && exchanges.count == 1)
        if matcher.contains("basicAuth") { #expect(exchanges[0].request.headers.lines == ["Authorization: Basic dTpw"]) }
    }
}
