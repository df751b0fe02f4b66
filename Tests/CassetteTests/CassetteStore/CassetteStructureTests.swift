@testable import CassetteStore
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
}
