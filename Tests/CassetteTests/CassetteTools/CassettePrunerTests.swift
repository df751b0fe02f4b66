@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
@testable import CassetteTools
@testable import TapeBytes
import Testing

@Suite struct CassettePrunerTests {
    private let folder: CareFolder
    private let kept: Sidecar
    private let gone: Sidecar

    init() throws {
        self.folder = try CareFolder()
        self.kept = try self.folder.sidecar([1], of: "a.json")
        self.gone = try self.folder.sidecar([2], of: "a.json")
        try self.folder.write(
            [
                .care(1, body: .file(self.kept)), .care(2, at: 1, "GET", "http://a/?token=x", body: .file(self.gone)),
                .care(3, at: 2, body: .file(self.kept)),
            ], to: "a.json",
            members: [UnknownMember(name: "note", json: Array("1".utf8))])
    }

    private func prune(_ ids: [Int], dry: Bool = false) throws -> CassettePruner.Outcome {
        try CassettePruner(path: self.folder.file("a.json"), exchanges: ids.map { ($0, nil) }).run(isDry: dry, recorder: "test")
    }

    @Test func theOthersAndTheirBodiesStay() throws {
        let outcome = try self.prune([2])
        #expect(outcome.removed == [CassetteDiff.Exchange(number: 2, id: 2, method: "GET", url: "http://a/?token=(hidden)")])
        #expect(outcome.kept == 2 && outcome.removedFiles == 1)
        let cassette = try RecordedCassette(path: self.folder.file("a.json"))
        #expect(try (0..<cassette.count).map { try cassette.interaction(at: $0).id } == [1, 3])
        #expect(try self.folder.folder.names(in: "a.bodies") == [self.kept.path.split(separator: "/").last.map(String.init)])
        #expect(try CassetteHeadMembers.read(CassetteReader(path: self.folder.file("a.json"))).map(\.name) == ["note"])
    }

    @Test func aDryRunChangesNothing() throws {
        let before = try self.folder.folder.read("a.json")
        #expect(try self.prune([1, 2], dry: true).removed.map(\.id) == [1, 2])
        #expect(try self.folder.folder.read("a.json") == before)
        #expect(try self.folder.folder.names(in: "a.bodies").count == 2)
    }

    @Test func nothingToRemoveWritesNothing() throws {
        let before = try self.folder.folder.read("a.json")
        #expect(try self.prune([]).removed == [])
        #expect(try self.folder.folder.read("a.json") == before)
    }

    @Test func aReportOfAnotherCassetteIsRefused() throws {
        let before = try self.folder.folder.read("a.json")
        #expect(cassetteError { _ = try self.prune([2, 7]) }?.message.contains("no exchange with the id 7") == true)
        #expect(try self.folder.folder.read("a.json") == before)
    }

    @Test func anExchangeThatBeganAnotherTimeIsAnothers() throws {
        let path = self.folder.file("a.json")
        let before = try self.folder.folder.read("a.json")
        let starts = try RecordedCassette(path: path).starts
        let other = Timestamp(microseconds: starts[1].microseconds + 1)
        let wrong = cassetteError {
            _ = try CassettePruner(path: path, exchanges: [(1, starts[0]), (2, other)]).run(isDry: false, recorder: "test")
        }
        #expect(wrong?.message.contains("the id 2 is a different one in") == true)
        #expect(try self.folder.folder.read("a.json") == before)
        let outcome = try CassettePruner(path: path, exchanges: [(1, starts[0]), (2, starts[1])]).run(isDry: false, recorder: "test")
        #expect(outcome.removed.map(\.id) == [1, 2])
    }

    @Test func anIDThatTwoExchangesHaveIsRefused() throws {
        try self.folder.replace("\"id\": 3", with: "\"id\": 2", in: "a.json")
        #expect(cassetteError { _ = try self.prune([2]) }?.message.contains("two exchanges with the id 2") == true)
    }

    @Test func allCanGo() throws {
        #expect(try self.prune([1, 2, 3]).kept == 0)
        #expect(try RecordedCassette(path: self.folder.file("a.json")).count == 0)
    }

    @Test func aCassetteThatIsBeingRecordedIsLeftAlone() throws {
        let appender = try CassetteAppender.open(self.folder.file("a.json"), recorder: "test")
        #expect(cassetteError { _ = try self.prune([2]) }?.code == .inUse)
        _ = try appender.finish()
    }
}

extension RecordedCassette {
    fileprivate var starts: [Timestamp] { (0..<self.count).compactMap { self.start(at: $0) } }
}

@Suite struct UnusedReportTests {
    @Test(
        arguments: [
            (#"{"unused":[1,3]}"#, [1, 3]), (#"{"unused":2,"unusedExchanges":[{"exchange":1,"id":7,"request":"GET x"}]}"#, [7]),
            (#"{"unused":[]}"#, []),
        ] as [(String, [Int])])
    func idsAreRead(text: String, ids: [Int]) throws {
        #expect(try UnusedReport(Array(text.utf8), path: "r.json").exchanges.map(\.id) == ids)
    }

    @Test func aStartIsReadWhereItIsThere() throws {
        let text = #"{"unusedExchanges":[{"id":7,"started":"2026-11-21T04:19:28.123456Z"},{"id":8},{"id":9,"started":"soon"}]}"#
        let exchanges = try UnusedReport(Array(text.utf8), path: "r.json").exchanges
        #expect(exchanges.map(\.started) == [Timestamp("2026-11-21T04:19:28.123456Z"), nil, nil])
    }

    @Test func theCassetteIsKnownWhereItIsNamed() throws {
        #expect(try UnusedReport(Array(#"{"cassette":"a.json","unused":[]}"#.utf8), path: "r.json").cassette == "a.json")
    }

    @Test(arguments: [
        "", "[1]", "{}", #"{"unused":3}"#, #"{"unused":["x"]}"#, #"{"unusedExchanges":[{"exchange":1}]}"#, #"{"unused":[1.5]}"#,
    ])
    func textThatIsNoReportIsRefused(text: String) {
        let error = cassetteError { _ = try UnusedReport(Array(text.utf8), path: "r.json") }
        #expect(error?.message.contains("\"r.json\"") == true)
    }
}
