@testable import CassetteFormat
@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct RecordedCassetteTests {
    private func cassette(_ interactions: [String], tail: String = "\n  ]\n}\n") -> [UInt8] {
        Array(("{\n  \"wiretape\": 1,\n  \"interactions\": [\n" + interactions.joined(separator: ",\n") + tail).utf8)
    }

    private func interaction(_ id: Int, second: Int) -> String {
        """
            {
              "id": \(id),
              "started": "2026-11-21T04:19:0\(second).000000Z",
              "request": { "method": "GET", "url": "http://h/\(id)" },
              "response": { "status": 200 }
            }
        """
    }

    @Test func exchangesComeInOrderOfTheirStart() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            self.cassette([self.interaction(1, second: 3), self.interaction(2, second: 1), self.interaction(3, second: 2)]), to: "a.json")
        let recorded = try RecordedCassette(path: path)
        #expect(recorded.count == 3)
        #expect(try (0..<3).map { try recorded.interaction(at: $0).id } == [2, 3, 1])
        #expect(try recorded.firstStart == recorded.interaction(at: 0).started)
        #expect(recorded.damage == nil)
        let session = try CassetteSession(mode: .none, cassette: recorded)
        #expect(session.head("GET", "http://h/1") == .replay(index: 2))
    }

    @Test func equalStartsKeepTheOrderOfTheFile() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(self.cassette([self.interaction(2, second: 1), self.interaction(1, second: 1)]), to: "a.json")
        let recorded = try RecordedCassette(path: path)
        #expect(try (0..<2).map { try recorded.interaction(at: $0).id } == [2, 1])
    }

    @Test func anInteractionWithoutItsUrlIsNamedByItsLine() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(self.cassette([self.interaction(1, second: 1), "    { \"id\": 2 }"]), to: "a.json")
        let error = #expect(throws: CassetteError.self) { try RecordedCassette(path: path) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("line 10") == true, "\(error?.message ?? "")")
    }

    @Test func aTornEndIsReportedAndTheRestIsReadable() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(self.cassette([self.interaction(1, second: 1), "    { \"id\": 2, \"sta"], tail: ""), to: "a.json")
        let recorded = try RecordedCassette(path: path)
        #expect(recorded.count == 1)
        #expect(recorded.damage != nil)
    }

    @Test func noFileIsNotFound() throws {
        let folder = try TemporaryFolder()
        let error = #expect(throws: CassetteError.self) { try RecordedCassette(path: folder.file("none.json")) }
        #expect(error?.code == .notFound)
    }
}

@Suite struct ComparedRequestTests {
    @Test func customRulesSeeAllOfIt() {
        let facets = ListedRequests.facets("x")
        let request = ComparedRequest(
            method: "PUT", url: "http://a.test/", headers: HeaderFields(["A: b"]), facets: facets, isComplete: true,
            traits: ExchangeTraits(SentRequests.Request().interaction, rules: .standard, body: .none))
        let matched = request.matched
        #expect(matched.method == "PUT" && matched.url == "http://a.test/" && matched.body == facets)
        #expect(matched.headers.lines == ["A: b"])
    }
}

@Suite struct RecordedCassetteConnectionsTests {
    private static let chain =
        #", "chain": [{ "sha256": "\#(String(repeating: "a", count: 64))", "subject": "CN=a", "issuer": "CN=b", "notBefore": "2026-11-20T00:00:00Z", "notAfter": "2027-11-20T00:00:00Z" }]"#

    private func interaction(_ second: Int, connection: Int, reused: Bool, remote: String = "192.0.2.1:443") -> String {
        """
            { "id": \(second), "started": "2026-11-21T04:19:0\(second).000000Z",
              "request": { "method": "GET", "url": "https://a/\(second)" }, "response": { "status": 200 },
              "connection": { "id": \(connection), "remote": "\(remote)", "reused": \(reused),
                "tls": { "version": "TLSv1.\(second)", "cipher": "X"\(reused ? "" : Self.chain) } } }
        """
    }

    private func cassette(_ interactions: [String]) throws -> RecordedCassette {
        let folder = try TemporaryFolder()
        let text = "{\n  \"wiretape\": 1,\n  \"interactions\": [\n" + interactions.joined(separator: ",\n") + "\n  ]\n}\n"
        return try RecordedCassette(path: folder.write(Array(text.utf8), to: "a.json"))
    }

