import Testing

@testable import TapeBytes

@Suite struct UnsafeRawBufferPointerComparisonTests {
    private func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { left.elementsEqualFast($0) } }
    }

    @Test func equalBytesAreEqual() {
        #expect(self.equal([0, 255, 3], [0, 255, 3]))
    }

    @Test(arguments: 0..<9)
    func oneOtherByteIsSeenWhereverItIs(index: Int) {
        let bytes = [UInt8](repeating: 7, count: 9)
        var other = bytes
        other[index] = 0
        #expect(!self.equal(bytes, other))
    }

    @Test func aPrefixIsNotEqual() {
        #expect(!self.equal([1, 2], [1, 2, 3]))
        #expect(!self.equal([1, 2, 3], [1, 2]))
        #expect(!self.equal([], [0]))
    }

    @Test func buffersWithoutAnAddressAreEqualToEmptyOnesAlone() {
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        #expect(nothing.elementsEqualFast(nothing))
        [UInt8(1)].withUnsafeBytes { one in
            #expect(nothing.elementsEqualFast(UnsafeRawBufferPointer(rebasing: one[..<0])))
            #expect(!nothing.elementsEqualFast(one))
            #expect(!one.elementsEqualFast(nothing))
        }
    }
}
