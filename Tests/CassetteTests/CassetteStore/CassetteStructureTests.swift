@testable import CassetteStore
import TapeTestSupport
import Testing

@Suite struct CassetteStructureTests {
    @Test func piecesOfAnySizeGiveTheSame() {
        let bytes = SampleCassette.document([1, 2, 3])
        let whole = CassetteStructure.scan(bytes, piece: bytes.count)
        #expect(whole.isComplete)
        #expect(whole.interactions.map { Array(bytes[$0]) } == (1...3).map { SampleCassette.element($0) })
        for piece in 1..<120 {
            let pieces = CassetteStructure.scan(bytes, piece: piece)
            #expect(pieces.problem == nil, "pieces of \(piece)")
            #expect(pieces.interactions == whole.interactions, "pieces of \(piece)")
            #expect(pieces.documentEnd == whole.documentEnd, "pieces of \(piece)")
        }
    }
}

@Suite struct CassetteStructureNestedTests {
    @Test func anyAmountOfIndentationIsPassed() {
        for spaces in 0..<40 {
            let indentation = "\n" + String(repeating: " ", count: spaces)
            let text = "{\"wiretape\":1,\"interactions\":[{\(indentation)\"a\":\(indentation)[1,\(indentation)\"b\"\(indentation)]}]}"
            for piece in 1...24 {
                let structure = CassetteStructure.scan(Array(text.utf8), piece: piece)
                #expect(
                    structure.isComplete && structure.problem == nil && structure.interactions.count == 1,
                    "\(spaces) spaces, pieces of \(piece)")
            }
        }
    }

    @Test(
        arguments: [
            [0x00], [0x0a], [0x1f], [0x80], [0xc0, 0x80], [0xc3], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff],
            [0x5c, 0x0a],
        ] as [[UInt8]])
    func aStringHoldsOnlyText(_ bad: [UInt8]) {
        for padding in 0..<20 {
            let before = Array(("{\"wiretape\":1,\"interactions\":[{\"a\":\"" + String(repeating: "x", count: padding)).utf8)
            let bytes = before + bad + Array("yyyyyyyyyyyy\"}]}".utf8)
            for piece in [1, 7, bytes.count] {
                let structure = CassetteStructure.scan(bytes, piece: piece)
                #expect(structure.problem != nil)
                #expect((before.count...before.count + bad.count).contains(structure.problemOffset))
            }
        }
    }

    @Test func bracketsMustMatchAtAnyDepth() {
        for depth in [1, 63, 64, 65, 200, CassetteStructure.depthLimit - 1] {
            let opening = String(repeating: "[{\"a\":", count: depth / 2)
            let closing = String(repeating: "}]", count: depth / 2)
            let good = CassetteStructure.scan(Array("{\"wiretape\":1,\"interactions\":[{\"a\":\(opening)1\(closing)}]}".utf8), piece: 100)
            #expect(good.isComplete && good.problem == nil)
            let bad = CassetteStructure.scan(Array("{\"wiretape\":1,\"interactions\":[{\"a\":\(opening)1]\(closing)}]}".utf8), piece: 100)
            #expect(bad.problem == .unexpected(UInt8(ascii: "]")))
        }
    }

    /// Random values of every kind that a block of 64 bytes may or may not handle.
    private static func value(_ generator: inout SeededGenerator, depth: Int) -> String {
        switch Int.random(in: 0..<(depth > 0 ? 8 : 5), using: &generator) {
        case 0: return ["true", "null", "-1.5E+3", "0"].randomElement(using: &generator) ?? "0"
        case 1:
            let words = ["plain words, {of} [any] kind: ", "\\\"", "\\\\", "\\u00e9", "ü", "\u{1F600}", "\\n", "x"]
            let count = Int.random(in: 0..<30, using: &generator)
            return "\"" + (0..<count).map { _ in words.randomElement(using: &generator) ?? "" }.joined() + "\""
        case 2, 3: return "\"" + String(repeating: "y", count: Int.random(in: 0..<150, using: &generator)) + "\""
        case 4: return String(repeating: "[", count: 70) + String(repeating: "]", count: 70)
        case 5, 6:
            let members = (0..<Int.random(in: 0..<6, using: &generator)).map {
                "\n  \"m\($0)\": " + self.value(&generator, depth: depth - 1)
            }
            return "{" + members.joined(separator: ",") + "\n}"
        default:
            let elements = (0..<Int.random(in: 0..<6, using: &generator)).map { _ in self.value(&generator, depth: depth - 1) }
            return "[" + elements.joined(separator: ", ") + "]"
        }
    }

    /// Pieces shorter than a block are read byte by byte.
    @Test func blocksFindTheSameAsBytes() {
        var generator = SeededGenerator(seed: 21)
        for round in 0..<400 {
            let elements = (0..<3).map { "{\"id\": \($0), \"v\": \(Self.value(&generator, depth: 4))}" }
            var bytes = Array("{\"wiretape\":1,\"interactions\":[\(elements.joined(separator: ","))],\"after\":[]}".utf8)
            if round % 2 == 1 {
                let wrong = [UInt8(ascii: "\""), UInt8(ascii: "\\"), 0x0a, 0x1f, 0x80, 0xff, UInt8(ascii: "}"), UInt8(ascii: "["), 0x3b]
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = wrong.randomElement(using: &generator) ?? 0
            }
            let single = CassetteStructure.scan(bytes, piece: 63)
            #expect(round % 2 == 1 || single.isComplete)
            for piece in [bytes.count, 64, 65, 200, 1000] {
                let blocks = CassetteStructure.scan(bytes, piece: piece)
                #expect(blocks.interactions == single.interactions, "round \(round), pieces of \(piece)")
                #expect(
                    blocks.problem == single.problem && blocks.problemOffset == single.problemOffset, "round \(round), pieces of \(piece)")
                #expect(blocks.isComplete == single.isComplete && blocks.mark == single.mark && blocks.documentEnd == single.documentEnd)
            }
        }
    }
}
