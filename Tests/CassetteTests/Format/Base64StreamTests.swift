import Testing

@testable import TapeBytes

@Suite struct Base64StreamTests {
    @Test(arguments: 1...10)
    func piecesOfAnySizeGiveTheSameText(_ size: Int) {
        let octets = Array(UInt8.min...UInt8.max)
        var whole: [UInt8] = []
        octets.withUnsafeBytes { Base64.encode($0, into: &whole) }
        var writer = JSONWriter()
        var stream = Base64Stream()
        for start in stride(from: 0, to: octets.count, by: size) {
            octets[start..<min(start + size, octets.count)].withUnsafeBytes { stream.append($0, to: &writer) }
        }
        stream.finish(&writer)
        #expect(writer.bytes == whole)
    }
}
