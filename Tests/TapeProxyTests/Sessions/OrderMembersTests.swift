import CassettePlayback
import TapeBytes
import Testing
@testable import TapeProxy

@Suite struct OrderMembersTests {
    private func members(_ json: String) throws -> OrderMembers {
        try OrderMembers(JSONDocument(Array(json.utf8)).root, known: ["a", "b"], prefix: "rules.")
    }

    @Test func membersAreReadByTheirKind() throws {
        let members = try self.members(#"{"a": "x", "b": true}"#)
        #expect(try members.string("a") == "x" && members.bool("b") == true)
        #expect(try self.members(#"{"a": ["x", "y"]}"#).texts("a") == ["x", "y"])
        #expect(try self.members(#"{"a": "last"}"#).choice("a", Repetition.allCases) == .last)
        let none = try self.members("{}")
        #expect(try none.string("a") == nil && none.bool("a") == nil && none.texts("a") == nil)
    }

    @Test(arguments: [
        (#"{"c": 1}"#, "\"rules.c\" is unknown here: use a, b."), (#"{"a": 1, "a": 2}"#, "\"rules.a\" is given twice: remove one."),
    ])
    func unknownOrRepeatedMemberIsRefused(_ json: String, _ message: String) {
        #expect(throws: SessionError(.invalid, message)) { try self.members(json) }
    }

    @Test func anErrorNamesItsMember() throws {
        let members = try self.members(#"{"a": 1, "b": ["x", null]}"#)
        for read: () throws -> Void in [
            { _ = try members.string("a") }, { _ = try members.bool("a") }, { _ = try members.texts("a") },
            { _ = try members.choice("a", Repetition.allCases) },
        ] {
            let error = #expect(throws: SessionError.self) { try read() }
            #expect(error?.code == .invalid && error?.message.hasPrefix("\"rules.a\" is n") == true)
        }
        #expect(throws: SessionError.self) { try members.texts("b") }
        let error = #expect(throws: SessionError.self) {
            try self.members(#"{"a": ["x"]}"#).texts("a") { throw SettingError("\"\($0)\" is odd; write another") }
        }
        #expect(error?.message == "\"rules.a\": \"x\" is odd; write another.")
        let question = #expect(throws: SessionError.self) {
            try members.made("a") { throw SettingError("there is no \"x\"; did you mean \"y\"?") }
        }
        #expect(question?.message == "\"rules.a\": there is no \"x\"; did you mean \"y\"?")
        let named = #expect(throws: SessionError.self) {
            try members.made("a") { throw SettingError("\"rules.a\" needs a list; write one") }
        }
        #expect(named?.message == "\"rules.a\" needs a list; write one.")
    }
}
