import Testing
@testable import CassetteStore

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
