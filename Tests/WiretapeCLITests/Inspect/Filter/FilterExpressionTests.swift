import Testing

@testable import CassetteTools
@testable import WiretapeCLI

@Suite struct FilterExpressionTests {
    @Test func aTreeHoldsAnyDepth() {
        var expression = FilterExpression.status(200)
        for _ in 0..<100 { expression = .not(expression) }
        var depth = 0
        while case .not(let inner) = expression {
            expression = inner
            depth += 1
        }
        #expect(depth == 100)
    }
}
