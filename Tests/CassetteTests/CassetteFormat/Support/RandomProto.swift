import CassetteModel
import TapeTestSupport

/// Random Protocol Buffers messages: every wire type, and values that look like others.
struct RandomProto {
    var generator: SeededGenerator

    init(seed: UInt64) { self.generator = SeededGenerator(seed: seed) }

    private mutating func below(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &self.generator) }

    mutating func bytes(_ most: Int) -> [UInt8] { (0..<self.below(most)).map { _ in UInt8(self.below(256)) } }

    mutating func message(depth: Int = 0) -> ProtoMessage {
        ProtoMessage(fields: (0..<self.below(depth > 3 ? 2 : 5)).map { _ in self.field(depth) })
    }

    private mutating func field(_ depth: Int) -> ProtoField {
        let number = [1, 2, 3, 15, 16, 2047, 2048, 0x1FFF_FFFF][self.below(8)]
        return ProtoField(
            number, name: self.below(3) == 0 ? ["id", "päd:x", ""][self.below(3)] : nil, self.value(depth),
            label: self.below(9) == 0 ? "A \"label\"" : nil)
    }

    private mutating func value(_ depth: Int) -> ProtoValue {
        switch self.below(depth > 5 ? 6 : 10) {
        case 0: .varint(self.number())
        case 1: .fixed32(UInt32(truncatingIfNeeded: self.number()))
        case 2: .fixed64(self.number())
        case 3: .text(Array(["Rex", "", "\n$3f2b8d5e-0000-4000-8000-000000000001", "음식", "a\tb\r\n", "\u{7F}\u{0}"][self.below(6)].utf8))
        case 4: .bytes(self.bytes(12))
        case 5: .fixed64(Double(self.below(1000)).bitPattern, isDouble: true)
        case 6: .message(self.message(depth: depth + 1))
        case 7: .group(self.message(depth: depth + 1))
        case 8: .entry(self.message(depth: depth + 1))
        default: .packed((0..<self.below(4)).map { _ in .varint(self.number()) })
        }
    }

    private mutating func number() -> UInt64 {
        [0, 1, 127, 128, 1 << 53, (1 << 53) + 1, .max, UInt64(bitPattern: -1 << 54), 0x4009_21FB_5444_2D18, self.generator.next()][
            self.below(10)]
    }
}
