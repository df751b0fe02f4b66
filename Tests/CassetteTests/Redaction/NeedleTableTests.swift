import Testing

@testable import CassetteRedaction

@Suite struct NeedleTableTests {
    @Test func manyNeedlesOfOneBeginningAreTold() {
        var table = NeedleTable(window: 16, block: 8)
        let needles = (0..<500).map { Array("eyJhbGciOiJIUzI1NiJ9.\(10_000 + $0)".utf8) }
        for (number, needle) in needles.enumerated() { needle.withUnsafeBytes { table.insert(Int32(number), $0) } }
        var asked: [Int32] = []
        let text = Array("    ".utf8) + needles[77]
        text.withUnsafeBytes { bytes in
            table.search(bytes, length: { needles[Int($0)].count }) { needle, start in
                guard start == 4, Array(bytes[4...]) == needles[Int(needle)] else { return nil }
                asked.append(needle)
                return bytes.count
            }
        }
        #expect(asked == [77])
    }

    @Test func nothingIsAskedForTextWithoutBlocks() {
        var table = NeedleTable(window: 6, block: 4)
        Array("abcdef".utf8).withUnsafeBytes { table.insert(0, $0) }
        Array("nothing of the kind".utf8).withUnsafeBytes { bytes in
            table.search(bytes, length: { _ in 6 }) { _, _ in
                Issue.record("asked")
                return nil
            }
        }
        #expect(!table.isEmpty)
    }
}
