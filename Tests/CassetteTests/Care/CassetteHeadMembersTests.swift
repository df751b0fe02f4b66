@testable import TapeBytes
import Testing

@testable import CassetteModel
@testable import CassetteStore
@testable import CassetteTools

@Suite struct CassetteHeadMembersTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private func reader(_ name: String, _ members: [(String, String)]) throws -> CassetteReader {
        let path = try self.folder.write([.care(1)], to: name, members: members.map { UnknownMember(name: $0.0, json: Array($0.1.utf8)) })
        return try CassetteReader(path: path)
    }

    @Test func whatTheWriterGivesAnewIsLeftOut() throws {
        let members = try CassetteHeadMembers.read(self.reader("a.json", [("match", #"{"ignore": ["query:ts"]}"#), ("note", "\"x\"")]))
        #expect(members.map(\.name) == ["match", "note"])
        #expect(members.first?.json == Array(#"{"ignore": ["query:ts"]}"#.utf8))
    }

    @Test func equalMembersAreMergedAndOthersRefused() throws {
        let one = try self.reader("a.json", [("match", #"{"a":1,"b":2}"#)])
        let same = try self.reader("b.json", [("match", #"{ "b": 2, "a": 1 }"#), ("note", "1")])
        let other = try self.reader("c.json", [("match", "{}")])
        #expect(try CassetteHeadMembers.merged([one, same]).map(\.name) == ["match", "note"])
        let error = cassetteError { _ = try CassetteHeadMembers.merged([one, other]) }
        #expect(error?.message.contains("\"match\"") == true && error?.message.contains("c.json") == true)
    }

    @Test func whatWasRedactedAndWhatWasNotDoNotGoTogether() throws {
        let redacted = try self.reader("a.json", [("redaction", "{}")])
        let ruled = try self.reader("b.json", [("redaction", #"{"rules":["json:/a"]}"#)])
        let plain = try self.reader("c.json", [])
        #expect(try CassetteHeadMembers.merged([redacted, redacted]).map(\.name) == ["redaction"])
        #expect(try CassetteHeadMembers.merged([plain, plain]) == [])
        for readers in [[redacted, plain], [plain, redacted]] {
            let error = cassetteError { _ = try CassetteHeadMembers.merged(readers) }
            #expect(error?.message.contains("run \"wiretape redact \(plain.path)\" first") == true)
        }
        #expect(cassetteError { _ = try CassetteHeadMembers.merged([redacted, ruled]) }?.message.contains("--redact RULE") == true)
    }

    @Test func membersBehindTheInteractionsCountToo() throws {
        let text = #"{"wiretape":1,"interactions":[],"note":3}"#
        let path = try self.folder.folder.write(Array(text.utf8), to: "d.json")
        #expect(try CassetteHeadMembers.read(CassetteReader(path: path)).map(\.name) == ["note"])
    }
}
