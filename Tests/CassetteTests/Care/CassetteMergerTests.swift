import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
@testable import CassetteTools

@Suite struct CassetteMergerTests {
    private let folder: CareFolder

    init() throws { self.folder = try CareFolder() }

    private func merge(_ names: [String], to name: String = "all.json") throws -> Int {
        try CassetteMerger(names.map(self.folder.file)).write(to: self.folder.file(name), recorder: "test")
    }

    @Test func exchangesAreInOrderOfStartAndNumberedAnew() throws {
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
        #expect(try self.merge(["a.json", "b.json"]) == 4)
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

    @Test func nothingIsReplacedAndNothingLeftBehind() throws {
        let sidecar = try self.folder.sidecar([1, 2], of: "a.json")
        try self.folder.write([.care(1, body: .file(sidecar))], to: "a.json")
        try self.folder.write([.care(1)], to: "all.json")
        let before = try self.folder.folder.read("all.json")
        #expect(cassetteError { _ = try self.merge(["a.json"]) }?.message.contains("replaces no file") == true)
        #expect(try self.folder.folder.read("all.json") == before)
        try self.folder.folder.write([1, 3], to: sidecar.path)
        #expect(cassetteError { _ = try self.merge(["a.json"], to: "other.json") } != nil)
        #expect(try self.folder.folder.names() == ["a.bodies", "a.json", "all.json", "other.bodies"])
        #expect(try self.folder.folder.names(in: "other.bodies") == [])
    }

    @Test func aTornCassetteIsNotMerged() throws {
        try self.folder.write([.care(1), .care(2)], to: "a.json")
        try self.folder.folder.write(Array(try self.folder.folder.read("a.json").dropLast(40)), to: "a.json")
        #expect(cassetteError { _ = try self.merge(["a.json"]) }?.code == .damaged)
        #expect(!CassettePlace.exists(self.folder.file("all.json")))
    }

    @Test func whatAKilledMergeLeftIsNoHindrance() throws {
        try self.folder.write([.care(1)], to: "a.json")
        try self.folder.folder.write([1, 2, 3], to: ".all.json.merge")
        #expect(try self.merge(["a.json"]) == 1)
        #expect(try self.folder.folder.names() == ["a.json", "all.json"])
    }
}