    private func opening(_ cassette: RecordedCassette, of index: Int) throws -> (index: Int, tls: TLSDetails)? {
        try cassette.opening(of: #require(cassette.interaction(at: index).connection), before: index)
    }

    @Test func theNearestEarlierOneWithThatNumberAndRemoteOpenedIt() throws {
        let cassette = try self.cassette([
            self.interaction(1, connection: 1, reused: false), self.interaction(2, connection: 1, reused: false),
            self.interaction(3, connection: 2, reused: false), self.interaction(4, connection: 1, reused: false, remote: "192.0.2.2:443"),
            self.interaction(5, connection: 1, reused: true), self.interaction(6, connection: 1, reused: false),
        ])
        let opening = try #require(try self.opening(cassette, of: 4))
        #expect(opening.index == 1)
        #expect(opening.tls.version == "TLSv1.2")
        #expect(opening.tls.chain.map(\.subject) == ["CN=a"])
        #expect(try self.opening(cassette, of: 5) == nil)
    }

    @Test func aConnectionWithoutARecordedStartHasNone() throws {
        let cassette = try self.cassette([
            self.interaction(1, connection: 1, reused: true), self.interaction(2, connection: 1, reused: true),
        ])
        #expect(try self.opening(cassette, of: 1) == nil)
    }
}

@Suite struct RecordedCassetteRequestSourceTests {
    private func cassette(_ requests: [String], in folder: TemporaryFolder, match: String = "") throws -> RecordedCassette {
        let interactions = requests.enumerated().map { index, request in
            """
                {
                  "id": \(index + 1),
                  "started": "2026-11-21T04:19:0\(index).000000Z",
                  "request": { "method": "POST", "url": "http://a.test/", \(request) },
                  "response": { "status": 200 }
                }
            """
        }
        let text = "{\n  \"wiretape\": 1,\(match)\n  \"interactions\": [\n" + interactions.joined(separator: ",\n") + "\n  ]\n}\n"
        return try RecordedCassette(path: folder.write(Array(text.utf8), to: "a.json"))
    }

    private func ask(_ session: CassetteSession, _ type: String, _ text: String, more: [String] = []) throws -> Decision {
        let headers = HeaderFields(["Content-Type: \(type)"] + more)
        switch session.begin(method: "POST", url: "http://a.test/", headers: headers, hasBody: true) {
        case .decided(let decision): return decision
        case .needsBody(let pending):
            var body = pending.body()
            Array(text.utf8).withUnsafeBytes { body.push($0) }
            return try session.resolve(pending, body: body.finish())
        }
    }

    private static let json = #""headers": ["Content-Type: application/json"], "body": { "size": 13, "json": {"a":1,"b":"x"} }"#
    private static let other = #""headers": ["Content-Type: application/json"], "body": { "size": 13, "json": {"a":2,"b":"x"} }"#
    private static let form =
        ##""headers": ["Content-Type: application/x-www-form-urlencoded"], "body": { "size": 7, "form": [["a", "1"], ["b", "2"]] }"##

    @Test func recordedBodiesAreComparedByTheirMeaning() throws {
        let folder = try TemporaryFolder()
        let session = try CassetteSession(mode: .none, cassette: self.cassette([Self.json, Self.other, Self.form], in: folder))
        #expect(try self.ask(session, "application/json", #"{ "b": "x", "a": 2.0 }"#) == .replay(index: 1))
        #expect(try self.ask(session, "application/json", #"{"b":"x","a":1}"#) == .replay(index: 0))
        #expect(try self.ask(session, "application/x-www-form-urlencoded", "b=2&a=1") == .replay(index: 2))
        #expect(session.verdict().flaws == [.order])
    }

    @Test func aMissNamesTheJSONPointerAndTheRuleThatWouldHelp() throws {
        let folder = try TemporaryFolder()
        let session = try CassetteSession(mode: .none, cassette: self.cassette([Self.json, Self.form], in: folder))
        guard case .refuse(let report) = try self.ask(session, "application/json", #"{"a":3,"b":"x"}"#) else {
            Issue.record("not refused")
            return
        }
        #expect(report.ignorablePlaces == ["json:/a"])
        #expect(
            report.description == """
                no recorded exchange answers "POST http://a.test/"
                nearest recorded requests:
                  exchange 1, "POST http://a.test/"
                    JSON "/a" is 3, recorded is 1
                  exchange 2, "POST http://a.test/"
                    body is json, recorded is form
                to match it with exchange 1, run with: --ignore json:/a; to record it, run: wiretape run --mode new-episodes \(folder.file("a.json")) -- COMMAND
                """)
    }

