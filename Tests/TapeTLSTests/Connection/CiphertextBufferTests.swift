import Testing

@testable import TapeTLS

struct CiphertextBufferTests {
    private func append(_ octets: [UInt8], to buffer: inout CiphertextBuffer) {
        octets.withUnsafeBytes { buffer.append($0) }
    }

    @Test func whatIsAppendedComesOutInOrder() {
        var buffer = CiphertextBuffer()
        var wanted: [UInt8] = []
        for length in [0, 1, 511, 1, 4096, 0, 70_000] {
            let piece = [UInt8](repeating: UInt8(length % 251), count: length)
            self.append(piece, to: &buffer)
            wanted += piece
            let count = buffer.count
            #expect(count == wanted.count)
        }
        let taken = buffer.take { Array($0) }
        #expect(taken == wanted)
    }

    @Test func isEmptyAfterItWasTaken() {
        var buffer = CiphertextBuffer()
        self.append([1, 2, 3], to: &buffer)
        _ = buffer.take { $0.count }
        let count = buffer.count
        #expect(count == 0)
        let second = buffer.take { Array($0) }
        #expect(second.isEmpty)
        self.append([4], to: &buffer)
        let third = buffer.take { Array($0) }
        #expect(third == [4])
    }

    @Test func roomThatWasReservedIsNoContent() {
        var buffer = CiphertextBuffer()
        self.append([1], to: &buffer)
        buffer.reserve(100_000)
        self.append([2], to: &buffer)
        let taken = buffer.take { Array($0) }
        #expect(taken == [1, 2])
    }

    @Test func reservedRoomStaysWhereItIs() {
        var buffer = CiphertextBuffer()
        buffer.reserve(5000)
        self.append([1], to: &buffer)
        let before = withUnsafeBytes(of: &buffer) { $0.load(as: UInt.self) }
        self.append([UInt8](repeating: 2, count: 4999), to: &buffer)
        let after = withUnsafeBytes(of: &buffer) { $0.load(as: UInt.self) }
        #expect(before == after)
    }
}
