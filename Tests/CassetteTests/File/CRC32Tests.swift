import Testing
@testable import TapeBytes

@Suite struct CRC32Tests {
    @Test func isTheChecksumOfGzip() {
        #expect(Array("123456789".utf8).withUnsafeBytes { CRC32.value(of: $0) } == 0xcbf4_3926)
        #expect(CRC32.value(of: UnsafeRawBufferPointer(start: nil, count: 0)) == 0)
    }

    @Test func goesOnAfterEarlierBytes() {
        let first = Array("1234".utf8).withUnsafeBytes { CRC32.value(of: $0) }
        #expect(Array("56789".utf8).withUnsafeBytes { CRC32.value(of: $0, after: first) } == 0xcbf4_3926)
    }
}
