import CassetteModel
import TapeBytes
import TapeTestSupport
import Testing
@testable import TrafficRules

/// The units of a stream are the same wherever its bytes are cut.
@Suite struct StreamUnitsTests {
    private static let streams: [(type: String, units: [String])] = [
        ("text/event-stream", ["data: a\n\n", ": b\r\ndata: c\r\n\r\n", "id: 1\rdata: d\r\r", "data: e\n\n"]),
        ("application/x-ndjson", ["{\"a\":1}\n", "\n", "[2]\r\n"]),
        ("application/json-seq", ["\u{1e}{\"a\":1}\n", "\u{1e}2\n"]),
        ("application/grpc", ["\0\0\0\0\u{3}abc", "\0\0\0\0\0", "\u{1}\0\0\0\u{1}x"]),
        ("application/vnd.amazon.eventstream", ["\0\0\0\u{12}0123456789abcd", "\0\0\0\u{10}0123456789ab"]),
    ]

    @Test(arguments: Self.streams.indices)
    func bytesAreCutAnywhere(_ index: Int) throws {
        let (type, expected) = Self.streams[index]
        let bytes = expected.flatMap(\.utf8)
        var generator = SeededGenerator(seed: UInt64(index))
        for _ in 0..<200 {
            var units = try #require(StreamUnits(HeaderFields(["Content-Type: \(type)"])))
            var (found, offset): ([[UInt8]], Int) = ([], 0)
            while offset < bytes.count {
                let count = Int.random(in: 1...min(9, bytes.count - offset), using: &generator)
                found += units.push(bytes[offset..<offset + count]).map(\.bytes)
                offset += count
            }
            #expect(units.rest().isEmpty)
            #expect(found.flatMap(\.self) == bytes)
            // The LF of a line end that was cut after its CR may begin the next unit.
            func content(_ units: [[UInt8]]) -> [[UInt8]] { units.map { $0.filter { $0 != 10 && $0 != 13 } }.filter { !$0.isEmpty } }
            #expect(content(found) == content(expected.map { Array($0.utf8) }))
        }
    }

    @Test func anEndlessUnitPassesInParts() throws {
        var units = try #require(StreamUnits(HeaderFields(["Content-Type: text/event-stream"])))
        let part = [UInt8](repeating: UInt8(ascii: "x"), count: 600_000)
        #expect(units.push(part).isEmpty)
        #expect(units.push(part).map { [$0.part == .part, $0.bytes == part + part] } == [[true, true]])
        #expect(units.isInPart)
        #expect(units.push(Array("\n\n".utf8)) == [StreamUnits.Unit(bytes: Array("\n\n".utf8), part: .last)])
        #expect(!units.isInPart)
    }

    /// How many units there are, and which of them are long.
    @Test(arguments: [1 << 20, 65_536, 1_000_003, 1 << 22]) func longUnitsCountOnceWhereverTheyAreCut(size: Int) throws {
        var units = try #require(StreamUnits(HeaderFields(["Content-Type: application/x-ndjson"])))
        let lines = [5, 1 << 20, (1 << 20) + 1, 3_000_000, 5].map { [UInt8](repeating: UInt8(ascii: "x"), count: $0 - 1) + [10] }
        let bytes = lines.flatMap { $0 }
        var found: [StreamUnits.Unit] = []
        for start in stride(from: 0, to: bytes.count, by: size) { found += units.push(bytes[start..<min(start + size, bytes.count)]) }
        #expect(found.filter(\.isEnd).map(\.part) == [.whole, .whole, .last, .last, .whole])
        let isSame = found.flatMap(\.bytes) == bytes
        #expect(isSame)
    }

    @Test(arguments: ["text/plain", "application/json", "application/grpc-web-text"])
    func otherBodiesHaveNoUnits(_ type: String) { #expect(StreamUnits(HeaderFields(["Content-Type: \(type)"])) == nil) }
}
