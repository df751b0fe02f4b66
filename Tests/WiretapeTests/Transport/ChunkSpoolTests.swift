import Foundation
import Testing

@testable import Wiretape

@Suite struct ChunkSpoolTests {
    @Test func bytesComeBackInTheirOrder() throws {
        let spool = try ChunkSpool()
        try spool.append(Data("abc".utf8))
        #expect(try spool.next(2) == Data("ab".utf8))
        try spool.append(Data("de".utf8))
        #expect(try spool.next(0) == Data())
        #expect(try spool.next(3) == Data("cde".utf8))
        #expect(throws: CocoaError.self) { try spool.next(1) }
    }
}
