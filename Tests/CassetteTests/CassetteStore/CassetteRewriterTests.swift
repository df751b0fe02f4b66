@testable import CassetteModel
@testable import CassetteStore
import Foundation
import TapeTestSupport
import Testing

@Suite struct CassetteRewriterTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.
    private var path: String { self.folder.file("pets.json") }

    private func recorded(_ ids: [Int], disk: DiskCalls = .system) throws -> CassetteRewriter {
        let appender = try CassetteAppender.create(self.path, recorder: "wiretape 0.1.0", disk: disk)
        try appender.append(ids.map { SampleCassette.interaction($0) })
        return try appender.finish()
    }

    @Test func putsInteractionsInOrder() throws {
        let rewriter = try self.recorded([2, 1, 3])
        #expect(try rewriter.rewrite(order: [1, 0, 2]))
        #expect(try self.folder.read("pets.json") == SampleCassette.document([1, 2, 3]))
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func writesNothingWhenNothingChanges() throws {
        let rewriter = try self.recorded([1, 2])
        let before = try FileManager.default.attributesOfItem(atPath: self.path)[.systemFileNumber] as? Int
        #expect(try !rewriter.rewrite(order: [0, 1]))
        #expect(try FileManager.default.attributesOfItem(atPath: self.path)[.systemFileNumber] as? Int == before)
    }

    @Test func exchangesTextAndKeepsTheRest() throws {
        let rewriter = try self.recorded([1, 2, 3])
        var places: [Int] = []
        try rewriter.rewrite(order: [0, 1, 2]) { place, bytes in
            places.append(place)
            return place == 1 ? SampleCassette.interaction(9) : nil
        }
        #expect(places == [0, 1, 2])
        #expect(try self.folder.read("pets.json") == SampleCassette.document([1, 9, 3]))
    }

    @Test(arguments: [[], [2], [0], [0, 1], [2, 0]] as [[Int]])
    func leavesInteractionsOut(_ order: [Int]) throws {
        try self.recorded([1, 2, 3]).rewrite(order: order)
        #expect(try self.folder.read("pets.json") == SampleCassette.document(order.map { $0 + 1 }))
    }

    @Test func keepsOtherMembersAndTheModeOfTheFile() throws {
        let text = #"{"wiretape":1,"x":[1],"interactions":[{"id":1},{"id":2}],"after":null}"#
        try self.folder.write(Array(text.utf8), to: "pets.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: self.path)
        try CassetteAppender.open(self.path, recorder: "w").finish().rewrite(order: [1, 0])
        let result = String(decoding: try self.folder.read("pets.json"), as: UTF8.self)
        #expect(result == "{\"wiretape\":2,\"x\":[1],\"interactions\":[\n    {\"id\":2},\n    {\"id\":1}],\"after\":null}")
        #expect(try FileManager.default.attributesOfItem(atPath: self.path)[.posixPermissions] as? Int == 0o600)
    }

    @Test func aFailureLeavesTheOldFile() throws {
        let disk = FaultyDisk()
        let rewriter = try self.recorded([2, 1], disk: disk.calls)
        let before = try self.folder.read("pets.json")
        disk.with { $0.end = 100 }
        #expect(throws: CassetteError.self) { try rewriter.rewrite(order: [1, 0]) }
        disk.with { $0.end = Int.max }
        disk.with { $0.syncError = EIO }
        #expect(throws: CassetteError.self) { try rewriter.rewrite(order: [1, 0]) }
        #expect(throws: CancellationError.self) { try rewriter.rewrite(order: [1, 0]) { _, _ in throw CancellationError() } }
        #expect(try self.folder.read("pets.json") == before)
        #expect(try self.folder.names() == ["pets.json"])
        disk.with { $0.syncError = 0 }
        try rewriter.rewrite(order: [1, 0])
        #expect(try self.folder.read("pets.json") == SampleCassette.document([1, 2]))
    }

    @Test func aKilledRewriteIsClearedAway() throws {
        let rewriter = try self.recorded([2, 1])
        try self.folder.write([1, 2, 3], to: ".pets.json.rewrite")
        try rewriter.rewrite(order: [1, 0])
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func rewritesMoreThanItsBuffers() throws {
        let ids = Array(1...2000)
        try self.recorded(ids.reversed()).rewrite(order: ids.indices.reversed())
        #expect(try self.folder.read("pets.json") == SampleCassette.document(ids))
    }
}

@Suite struct BufferedWriterTests {
    private let folder = try! TemporaryFolder()  // The test cannot run without its folder.

    @Test func collectsSmallWrites() throws {
        let disk = FaultyDisk()
        let file = try OpenFile(self.folder.file("file"), for: .create, disk: disk.calls)
        let source = try OpenFile(self.folder.write([7, 8, 9], to: "source"), for: .read)
        var writer = BufferedWriter()
        for index in 0..<1000 { try writer.append([UInt8(truncatingIfNeeded: index)], to: file) }
        try writer.append(1..<3, of: source, to: file)
        try writer.flush(to: file)
        try writer.flush(to: file)
        #expect(writer.offset == 1002)
        #expect(disk.with { $0.writes } == 1)
        #expect(try self.folder.read("file") == (0..<1000).map { UInt8(truncatingIfNeeded: $0) } + [8, 9])
    }

    @Test func writesLargePiecesAtOnce() throws {
        let file = try OpenFile(self.folder.file("file"), for: .create)
        var writer = BufferedWriter()
        let large = [UInt8](repeating: 5, count: 600_000)
        try writer.append(large, to: file)
        #expect(try file.size() == 600_000)
        try writer.append([6], to: file)
        try writer.flush(to: file)
        #expect(try self.folder.read("file") == large + [6])
    }
}
