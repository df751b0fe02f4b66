import NIOCore
import TapeTestSupport
import Testing

@testable import TapeProxy

@Suite struct WebSocketUnitsTests {
    private static let limit = 200

    /// One frame without a meaning, by RFC 6455, 5.2.
    private static func frame(_ opcode: UInt8, isLast: Bool, size: Int, isMasked: Bool, fill: UInt8) -> [UInt8] {
        var bytes: [UInt8] = [(isLast ? 0x80 : 0) | opcode]
        let mask: UInt8 = isMasked ? 0x80 : 0
        switch size {
        case ...125: bytes.append(mask | UInt8(size))
        case ...0xffff: bytes += [mask | 126, UInt8(size >> 8), UInt8(size & 0xff)]
        default: bytes += [mask | 127] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) }
        }
        if isMasked { bytes += [1, 2, 3, 4] }
        return bytes + Array(repeating: fill, count: size)
    }

    private struct Stream {
        var bytes: [UInt8] = []
        /// Without control frames, which may pass the beginning of a message.
        var data: [UInt8] = []
        /// Of each message, whether it is too long to be held.
        var messages: [Bool] = []
        var controls = 0
    }

    private static func stream(_ generator: inout SeededGenerator) -> Stream {
        var stream = Stream()
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            var size = 0
            let fragments = Int.random(in: 1...4, using: &generator)
            for fragment in 0..<fragments {
                let payload = Int.random(in: 0...([3, 125, 130, 400, 70_000].randomElement(using: &generator) ?? 3), using: &generator)
                // The payload looks like heads of frames.
                let bytes = self.frame(
                    fragment == 0 ? 1 : 0, isLast: fragment == fragments - 1, size: payload, isMasked: Bool.random(using: &generator),
                    fill: [0x00, 0x81, 0x88, 0xff].randomElement(using: &generator) ?? 0)
                size += bytes.count
                stream.bytes += bytes
                stream.data += bytes
                if Bool.random(using: &generator) {
                    stream.bytes += self.frame(9, isLast: true, size: 5, isMasked: false, fill: 0x81)
                    stream.controls += 1
                }
            }
            stream.messages.append(size > self.limit)
        }
        return stream
    }

    private struct Found: Hashable {
        var units: [[UInt8]] = []
        var data: [UInt8] = []
        var messages: [Bool] = []
        var controls = 0
    }

    /// The units of bytes that come in pieces. Parts that follow each other are one.
    private static func units(_ bytes: [UInt8], cut: () -> Int) -> Found {
        var units = WebSocketUnits(limit: self.limit)
        var found = Found()
        var isInPart = false
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + max(1, cut()))
            for unit in units.push(ByteBuffer(bytes: bytes[start..<end])) {
                let content = Array(unit.bytes.readableBytesView)
                if isInPart, unit.kind == .part || unit.kind == .lastPart {
                    found.units[found.units.count - 1] += content
                } else {
                    found.units.append(content)
                }
                isInPart = unit.kind == .part
                if unit.kind == .control { found.controls += 1 } else { found.data += content }
                if unit.kind == .message || unit.kind == .lastPart { found.messages.append(unit.kind == .lastPart) }
            }
            start = end
        }
        #expect(units.rest().readableBytes == 0)
        return found
    }

    @Test(arguments: 0..<60) func theUnitsDoNotDependOnHowTheBytesCome(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let stream = Self.stream(&generator)
        let whole = Self.units(stream.bytes) { stream.bytes.count }
        #expect(whole.messages == stream.messages && whole.controls == stream.controls)
        let hasAllData = whole.data == stream.data
        #expect(hasAllData)
        for most in [1, 7, 130, 300, 5000] where most > 1 || stream.bytes.count < 20_000 {
            let cut = Self.units(stream.bytes) { Int.random(in: 1...most, using: &generator) }
            let isSame = cut == whole
            #expect(isSame, "in pieces of up to \(most) bytes: \(cut.messages) and not \(whole.messages)")
        }
    }

    @Test func aFrameOfAnyClaimedLengthPasses() {
        var units = WebSocketUnits(limit: Self.limit)
        let head: [UInt8] = [0x82, 127] + Array(repeating: 0xff, count: 8)
        #expect(units.push(ByteBuffer(bytes: head)).map(\.kind) == [.part])
        #expect(units.push(ByteBuffer(bytes: [0x81, 0x01, 0x6d])).map(\.kind) == [.part])
    }

    @Test func theBeginningOfAMessageIsTheRest() {
        var units = WebSocketUnits(limit: Self.limit)
        #expect(units.push(ByteBuffer(bytes: [0x01, 0x01, 0x6d, 0x80])).isEmpty)
        #expect(Array(units.rest().readableBytesView) == [0x01, 0x01, 0x6d, 0x80])
        #expect(units.rest().readableBytes == 0)
    }
}
