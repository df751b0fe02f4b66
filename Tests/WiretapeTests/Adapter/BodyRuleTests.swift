import Foundation
import Testing
@testable import Wiretape

@Suite struct BodyRuleTests {
    private enum Seen: Equatable { case none, data(String), file, stream, ofDelegate, hidden }

    private func seen(
        data: String? = nil, stream: Bool = false, isUpload: Bool = false, hasOwnUploads: Bool = false, kept: BodyRule.Kept = .unknown
    ) -> Seen {
        let stream = stream ? InputStream(data: Data()) : nil
        let body = BodyRule.body(data: data.map { Data($0.utf8) }, stream: stream, isUpload: isUpload, hasOwnUploads: hasOwnUploads) {
            kept
        }
        switch body {
        case .none: return .none
        case .data(let data): return .data(String(decoding: data, as: UTF8.self))
        case .file: return .file
        case .stream: return .stream
        case .ofDelegate: return .ofDelegate
        case .hidden: return .hidden
        }
    }

    @Test func aDataTaskShowsItsBody() {
        #expect(self.seen() == .none)
        #expect(self.seen(data: "") == .none)
        #expect(self.seen(data: "own") == .data("own"))
        #expect(self.seen(stream: true) == .stream)
        #expect(self.seen(data: "own", kept: .data(Data("other".utf8))) == .data("own"))
    }

    @Test func theTaskHasTheBodyOfAnUploadOnLinux() {
        #expect(self.seen(isUpload: true, kept: .data(Data("kept".utf8))) == .data("kept"))
        #expect(self.seen(isUpload: true, kept: .file(URL(fileURLWithPath: "/"))) == .file)
        #expect(self.seen(isUpload: true, kept: .stream(InputStream(data: Data()))) == .stream)
        #expect(self.seen(isUpload: true, kept: .unmade) == .ofDelegate)
        #expect(self.seen(isUpload: true, kept: .none) == .none)
    }

    @Test func bodyOfAnUploadsRequestIsIgnoredOnLinux() {
        #expect(self.seen(data: "decoy", isUpload: true, kept: .data(Data("kept".utf8))) == .data("kept"))
    }

    @Test func aBodyThatCannotBeSeenIsNotTakenForNone() {
        #expect(self.seen(isUpload: true, kept: .unknown) == .hidden)
        #expect(self.seen(data: "decoy", isUpload: true, kept: .unknown) == .hidden)
        #expect(self.seen(isUpload: true, hasOwnUploads: true) == .hidden)
    }

    @Test func theRequestShowsTheBodyOfAnUploadOnApple() {
        #expect(self.seen(data: "own", isUpload: true, hasOwnUploads: true) == .data("own"))
        #expect(self.seen(stream: true, isUpload: true, hasOwnUploads: true) == .stream)
    }
}

@Suite struct SpooledStreamTests {
    @Test(arguments: [0, 1, 65_536, 65_537, 300_000]) func aStreamIsReadToItsEnd(size: Int) throws {
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0) })
        let spooled = try SpooledStream.read(InputStream(data: bytes))
        guard case .data(bytes) = spooled.body else {
            Issue.record("\(spooled.body.size ?? -1) bytes of \(size)")
            return
        }
        #expect(spooled.file == nil)
    }

    @Test func aLargeOneGoesIntoAFileThatGoesWithItsOwner() throws {
        let bytes = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 / 7) })
        var spooled: SpooledStream.Spooled? = try SpooledStream.read(InputStream(data: bytes), memoryLimit: 100_000)
        guard case .file(let url, let size) = spooled?.body else {
            Issue.record("it was kept in memory")
            return
        }
        #expect(size == bytes.count)
        #expect(try Data(contentsOf: url) == bytes)
        spooled = nil
        #expect(!FileManager.default.fileExists(atPath: url.path))
    }

    @Test func anOpenStreamContinuesAtItsOffset() throws {
        let stream = InputStream(data: Data("abcdef".utf8))
        stream.open()
        var buffer = [UInt8](repeating: 0, count: 2)
        #expect(stream.read(&buffer, maxLength: 2) == 2)
        guard case .data(Data("cdef".utf8)) = try SpooledStream.read(stream).body else {
            Issue.record("what was read is there again, or more is gone")
            return
        }
    }

    @Test func aStreamThatCannotBeReadIsAFailure() throws {
        let stream = try #require(InputStream(fileAtPath: "/nowhere/at/all"))
        let failure = #expect(throws: TransportFailure.self) { try SpooledStream.read(stream) }
        #expect(failure?.kind == .body)
    }
}
