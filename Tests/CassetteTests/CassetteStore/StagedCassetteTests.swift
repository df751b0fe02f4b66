@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore
import CassetteTools
import TapeBytes
import TapeTestSupport
import Testing

/// Cassettes under hidden names, which commands write, and which killed commands leave.
@Suite struct StagedCassetteTests {
    private let folder: TemporaryFolder
    private var path: String { self.folder.file("pets.json") }

    init() throws {
        self.folder = try TemporaryFolder()
        try RecordedExchanges.write([.sample(1)], to: self.path)
    }

    /// A body to which only a cassette under the hidden name refers.
    private func stage(_ command: CassettePlace.StagingCommand) throws -> (appender: CassetteAppender, body: Sidecar) {
        let staged = try CassettePlace.stagedPath(of: self.path, by: command)
        let appender = try CassetteAppender.create(staged, recorder: "1")
        let store = try BodyStore(cassettePath: self.path)
        let spool = try store.makeSpool()
        try spool.write(Array("body".utf8))
        return (appender, try spool.finish(sha256: String(repeating: "a", count: 64), ext: "bin"))
    }

    @Test(arguments: CassettePlace.StagingCommand.allCases) func killedCommandLeavesNothingForTheNext(
        command: CassettePlace.StagingCommand
    ) throws {
        let body = try self.stage(command).body
        #expect(try self.folder.names().contains(".pets.json.\(command.rawValue)"))
        #expect(CassettePlace.leftRecordings(beside: self.path).isEmpty, "it is no recording")
        _ = try CassettePruner(path: self.path, exchanges: []).run(isDry: false, recorder: "1")
        #expect(try self.folder.names().sorted() == ["pets.bodies", "pets.json"] && !self.folder.exists(body.path))
    }

    /// Any command that changes the cassette finds it, not only the next rewrite.
    @Test func killedRewriteLeavesNothing() throws {
        let half = self.folder.file(".pets.json.rewrite")
        try OpenFile(half, for: .create).write(Array("half".utf8), at: 0)
        _ = try BodyStore(cassettePath: self.path)
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func rewriteAtWorkKeepsItsFile() throws {
        let file = try OpenFile(self.folder.file(".pets.json.rewrite"), for: .create)
        try file.lock()
        _ = try BodyStore(cassettePath: self.path)
        #expect(try self.folder.names().contains(".pets.json.rewrite"))
        withExtendedLifetime(file) {}
    }

    /// A taken name must not make the end of a recording fail.
    @Test func longestNameLeavesRoomForAllDerivedNames() throws {
        let path = self.folder.file(String(repeating: "n", count: CassettePlace.nameLimit - 5) + ".json")
        try CassettePlace.checkName(path)
        for _ in 1..<100 { try RecordedExchanges.write([.sample(1)], to: CassettePlace.freeName(beside: path)) }
        for name in [try CassettePlace.freeName(beside: path)]
            + (try CassettePlace.StagingCommand.allCases.map { try CassettePlace.stagedPath(of: path, by: $0) })
        {
            try RecordedExchanges.write([.sample(2), .sample(1)], to: name)
            try CassetteAppender.open(name, recorder: "1").finish().rewrite(order: [1, 0])
            #expect(try RecordedExchanges.read(name).map(\.id) == [1, 2])
        }
        #expect(throws: CassetteError.self) { try CassettePlace.checkName(self.folder.file("n" + FileLocation(path).name)) }
    }

    @Test(arguments: CassettePlace.StagingCommand.allCases) func commandAtWorkKeepsItsFiles(
        command: CassettePlace.StagingCommand
    ) throws {
        let (appender, body) = try self.stage(command)
        let error = #expect(throws: CassetteError.self) { try CassettePlace.stagedPath(of: self.path, by: command) }
        #expect(error?.code == .inUse)
        var interaction = Interaction.sample(1)
        interaction.response?.body = Body(size: 4, content: .file(body))
        var writer = JSONWriter()
        InteractionEncoder.encode(interaction, into: &writer)
        try appender.append([writer.bytes])
        _ = try CassettePruner(path: self.path, exchanges: []).run(isDry: false, recorder: "1")
        #expect(try self.folder.names().contains(".pets.json.\(command.rawValue)") && self.folder.exists(body.path))
        withExtendedLifetime(appender) {}
    }
}
