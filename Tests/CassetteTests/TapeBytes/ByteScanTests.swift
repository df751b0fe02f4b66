@testable import TapeBytes
import TapeTestSupport
import Testing

@Suite struct ByteScanTests {
    @Test func everyStopIsFoundAtEveryPlace() {
        for length in 1...20 {
            for spot in 0..<length {
                for byte in UInt8.min...UInt8.max {
                    var bytes = [UInt8](repeating: 0x61, count: length)
                    bytes[spot] = byte
                    let isStop = byte < 0x20 || byte == 0x22 || byte == 0x5C
                    bytes.withUnsafeBytes {
                        #expect(ByteScan.endOfPlain($0, from: 0, stopAtDelete: false) == (isStop ? spot : length))
                        #expect(ByteScan.endOfPlain($0, from: 0, stopAtDelete: true) == (isStop || byte == 0x7F ? spot : length))
                        #expect(ByteScan.endOfASCII($0, from: 0) == (byte >= 0x80 ? spot : length))
                        #expect(ByteScan.index(of: byte, in: $0, from: byte == 0x61 ? spot : 0) == spot)
                    }
                    if length % 5 != 1 { break }
                }
            }
        }
    }

    @Test(arguments: [31, 32, 63, 64, 65, 100, 130]) func everyStopIsFoundInLongTexts(length: Int) {
        for spot in 0..<length {
            for byte in [0, 0x1F, 0x20, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x7E, 0x7F, 0x80, 0xFF] as [UInt8] {
                var bytes = [UInt8](repeating: 0x61, count: length)
                bytes[spot] = byte
                let isStop = byte < 0x20 || byte == 0x22 || byte == 0x5C
                bytes.withUnsafeBytes {
                    #expect(ByteScan.endOfPlain($0, from: 0, stopAtDelete: false) == (isStop ? spot : length))
                    #expect(ByteScan.endOfPlain($0, from: min(3, spot), stopAtDelete: true) == (isStop || byte == 0x7F ? spot : length))
                    #expect(ByteScan.endOfPlain($0, from: spot + 1, stopAtDelete: true) == length)
                    #expect(ByteScan.endOfASCII($0, from: 0) == (byte >= 0x80 ? spot : length))
                }
            }
        }
    }

    @Test func theFirstOfSeveralStopsCounts() {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            let bytes = (0..<40).map { _ in
                [0x20, 0x1F, 0x21, 0x22, 0x23, 0x5B, 0x5C, 0x5D, 0x80, 0xFF, 0x7F, 0x61][Int.random(in: 0..<12, using: &generator)] as UInt8
            }
            let expected = bytes.firstIndex { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C } ?? bytes.count
            #expect(bytes.withUnsafeBytes { ByteScan.endOfPlain($0, from: 0, stopAtDelete: false) } == expected)
            #expect(bytes.withUnsafeBytes { ByteScan.index(of: 0x22, in: $0, from: 0) } == bytes.firstIndex(of: 0x22) ?? bytes.count)
        }
    }

    @Test func linesAreCountedUpToAPlace() {
        #expect(Array("a\nb\nc".utf8).withUnsafeBytes { ByteScan.count(of: 10, in: $0, upTo: 3) } == 1)
        #expect(Array("a\nb\nc".utf8).withUnsafeBytes { ByteScan.count(of: 10, in: $0, upTo: 99) } == 2)
    }

    @Test func theFirstOfTwoBytesIsFound() {
        for length in 0..<20 {
            for place in 0...length {
                var bytes = [UInt8](repeating: 97, count: length)
                if place < length { bytes[place] = place % 2 == 0 ? 37 : 123 }
                if place + 2 < length { bytes[place + 2] = 37 }
                #expect(bytes.withUnsafeBytes { ByteScan.index(of: 37, or: 123, in: $0, from: 0) } == place)
                #expect(bytes.withUnsafeBytes { ByteScan.index(of: 37, or: 123, in: $0, from: length) } == length)
            }
        }
    }
}

@Suite struct ByteSearchTests {
    private func finds(_ needle: StaticString, in text: String) -> Bool {
        Array(text.utf8).withUnsafeBytes { ByteSearch.contains(needle, in: $0) }
    }

    @Test func itFindsTheSameAsALookAtEachPosition() {
        let needles: [StaticString] = ["a", "aa", "aab", "baa", "\"q\"", "q:q", "aqa", "::a"]
        var random = SeededGenerator(seed: 5)
        for _ in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...12, using: &random)).map { _ in Array("aabq:\"".utf8).randomElement(using: &random)! }
            for needle in needles {
                let wanted = Array("\(needle)".utf8)
                let isThere = bytes.indices.contains { bytes[$0...].starts(with: wanted) }
                #expect(bytes.withUnsafeBytes { ByteSearch.contains(needle, in: $0) } == isThere, "\(needle) in \(bytes)")
            }
        }
    }

    @Test func itFindsAtBothEndsAndAfterFalseStarts() {
        #expect(self.finds("abc", in: "abc..."))
        #expect(self.finds("abc", in: "...abc"))
        #expect(self.finds("abc", in: "ababc"))
        #expect(self.finds("aab", in: "aaaab"))
        #expect(self.finds("a", in: "a"))
    }

    @Test func itDoesNotReadBeyondTheEnd() {
        #expect(!self.finds("abc", in: "ab"))
        #expect(!self.finds("abc", in: "xxab"))
        #expect(!self.finds("abc", in: ""))
        #expect(!self.finds("", in: "abc"))
        #expect(!self.finds("abc", in: "ABC"))
    }
}

@Suite struct UnsafeRawBufferPointerComparisonTests {
    /// Lengths around each of the word sizes of the comparison, with each byte wrong once, at the end of the bytes and before it.
    @Test func aTextIsFoundAtItsOffsetOnly() {
        func check(_ text: StaticString) {
            let wanted = Array(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
            for offset in 0..<9 {
                var bytes = [UInt8](repeating: 0x2E, count: offset) + wanted
                #expect(bytes.withUnsafeBytes { $0.has(text, at: offset) })
                #expect((bytes + [0x2E]).withUnsafeBytes { $0.has(text, at: offset) })
                #expect(!bytes.withUnsafeBytes { $0.has(text, at: offset + 1) } || wanted.isEmpty)
                if !wanted.isEmpty { #expect(!bytes.dropLast().withUnsafeBytes { $0.has(text, at: offset) }) }
                for place in wanted.indices {
                    bytes[offset + place] ^= 0x20
                    #expect(!bytes.withUnsafeBytes { $0.has(text, at: offset) }, "the byte at \(place) of \(text)")
                    bytes[offset + place] ^= 0x20
                }
            }
        }
        check("")
        check("a")
        check("ab")
        check("abc")
        check("abcd")
        check("abcdefg")
        check("abcdefgh")
        check("abcdefghi")
        check("abcdefghijklmno")
        check("abcdefghijklmnopqrstuvw")
    }

    private func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.withUnsafeBytes { left in right.withUnsafeBytes { left.elementsEqualFast($0) } }
    }

    @Test func equalBytesAreEqual() {
        #expect(self.equal([0, 255, 3], [0, 255, 3]))
    }

    @Test(arguments: 0..<9)
    func oneOtherByteIsSeenAtAnyOffset(index: Int) {
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
