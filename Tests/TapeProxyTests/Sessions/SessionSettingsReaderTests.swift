import CassettePlayback
import TapeBytes
import TapeTestSupport
import Testing
@testable import TapeProxy

@Suite struct SessionSettingsReaderTests {
    private func read(_ json: String) throws -> RunSettings {
        let members = try OrderMembers(JSONDocument(Array(json.utf8)).root, known: SessionSettingsReader.members)
        return try SessionSettingsReader(members: members).settings()
    }

    @Test(arguments: ["lint", "escapes"]) func whatASessionDoesNotSeeDoesNotFailIt(name: String) {
        let problem = #expect(throws: SessionError.self) { try self.read(#"{"failOn": ["miss", "\#(name)"]}"#) }
        #expect(problem.map { "\($0)".contains("names \(name)") } == true)
    }

    @Test func everyMemberIsRead() throws {
        let settings = try self.read(
            #"""
            {"rules": {"match": ["method", "url"], "ignore": ["query:ts"], "patterns": ["query:n=[0-9]+"]},
             "repeat": "cycle", "repeatMatching": "~u /login", "order": "strict", "conversation": "any", "failOn": ["miss", "unused"], "latency": "recorded", "refreshDates": ["json:/at"],
             "maxAge": "30d", "onExpired": "fail", "redaction": true, "redact": ["header:x-a"], "keep": ["jwt"], "secretEnv": ["A"]}
            """#)
        let age = try Age("30d")
        let wanted = RunSettings.session {
            $0[Settings.match] = .session(["method", "url"])
            $0[Settings.ignore] = [.session("query:ts")]
            $0[Settings.patterns] = [.session("query:n=[0-9]+")]
            $0[Settings.repetition] = .session(.cycle)
            $0[Settings.repeatMatching] = .session("~u /login")
            $0[Settings.order] = .session(.strict)
            $0[Settings.conversation] = .session(.any)
            $0[Settings.failOn] = .session(FailureRule([.miss, .unused]))
            $0[Settings.latency] = .session(.scaled(1))
            $0[Settings.refreshDates] = .session(true)
            $0[Settings.refreshFields] = [.session("json:/at")]
            $0[Settings.maxAge] = .session(age)
            $0[Settings.onExpired] = .session(.fail)
            $0[Settings.redaction] = .session(true)
            $0[Settings.redact] = [.session("header:x-a")]
            $0[Settings.keep] = [.session("jwt")]
            $0[Settings.secretEnv] = [.session("A")]
        }
        #expect(settings == wanted)
        #expect(try self.read("{}") == RunSettings())
    }

    /// A row of the table is read from the place in the order that it names.
    @Test(arguments: Settings.rows.filter { [.top, .rules].contains($0.session) })
    func aMemberSetsItsSetting(row: SettingRow) throws {
        let text = try #require(SettingSamples.texts[row.key]).first
        let value =
            switch row.form {
            case .list, .names: "[\(text.split(separator: ",").map { "\"\($0)\"" }.joined(separator: ", "))]"
            case .flag, .number: text
            case .text, .shaped, .choice, .other: "\"\(text)\""
            }
        let member = "{\"\(row.key)\": \(value)}"
        let settings = try self.read(row.session == .rules ? "{\"rules\": \(member)}" : member)
        #expect(settings.shown(row).map(\.text) == [text])
        #expect(settings.shown(row).map(\.source) == [.session])
    }

    @Test func shortFormsAreTaken() throws {
        #expect(try self.read(#"{"refreshDates": true, "failOn": "none"}"#).value(Settings.refreshDates))
        #expect(try self.read(#"{"failOn": "none"}"#).value(Settings.failOn).flaws == [])
        #expect(try self.read(#"{"redaction": false}"#)[Settings.redaction]?.value == false)
    }

    @Test(arguments: [
        (#"{"modify": null}"#, #""modify" is null"#), (#"{"modify": {}}"#, #""modify""#), (#"{"modify": {"seed": 7}}"#, #""modify""#),
        (#"{"rules": []}"#, #""rules" is not an object"#), (#"{"rules": {"ignore": "x"}}"#, #""rules.ignore" is not a list"#),
        (#"{"rules": {"ignore": ["x", 1]}}"#, #""rules.ignore""#), (#"{"rules": {"ignores": []}}"#, #""rules.ignores" is unknown"#),
        (#"{"rules": {"ignore": ["query:a"], "ignore": []}}"#, #""rules.ignore" is given twice"#),
        (#"{"rules": {"match": ["nonsense"]}}"#, #""rules.match": "nonsense" is not a match rule"#),
        (#"{"rules": {"ignore": ["nonsense"]}}"#, #""rules.ignore": "nonsense" is not a place"#),
        (#"{"rules": {"patterns": ["query:a=("]}}"#, #""rules.patterns": "#),
        (#"{"repeat": "often"}"#, #""repeat": "often" is not known; write never, last, cycle"#),
        (#"{"repeatMatching": "~zz"}"#, #""repeatMatching""#), (#"{"order": 1}"#, #""order" is not a string"#),
        (#"{"failOn": ["luck"]}"#, #""failOn": "luck" is not a reason to fail"#), (#"{"failOn": []}"#, #""failOn": the list is empty"#),
        (#"{"failOn": 1}"#, #""failOn" is not a list"#), (#"{"latency": "soon"}"#, #""latency": "soon" is not a latency"#),
        (#"{"latency": 5}"#, #""latency" is not a string"#), (#"{"refreshDates": 1}"#, #""refreshDates" is neither true, false nor"#),
        (#"{"refreshDates": ["header:date"]}"#, #""refreshDates": "header:date" does not name a date"#),
        (#"{"maxAge": "1 day"}"#, #""maxAge": "1 day" is not a duration"#),
        (#"{"onExpired": "cry"}"#, #""onExpired": "cry" is not known; write warn, fail, rerecord"#),
        (#"{"redaction": "no"}"#, #""redaction" is neither"#), (#"{"redact": ["nonsense:x"]}"#, #""redact": "#),
        (#"{"keep": [""]}"#, #""keep": "#), (#"{"secretEnv": ["A=b"]}"#, #""secretEnv": "A=b" cannot be"#),
        (#"{"secretEnv": [""]}"#, #""secretEnv": "#), (#"{"redaction": false, "keep": ["jwt"]}"#, #""redaction" is false"#),
        (#"{"redaction": false, "redact": ["header:a"]}"#, #""redaction" is false"#),
        (#"{"redaction": false, "secretEnv": ["A"]}"#, #""redaction" is false"#), (#"{"passthrough": []}"#, #""passthrough" is unknown"#),
    ])
    func errorNamesTheProblem(_ json: String, _ wanted: String) {
        let error = #expect(throws: SessionError.self) { try self.read(json) }
        #expect(error?.code == .invalid)
        #expect(error?.message.hasPrefix(wanted) == true && error?.message.hasSuffix("..") == false, "\(error?.message ?? "")")
    }
}
