import Testing

@testable import CassetteModel

struct LineEndTests {
    @Test(arguments: LineEnd.allCases) func isFoundInFrontOfAnOffset(_ lineEnd: LineEnd) {
        let octets = Array("a".utf8) + lineEnd.octets
        #expect(lineEnd.count == lineEnd.octets.count)
        #expect(octets.withUnsafeBytes { LineEnd.before(octets.count, from: 0, in: $0) } == lineEnd)
    }

    @Test func doesNotReachInFrontOfTheStart() {
        let octets: [UInt8] = [13, 10]
        #expect(octets.withUnsafeBytes { LineEnd.before(2, from: 1, in: $0) } == .lineFeed)
        #expect(octets.withUnsafeBytes { LineEnd.before(1, from: 1, in: $0) } == .none)
    }

    @Test func isFoundAtTheBeginning() {
        #expect(LineEnd.leading([13, 10, 1]) == .carriageReturnLineFeed)
        #expect(LineEnd.leading([10, 13]) == .lineFeed)
        #expect(LineEnd.leading([13, 13]) == .none)
    }
}
