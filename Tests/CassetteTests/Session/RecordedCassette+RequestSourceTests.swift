import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore

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

    @Test func recordedBodiesAreComparedByWhatTheyMean() throws {
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
                no recorded exchange answers "POST http://a.test/" (mode none)
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
            try self.ask(CassetteSession(mode: .none, cassette: cassette), "application/json", #"{"a":3,"b":"x"}"#) == .replay(index: 0))
    }

    @Test func headerFieldsAreLookedUpWhereRulesAskForThem() throws {
        let folder = try TemporaryFolder()
        let rules = try MatchRules(match: ["method", "header:x-user"])
        let cassette = try self.cassette([#""headers": ["X-User: a"]"#, #""headers": ["X-User: b"]"#], in: folder)
        let session = try CassetteSession(mode: .none, cassette: cassette, rules: rules)
        func ask(_ user: String) -> Decision? {
            guard
                case .decided(let decision) = session.begin(
                    method: "POST", url: "http://elsewhere.test/", headers: HeaderFields(["x-user: \(user)"]))
            else { return nil }
            return decision
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
        // It is in the way of no request that an earlier exchange answers.
        #expect(try self.ask(session, "application/json", #"{"b":"x","a":1}"#) == .replay(index: 0))
        #expect(throws: CassetteError.self) { try self.ask(session, "application/json", "[1]") }
    }
}
