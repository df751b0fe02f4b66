import Foundation
import TapeTestSupport
import Testing

@testable import Wiretape

@Suite struct InputStreamContentsTests {
    @Test func allBytesAreRead() throws {
        let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(try InputStream(data: data).contents() == data)
        let folder = try TemporaryFolder()
        let file = try InputStream(data: data).spooled(in: URL(fileURLWithPath: folder.path))
        #expect(file.size == data.count)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == data)
    }

    @Test func anOpenStreamIsRefused() {
        let stream = InputStream(data: Data("a".utf8))
        stream.open()
        let error = #expect(throws: WiretapeError.self) { try stream.contents() }
        #expect(error?.code == .requestBody)
    }

    @Test func aStreamThatFailsIsTheErrorAndNoCrash() throws {
        let stream = try #require(InputStream(fileAtPath: "/nowhere/at/all"))
        let error = #expect(throws: WiretapeError.self) { try stream.contents() }
        #expect(error?.code == .requestBody)
    }
}
