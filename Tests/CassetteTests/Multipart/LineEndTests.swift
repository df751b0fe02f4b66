import Testing

@testable import CassetteModel

struct LineEndTests {
    @Test(arguments: LineEnd.allCases) func isFoundBeforeAnOffset(_ lineEnd: LineEnd) {
        let bytes = Array("a".utf8) + lineEnd.bytes
        #expect(lineEnd.count == lineEnd.bytes.count)
        #expect(bytes.withUnsafeBytes { LineEnd.before(bytes.count, from: 0, in: $0) } == lineEnd)
    }

    @Test func doesNotReachBeforeTheStart() {
        let bytes: [UInt8] = [13, 10]
        #expect(bytes.withUnsafeBytes { LineEnd.before(2, from: 1, in: $0) } == .lineFeed)
        #expect(bytes.withUnsafeBytes { LineEnd.before(1, from: 1, in: $0) } == .none)
    }

    @Test func isFoundAtTheBeginning() {
        #expect(LineEnd.leading([13, 10, 1]) == .carriageReturnLineFeed)
        #expect(LineEnd.leading([10, 13]) == .lineFeed)
        #expect(LineEnd.leading([13, 13]) == .none)
    }
}
