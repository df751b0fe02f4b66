@testable import CassetteFormat
@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
@testable import CassetteTools
@testable import TapeBytes
import Testing

@Suite struct CassetteMergerTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private func merge(_ names: [String], to name: String = "all.json") throws -> CassetteMerger.Count {
        try CassetteMerger(names.map(self.folder.file)).write(to: self.folder.file(name), recorder: "test")
    }

    @Test func exchangesAreInOrderOfStartAndRenumbered() throws {
        let connection = { ConnectionInfo(id: $0, remote: "a:1", isReused: false) }
        try self.folder.write(
            [
                .care(1, at: 1, "GET", "http://a/1", connection: connection(1)),
                .care(2, at: 4, "GET", "http://a/4", connection: connection(1)),
            ], to: "a.json")
        try self.folder.write(
            [
                .care(1, at: 2, "GET", "http://b/2", connection: connection(1)),
                .care(9, at: 1, "GET", "http://b/1", connection: connection(2)),
            ], to: "b.json")
        #expect(try self.merge(["a.json", "b.json"]) == CassetteMerger.Count(written: 4))
        let all = try RecordedCassette(path: self.folder.file("all.json"))
        let interactions = try (0..<all.count).map { try all.interaction(at: $0) }
        #expect(interactions.map(\.id) == [1, 2, 3, 4])
        #expect(interactions.map(\.request.url) == ["http://a/1", "http://b/1", "http://b/2", "http://a/4"])
        #expect(interactions.map { $0.connection?.id } == [1, 2, 3, 1])
        #expect(isJSON(self.folder.file("all.json")))
    }

    @Test func bodiesComeAlongAndEqualOnesAreKeptOnce() throws {
        try self.folder.write([.care(1, body: .file(self.folder.sidecar([1, 2], of: "a.json")))], to: "a.json")
        try self.folder.write([.care(1, body: .file(self.folder.sidecar([1, 2], of: "b.json")))], to: "b.json")
        _ = try self.merge(["a.json", "b.json"])
        #expect(try self.folder.folder.names(in: "all.bodies").count == 1)
        var findings: [CareFinding] = []
        try CassetteVerifier(path: self.folder.file("all.json")).run { findings.append($0) }
        #expect(findings == [])
    }

    private func urls(_ name: String = "all.json") throws -> [String] {
        let all = try RecordedCassette(path: self.folder.file(name))
        return try (0..<all.count).map { try all.interaction(at: $0).request.url }
    }

    @Test func exchangeOfSeveralCassettesIsWrittenOnce() throws {
        let connection = { ConnectionInfo(id: $0, remote: "a:1", isReused: false) }
        let early = [Interaction.care(1, at: 1, "GET", "http://a/1"), .care(2, at: 2, "GET", "http://a/2", connection: connection(1))]
        try self.folder.write(early, to: "a.json")
        // The same cassette was continued elsewhere, with other numbers.
        try self.folder.write(
            [
                .care(7, at: 1, "GET", "http://a/1"), .care(8, at: 2, "GET", "http://a/2", connection: connection(5)),
                .care(9, at: 3, "GET", "http://a/3"),
            ], to: "b.json")
        #expect(try self.merge(["a.json", "b.json", "a.json"]) == CassetteMerger.Count(written: 3, left: 4))
        #expect(try self.urls() == ["http://a/1", "http://a/2", "http://a/3"])
    }

    @Test func exchangesThatDifferInAnythingStay() throws {
        try self.folder.write([.care(1, at: 1, body: .text("x"))], to: "a.json")
        let others: [Interaction] = [
            .care(1, at: 1, body: .text("y")), .care(2, at: 1, status: 404, body: .text("x")), .care(3, at: 2, body: .text("x")),
            .care(4, at: 1, request: ["Host: a", "Accept: b"], body: .text("x")),
        ]
        try self.folder.write(others, to: "b.json")
        #expect(try self.merge(["a.json", "b.json"]) == CassetteMerger.Count(written: 5))
    }

    @Test func equalExchangesOfOneCassetteStay() throws {
        try self.folder.write([.care(1, at: 1), .care(2, at: 1)], to: "a.json")
        try self.folder.write([.care(1, at: 1)], to: "b.json")
        #expect(try self.merge(["a.json", "b.json"]) == CassetteMerger.Count(written: 2, left: 1))
        #expect(try self.merge(["b.json", "a.json"], to: "other.json") == CassetteMerger.Count(written: 2, left: 1))
    }

    @Test func equalBodyFilesAreOneExchange() throws {
        try self.folder.write([.care(1, body: .file(self.folder.sidecar([1, 2], of: "a.json")))], to: "a.json")
        try self.folder.write([.care(1, body: .file(self.folder.sidecar([1, 2], of: "b.json")))], to: "b.json")
        try self.folder.write([.care(1, body: .file(self.folder.sidecar([1, 3], of: "c.json")))], to: "c.json")
        #expect(try self.merge(["a.json", "b.json", "c.json"]) == CassetteMerger.Count(written: 2, left: 1))
    }

    @Test func nothingIsReplacedAndNothingLeftBehind() throws {
        let sidecar = try self.folder.sidecar([1, 2], of: "a.json")
        try self.folder.write([.care(1, body: .file(sidecar))], to: "a.json")
        try self.folder.write([.care(1)], to: "all.json")
        let before = try self.folder.folder.read("all.json")
        #expect(cassetteError { _ = try self.merge(["a.json"]) }?.message.contains("never replaces a file") == true)
        #expect(try self.folder.folder.read("all.json") == before)
        try self.folder.folder.write([1, 3], to: sidecar.path)
        #expect(cassetteError { _ = try self.merge(["a.json"], to: "other.json") } != nil)
        #expect(try self.folder.folder.names() == ["a.bodies", "a.json", "all.json"])
    }

    @Test func aTornCassetteIsNotMerged() throws {
        try self.folder.write([.care(1), .care(2)], to: "a.json")
        try self.folder.folder.write(Array(try self.folder.folder.read("a.json").dropLast(40)), to: "a.json")
        #expect(cassetteError { _ = try self.merge(["a.json"]) }?.code == .damaged)
        #expect(!CassettePlace.exists(self.folder.file("all.json")))
    }

    @Test func leftoversOfAKilledMergeAreRemoved() throws {
        try self.folder.write([.care(1)], to: "a.json")
        try self.folder.folder.write([1, 2, 3], to: ".all.json.merge")
        #expect(try self.merge(["a.json"]).written == 1)
        #expect(try self.folder.folder.names() == ["a.json", "all.json"])
    }
}

