import TapeTestSupport

/// Damages a byte stream in the ways of networks, broken peers and attackers.
enum Mutation: CaseIterable {
    case flipBit, setByte, cut, insert, remove, double, swapRecords, changeLength, changeType, splitRecord

    func apply(to bytes: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        guard !bytes.isEmpty else { return [] }
        var result = bytes
        let at = Int.random(in: 0..<bytes.count, using: &generator)
        let end = min(bytes.count, at + Int.random(in: 1...32, using: &generator))
        switch self {
        case .flipBit: result[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        case .setByte: result[at] = [0, 1, 127, 128, 255].randomElement(using: &generator) ?? 0
        case .cut: result.removeSubrange(at...)
        case .insert: result.insert(contentsOf: (at..<end).map { _ in UInt8(truncatingIfNeeded: generator.next()) }, at: at)
        case .remove: result.removeSubrange(at..<end)
        case .double: result.insert(contentsOf: bytes[at..<end], at: at)
        case .swapRecords, .changeLength, .changeType, .splitRecord:
            var records = TLSRecord.split(bytes)
            self.change(&records, using: &generator)
            result = records.flatMap { $0 }
        }
        return result
    }

    private func change(_ records: inout [[UInt8]], using generator: inout SeededGenerator) {
        let at = Int.random(in: 0..<records.count, using: &generator)
        guard records[at].count > 6 else { return }
        switch self {
        case .swapRecords: records.swapAt(at, Int.random(in: 0..<records.count, using: &generator))
        case .changeLength: records[at][Int.random(in: 3...4, using: &generator)] = UInt8(truncatingIfNeeded: generator.next())
        case .changeType: records[at][0] = UInt8.random(in: 20...25, using: &generator)
        default:
            // Legal unless the record is encrypted.
            let (head, body) = (records[at].prefix(3), records[at].dropFirst(5))
            let cut = Int.random(in: 1..<body.count, using: &generator)
            var parts: [UInt8] = []
            for part in [body.prefix(cut), body.dropFirst(cut)] {
                parts += head
                parts += [UInt8(part.count >> 8), UInt8(part.count & 255)]
                parts += part
            }
            records[at] = parts
        }
    }
}
