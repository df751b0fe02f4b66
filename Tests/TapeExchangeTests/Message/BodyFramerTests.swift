import CassetteModel
import TapeExchange
import Testing

@Suite struct BodyFramerTests {
    private func frame(_ text: String, by step: Int, _ arrival: Arrival?, isComplete: Bool = true, trailers: HeaderFields? = nil) -> String
    {
        var framer = BodyFramer(arrival: arrival, isChunked: true, size: text.utf8.count, isComplete: isComplete, trailers: trailers)
        var wire: [UInt8] = []
        let bytes = Array(text.utf8)
        var offset = 0
        while offset < bytes.count {
            let end = min(offset + step, bytes.count)
            bytes[offset..<end].withUnsafeBytes { framer.frame($0, into: &wire) }
            offset = end
        }
        framer.end(into: &wire)
        return String(decoding: wire, as: UTF8.self)
    }

    private func chunks(_ pieces: [(Int, String?)], last: String? = nil) -> Arrival {
        Arrival(isChunked: true, pieces: pieces.map { Arrival.Piece(at: 0, size: $0.0, line: $0.1) }, lastLine: last)
    }

    @Test(arguments: 1...8) func recordedChunksComeBackHoweverTheBodyIsFed(step: Int) {
        let arrival = self.chunks([(5, nil), (2, "0002;a=b"), (1, nil)], last: "00")
        let expected = "5\r\nhello\r\n0002;a=b\r\n w\r\n1\r\no\r\n00\r\nX: y\r\n\r\n"
        #expect(self.frame("hello wo", by: step, arrival, trailers: HeaderFields(["X: y"])) == expected)
    }

    @Test func anEmptyBodyIsItsLastChunk() {
        #expect(self.frame("", by: 1, self.chunks([])) == "0\r\n\r\n")
    }

    @Test func anEditedBodyGetsNewFraming() {
        #expect(self.frame("hello!", by: 4, self.chunks([(5, nil)])) == "4\r\nhell\r\n2\r\no!\r\n0\r\n\r\n")
    }

    @Test func aCutBodyHasNoEnd() {
        #expect(self.frame("hel", by: 2, self.chunks([(3, "5")]), isComplete: false) == "5\r\nhel")
        #expect(self.frame("hello", by: 2, self.chunks([(5, nil)]), isComplete: false) == "5\r\nhello\r\n")
        #expect(self.frame("a", by: 1, self.chunks([(1, nil), (0, "ff")]), isComplete: false) == "1\r\na\r\nff\r\n")
    }

    @Test func withoutChunksTheBytesPass() {
        var framer = BodyFramer(arrival: nil, isChunked: false, size: 2, isComplete: true, trailers: nil)
        var wire: [UInt8] = []
        Array("ab".utf8).withUnsafeBytes { framer.frame($0, into: &wire) }
        framer.end(into: &wire)
        #expect(wire == Array("ab".utf8))
    }
}