@Suite struct BodyCopierTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    @Test func filesAndSlicesAreRenamed() throws {
        let store = try BodyStore(cassettePath: self.folder.file("b.json"))
        let copier = BodyCopier(from: self.folder.file("a.json"), to: store, digest: { PortableSHA256() })
        let sidecar = try self.folder.sidecar([1, 2, 3], of: "a.json", ext: "jpg")
        var body = Body.file(sidecar)
        body.original = try self.folder.sidecar([4], of: "a.json", ext: "gz")
        let copy = try copier.copy(body)
        #expect(copy.content.sidecars.map(\.path) == ["b.bodies/\(sidecar.sha256).jpg"])
        #expect(copy.original?.path.hasPrefix("b.bodies/") == true)
        let slice = try self.folder.raw([7, 8], of: "a.json")
        let raw = try copier.copy(Body(size: 2, content: .raw(slice)))
        try store.syncAll()
        let reader = BodyReader(cassettePath: self.folder.file("b.json"))
        #expect(try reader.wireBytes(of: raw, digest: { PortableSHA256() }).bytes == [7, 8])
        #expect(try self.folder.folder.read("b.bodies/\(sidecar.sha256).jpg") == [1, 2, 3])
        #expect(try copier.copy(.text("x")) == .text("x"))
    }

    @Test func aFileWithAWrongDigestIsNotCopied() throws {
        let sidecar = try self.folder.sidecar([1, 2, 3], of: "a.json")
        try self.folder.folder.write([1, 2, 4], to: sidecar.path)
        let copier = BodyCopier(
            from: self.folder.file("a.json"), to: try BodyStore(cassettePath: self.folder.file("b.json")), digest: { PortableSHA256() })
        #expect(cassetteError { _ = try copier.copy(.file(sidecar)) }?.code == .damaged)
        #expect(try self.folder.folder.names(in: "b.bodies") == [])
    }
}

@Suite struct CassetteHeadMembersTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private func reader(_ name: String, _ members: [(String, String)]) throws -> CassetteReader {
        let path = try self.folder.write([.care(1)], to: name, members: members.map { UnknownMember(name: $0.0, json: Array($0.1.utf8)) })
        return try CassetteReader(path: path)
    }

    @Test func membersThatTheWriterRegeneratesAreOmitted() throws {
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

    @Test func redactedAndUnredactedCassettesAreNotMerged() throws {
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

    @Test func membersAfterTheInteractionsCountToo() throws {
        let text = #"{"wiretape":1,"interactions":[],"note":3}"#
        let path = try self.folder.folder.write(Array(text.utf8), to: "d.json")
        #expect(try CassetteHeadMembers.read(CassetteReader(path: path)).map(\.name) == ["note"])
    }
}

@Suite struct ConnectionNumbersTests {
    @Test func connectionsOfOneCassetteStayTogether() {
        var numbers = ConnectionNumbers()
        let connection = { ConnectionInfo(id: $0, remote: "a:1", isReused: false) }
        #expect(numbers.number(of: connection(7), input: 0) == 1)
        #expect(numbers.number(of: connection(7), input: 1) == 2)
        #expect(numbers.number(of: connection(7), input: 0) == 1)
        #expect(numbers.number(of: connection(1), input: 1) == 3)
    }
}
