import Foundation
import TapeTestSupport
import Testing
@testable import CassetteModel
@testable import CassetteStore

@Suite struct CassetteReaderTests {
    private let folder = try! TemporaryFolder()  // A test without its folder has nothing to say.

    @Test func aMissingCassetteIsNotFound() {
        #expect(cassetteError { _ = try CassetteReader(path: self.folder.file("pets.json")) }?.code == .notFound)
    }

    @Test func neverWrites() throws {
        let bytes = Array(SampleCassette.document([1, 2]).dropLast(30))
        let path = try self.folder.write(bytes, to: "pets.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: path)
        let reader = try CassetteReader(path: path)
        #expect(reader.damage?.interactions == 1)
        #expect(try reader.tail().isEmpty)
        #expect(try self.folder.read("pets.json") == bytes)
        #expect(try self.folder.names() == ["pets.json"])
    }

    @Test func namesLines() throws {
        let bytes = SampleCassette.document([1, 2, 3])
        let reader = try CassetteReader(path: self.folder.write(bytes, to: "pets.json"))
        for index in 0..<3 {
            #expect(try reader.line(at: index) == bytes[..<reader.range(at: index).lowerBound].count { $0 == 0x0a } + 1)
        }
    }

    @Test func manyThreadsReadAtOnce() async throws {
        let reader = try CassetteReader(path: self.folder.write(SampleCassette.document(Array(1...50)), to: "pets.json"))
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<50 { group.addTask { try reader.bytes(at: index) == SampleCassette.element(index + 1) } }
            for try await isEqual in group { #expect(isEqual) }
        }
    }

    @Test func aFileThatShrinksMeanwhileIsAnError() throws {
        let path = try self.folder.write(SampleCassette.document([1, 2]), to: "pets.json")
        let reader = try CassetteReader(path: path)
        #expect(truncate(path, 200) == 0)
        #expect(cassetteError { _ = try reader.bytes(at: 1) }?.code == .unreadable)
    }
}