    @Test func theRuleThatAMissNamesHelps() throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette([Self.json], in: folder, match: #""match": { "ignore": ["json:/a"] },"#)
        #expect(
            try self.ask(CassetteSession(mode: .none, cassette: cassette), "application/json", #"{"a":3,"b":"x"}"#).replayed == 0)
    }

    @Test func headerFieldsAreLookedUpWhereRulesAskForThem() throws {
        let folder = try TemporaryFolder()
        let rules = try MatchRules(match: ["method", "header:x-user"])
        let cassette = try self.cassette([#""headers": ["X-User: a"]"#, #""headers": ["X-User: b"]"#], in: folder)
        let session = try CassetteSession(mode: .none, cassette: cassette, rules: rules)
        func ask(_ user: String) -> Decision? {
            switch session.begin(method: "POST", url: "http://elsewhere.test/", headers: HeaderFields(["x-user: \(user)"])) {
            case .decided(let decision): decision
            case .needsBody(let pending): try? session.resolve(pending, body: .none)
            }
        }
        #expect(ask("b") == .replay(index: 1))
        guard case .refuse(let report) = ask("c") else { return #expect(Bool(false), "not refused") }
        #expect(report.description.contains("header \"x-user\" is \"c\", recorded is \"a\""), "\(report)")
        #expect(report.ignorablePlaces == ["header:x-user"])
    }

    @Test func aBodyWhoseFileIsMissingIsAnError() throws {
        let folder = try TemporaryFolder()
        let file =
            #""headers": ["Content-Type: application/json"], "body": { "size": 3, "file": "a.bodies/\#(String(repeating: "0", count: 64)).bin" }"#
        let session = try CassetteSession(mode: .none, cassette: self.cassette([Self.json, file], in: folder))
        // It does not affect a request that an earlier exchange answers.
        #expect(try self.ask(session, "application/json", #"{"b":"x","a":1}"#) == .replay(index: 0))
        #expect(throws: CassetteError.self) { try self.ask(session, "application/json", "[1]") }
    }
}

@Suite struct RecordedCassetteRulesTests {
    private func cassette(_ members: String, _ folder: TemporaryFolder) throws -> RecordedCassette {
        let text = "{\n  \"wiretape\": 1,\(members)\n  \"interactions\": [\n  ]\n}\n"
        return try RecordedCassette(path: folder.write(Array(text.utf8), to: "a.json"))
    }

    @Test func aCassetteWithoutRulesHasTheStandardOnes() throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette("", folder)
        #expect(try cassette.matchTexts() == nil)
        #expect(try cassette.matchRules().rules == MatchRules.standard.rules)
    }

    @Test func itsOwnRulesAreLaidOverTheStandardOnes() throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette("\"match\": { \"match\": [\"method\", \"path\"], \"ignore\": [\"query:ts\"] },", folder)
        #expect(try cassette.matchTexts() == MatchRuleTexts(match: ["method", "path"], ignore: ["query:ts"]))
        let session = try CassetteSession(mode: .none, cassette: cassette)
        #expect(session.rules.rules == [.method, .path])
        #expect(session.rules.ignored == [.queryItem("ts")])
        // The caller's rules replace them.
        #expect(try CassetteSession(mode: .none, cassette: cassette, rules: .standard).rules.ignored.isEmpty)
    }

    @Test(arguments: ["\"match\": 1,", "\"match\": { \"match\": [\"colour\"] },", "\"match\": { \"what\": [] },"])
    func wrongRulesAreNamedWithTheFile(member: String) throws {
        let folder = try TemporaryFolder()
        let cassette = try self.cassette(member, folder)
        let error = #expect(throws: CassetteError.self) { try CassetteSession(mode: .none, cassette: cassette) }
        #expect(error?.code == .damaged)
        #expect(error?.message.contains("a.json") == true, "\(error?.message ?? "")")
    }

    @Test func aTornHeadHasNoRules() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(Array("{\n  \"wiretape\": 1,\n  \"mat".utf8), to: "a.json")
        #expect(try RecordedCassette(path: path).matchTexts() == nil)
    }

    @Test func theRulesOfAFileNeedNoSenseInItsExchanges() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(
            Array("{ \"wiretape\": 1, \"match\": { \"ignore\": [\"path\"] }, \"interactions\": [ { \"id\": 1 } ] }".utf8), to: "a.json")
        #expect(throws: CassetteError.self) { try RecordedCassette(path: path) }
        #expect(try RecordedCassette.matchTexts(ofFile: path) == MatchRuleTexts(ignore: ["path"]))
    }
}
