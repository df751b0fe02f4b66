import CassettePlayback
import Testing

@Suite struct OrderViolationTests {
    @Test func namesBothExchanges() {
        var violation = OrderViolation(index: 1, request: "GET /b", other: 4, otherRequest: "GET /e", isRefused: false)
        #expect(violation.description == "exchange 2, \"GET /b\", answered after exchange 5, \"GET /e\"")
        violation.isRefused = true
        #expect(violation.description == "exchange 2, \"GET /b\", was requested while exchange 5, \"GET /e\", was due")
    }
}
