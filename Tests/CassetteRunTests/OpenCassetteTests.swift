import CassetteModel
import CassettePlayback
import CassetteRun
import CassetteStore
import Foundation
import TapeBytes
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

    @Test(arguments: [RecordMode.all, .once, .newEpisodes])
    func aRecordingThroughALinkGoesToTheFile(_ mode: RecordMode) throws {
        #expect(symlink("real/pets.json", self.path) == 0)
        for round in 1...2 {
            let open = try OpenCassette(self.path, mode: mode, version: "1")
            // Too long to be inline in the cassette.
            _ = open.recorder?.put(
                .exchange(TapedExchanges.simple(round, body: String(repeating: "\(round)", count: 100_000)), stored: nil))
            let closed = try open.close()
            #expect(closed == (open.recorder == nil ? nil : self.folder.file("real/pets.json")))
        }
        #expect(try self.folder.names() == ["real", "tape.json"])
        #expect(try self.folder.names(in: "real") == ["pets.bodies", "pets.json"])
        let recorded = try OpenCassette(self.path, mode: .none, version: "1").cassette
        #expect(recorded?.count == (mode == .newEpisodes ? 2 : 1))
        let body = try #require(try recorded?.interaction(at: 0).response?.body)
        #expect(try BodyReader(cassettePath: self.path).wireBytes(of: body, digest: { PortableSHA256() }).bytes.count == 100_000)
    }

    @Test func aRunThatComesToNothingLeavesNothing() throws {
        try OpenCassette(self.path, mode: .once, version: "1").abandon()
        #expect(try self.folder.names() == [])
    }

    @Test func repairIsReportedAsANotice() throws {
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
