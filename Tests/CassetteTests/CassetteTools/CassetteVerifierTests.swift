@testable import CassetteModel
@testable import CassetteStore
@testable import CassetteTools
import Testing

@Suite struct CassetteVerifierTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private func findings(_ name: String = "a.json") throws -> [CareFinding] {
        var findings: [CareFinding] = []
        try CassetteVerifier(path: self.folder.file(name)).run { findings.append($0) }
        return findings
    }

    @Test func aSoundCassetteHasNothing() throws {
        let sidecar = try self.folder.sidecar([1, 2, 3], of: "a.json")
        try self.folder.write([.care(1, requestBody: .text("x"), body: .file(sidecar)), .care(2, body: .json("{}"))], to: "a.json")
        #expect(try self.findings() == [])
        #expect(try CassetteVerifier(path: self.folder.file("a.json")).count == 2)
    }

    @Test func marksThatNoReplayCanFollowAreAProblem() throws {
        let (ask, one) = (ProtoMessage(fields: [.text(1, "a")]), ProtoField.text(1, "b"))
        try self.folder.write(
            [
                .call([ask, ask], [.fields(one, after: 0), .fields(one, after: 2), .fields(one)], after: 0, endAfter: nil),
                .call([ask, ask], [.fields(one, after: 2), .fields(one, after: 1)]), .call([ask], [.fields(one, after: 2)]),
                .call([ask], [.fields(one)], endAfter: 0),
            ], to: "a.json")
        let found = try self.findings().filter { $0.kind == .malformed }
        #expect(found.map(\.exchange) == [2, 3, 4])
        #expect(
            found.map(\.text) == [
                "response.body.grpc, message 2: it comes after fewer messages of the client than the message before it: write 2 or more",
                "response.body.grpc, message 1: it waits for 2 messages of the client, which sent only 1: write at most that many",
                "response.endAfter: the message before it waits for the client's end: leave out its \"after\" too",
            ])
    }

    @Test func eachFlawIsNamedWithItsExchange() throws {
        let sidecar = try self.folder.sidecar([1, 2, 3], of: "a.json")
        let slice = try self.folder.raw([9], of: "a.json")
        try self.folder.write(
            [
                .care(1, body: .file(sidecar)), .care(1), .care(3, requestBody: .text("abc")),
                .care(4, body: Body(size: 1, content: .raw(slice))),
                .care(5, status: 201),
            ], to: "a.json")
        try self.folder.folder.write([1, 2], to: sidecar.path)
        try self.folder.replace("\"text\": \"abc\"", with: "\"text\": \"abcd\"", in: "a.json")
        try self.folder.replace("\"status\": 201", with: "\"status\": 20", in: "a.json")
        _ = try self.folder.sidecar([5], of: "a.json")
        let found = try self.findings()
        #expect(found.map(\.kind) == [.damagedBody, .duplicateID, .changedBody, .undeveloped, .malformed, .unusedFile])
        #expect(found.map(\.exchange) == [1, 2, 3, 4, 5, nil])
        #expect(found.map(\.id) == [1, 1, 3, 4, nil, nil])
        #expect(found.map(\.message) == ["response", nil, "request", "response", nil, nil])
        #expect(found[4].text.contains("line ") && found[4].text.contains("status"))
    }

    @Test(arguments: [
        (#""redaction": { "rules": ["nowhere:x"] }"#, "nowhere:x"), (#""match": { "match": ["bogus"] }"#, "bogus"),
        (#""match": { "ignore": ["nowhere"] }"#, "nowhere"), (#""redaction": []"#, "redaction"),
    ])
    func rulesThatAReplayCannotReadAreAProblem(head: String, named: String) throws {
        try self.folder.write([.care(1)], to: "a.json")
        try self.folder.replace("\"interactions\"", with: "\(head), \"interactions\"", in: "a.json")
        let found = try self.findings()
        #expect(found.map(\.kind) == [.malformed] && found[0].text.contains(named) && found[0].exchange == nil, "\(found)")
    }

    @Test(arguments: ["not a url", "ftp://a/", "http:///x", "http://", "http://a/b c"])
    func anImpossibleRequestIsAProblem(url: String) throws {
        try self.folder.write([.care(1), .care(2, "GET", url)], to: "a.json")
        let found = try self.findings()
        #expect(found.map(\.kind) == [.malformed] && found[0].exchange == 2 && found[0].text.hasPrefix("request.url"), "\(found)")
    }

    @Test func aLineWithoutAColonIsAProblem() throws {
        try self.folder.write([.care(1)], to: "a.json")
        try self.folder.replace("Host: a", with: "Host a", in: "a.json")
        #expect(try self.findings().map(\.kind) == [.malformed])
    }

    @Test func answerThatCannotBeReplayedIsAProblem() throws {
        try self.folder.write([.care(1), .care(2)], to: "a.json")
        var findings: [CareFinding] = []
        try CassetteVerifier(path: self.folder.file("a.json"), unanswerable: { $0.id == 2 ? "no sense" : nil }).run { findings.append($0) }
        #expect(findings.map(\.exchange) == [2] && findings[0].text == "no replay can send its answer: no sense")
        #expect(findings[0].isProblem)
    }

    @Test func unusedFilesAreNamed() throws {
        let unused = try self.folder.sidecar([5], of: "a.json")
        try self.folder.write([.care(1)], to: "a.json")
        #expect(try self.findings().map(\.file) == [unused.path])
    }

    @Test func besideAFileThatIsNoCassetteNothingIsJudged() throws {
        _ = try self.folder.sidecar([5], of: "a.json")
        try self.folder.write([.care(1)], to: "a.json")
        try self.folder.folder.write(Array("{}".utf8), to: "a.new.json")
        #expect(try self.findings().map(\.kind) == [.unjudged])
    }

    @Test func aTornCassetteIsLookedThroughAsFarAsItGoes() throws {
        try self.folder.write([.care(1), .care(2)], to: "a.json")
        let bytes = try self.folder.folder.read("a.json")
        try self.folder.folder.write(Array(bytes.dropLast(40)), to: "a.json")
        #expect(try self.findings().map(\.kind) == [.torn])
    }

    @Test func fileThatIsNoCassetteIsAnError() throws {
        try self.folder.folder.write(Array("{}".utf8), to: "a.json")
        #expect(cassetteError { _ = try self.findings() }?.code == .damaged)
        #expect(cassetteError { _ = try self.findings("none.json") }?.code == .notFound)
    }
}

@Suite struct CareFindingTests {
    @Test func onlyDefectsThatAffectAReplayAreProblems() {
        let problems: [CareFinding.Kind] = [.torn, .malformed, .duplicateID, .damagedBody, .changedBody]
        let others: [CareFinding.Kind] = [.undeveloped, .unusedFile, .unjudged]
        #expect(problems.allSatisfy { CareFinding($0, text: "x").isProblem })
        #expect(!others.contains { CareFinding($0, text: "x").isProblem })
    }
}

@Suite struct UnusedFilesTests {
    @Test func unreferencedFilesAreFound() throws {
        let folder = try CareFolder()
        let used = try folder.sidecar([1], of: "a.json")
        let unused = try folder.sidecar([2], of: "a.json")
        _ = try folder.raw([3], of: "a.json")
        try folder.folder.write([4], to: "a.bodies/notes.txt")
        let path = try folder.write([.care(1, body: .file(used))], to: "a.json")
        let found = try UnusedFiles.find(beside: path, CassetteReferences(familyOf: path))
        #expect(found == [unused.path, "a.bodies/notes.txt", "a.bodies/undeveloped.raw"].sorted())
    }

    @Test func withoutAFolderThereAreNone() throws {
        let folder = try CareFolder()
        let path = try folder.write([.care(1)], to: "a.json")
        #expect(try UnusedFiles.find(beside: path, CassetteReferences(familyOf: path)) == [])
    }
}
