import Testing

@testable import CassetteModel
@testable import CassetteTools

@Suite struct ConnectionNumbersTests {
    @Test func connectionsOfOneCassetteStayTogether() {
        var numbers = ConnectionNumbers()
        let connection = { ConnectionInfo(id: $0, remote: "a:1", isReused: false) }
        #expect(numbers.number(of: connection(7), input: 0) == 1)
        #expect(numbers.number(of: connection(7), input: 1) == 2)
        #expect(numbers.number(of: connection(7), input: 0) == 1)
        #expect(numbers.number(of: connection(1), input: 1) == 3)
    }
}
