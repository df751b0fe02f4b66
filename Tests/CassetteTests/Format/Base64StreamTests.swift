import Testing

@testable import TapeBytes

@Suite struct Base64StreamTests {
    @Test(arguments: 1...10)
    func piecesOfAnySizeGiveTheSameText(_ size: Int) {
        let bytes = Array(UInt8.min...UInt8.max)
        var whole: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &whole) }
        var writer = JSONWriter()
        var stream = Base64Stream()
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { stream.append($0, to: &writer) }
        }
        stream.finish(&writer)
        #expect(writer.bytes == whole)
    }
}
