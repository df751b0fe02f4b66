import Testing

@testable import CassetteModel

struct BoundaryGuessTests {
    @Test func theBodysOwnBoundaryIsProposed() throws {
        let named = try #require(MultipartBoundary("X"))
        let problem = BoundaryGuess.problem(Array("pre\r\n--real-1 \r\nContent-".utf8), named: named)
        #expect(problem?.kind == .boundaryWrong)
        #expect(problem?.proposal == MultipartBoundary("real-1"))
        #expect(problem?.offset == 5)
        #expect(
            problem?.sentence == "the body uses the boundary \"real-1\", but \"Content-Type\" says \"X\"; write \"boundary=real-1\" there")
    }

    @Test func withoutOneThatIsSaid() throws {
        let named = try #require(MultipartBoundary("X"))
        #expect(BoundaryGuess.problem(Array("a=b".utf8), named: named)?.kind == .noDelimiter)
        #expect(BoundaryGuess.problem([], named: named)?.sentence.hasPrefix("the body is empty") == true)
        #expect(BoundaryGuess.problem(Array("--cut".utf8), named: named)?.kind == .noDelimiter)
        #expect(BoundaryGuess.problem(Array("a=b".utf8), named: nil) == nil)
        #expect(BoundaryGuess.problem(Array("--a\n".utf8), named: nil)?.proposal == MultipartBoundary("a"))
    }
}
