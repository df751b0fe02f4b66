import CassetteModel
import CassettePlayback
import CassetteRun
import CassetteStore
import TapeTestSupport
import Testing

@Suite struct OpenCassetteTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        self.folder = try TemporaryFolder()
        self.path = self.folder.file("tape.json")
    }

    private func record() throws {
        let open = try OpenCassette(self.path, mode: .all, version: "1")
        #expect(open.cassette == nil && open.session.mode == .all)
        _ = open.recorder?.put(.exchange(TapedExchanges.simple(1), stored: nil))
        #expect(try open.close() == self.path)
    }

    @Test func aRecordingIsReplayed() throws {
        try self.record()
        let open = try OpenCassette(self.path, mode: .none, version: "1")
        #expect(open.recorder == nil && open.cassette?.count == 1)
        #expect(try open.close() == nil, "nothing was recorded")
        #expect(open.session.verdict().unused.count == 1)
    }

    @Test func aRunThatComesToNothingLeavesNothing() throws {
        try OpenCassette(self.path, mode: .once, version: "1").abandon()
        #expect(try self.folder.names() == [])
    }

    @Test func whatWasRepairedIsANotice() throws {
        try self.record()
        let whole = try self.folder.read("tape.json")
        try self.folder.write(Array(whole.dropLast(4)), to: "tape.json")
        let open = try OpenCassette(self.path, mode: .newEpisodes, version: "1")
        defer { try? open.abandon() }
        #expect(open.notices.count == 2, "one of reading, one of repairing: \(open.notices)")
    }

    @Test func twoRecordersOfOneCassetteAreRefused() throws {
        let open = try OpenCassette(self.path, mode: .once, version: "1")
        defer { try? open.abandon() }
        let error = #expect(throws: CassetteError.self) { try OpenCassette(self.path, mode: .newEpisodes, version: "1") }
        #expect(error?.code == .inUse)
    }
}
