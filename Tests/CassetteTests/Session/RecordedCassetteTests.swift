import TapeTestSupport
import Testing

@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore

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

    @Test func aTornEndIsToldAndTheRestIsThere() throws {
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
