import CassetteModel
import TapeExchange
import Testing

@Suite struct GRPCCallTests {
    private func call(_ lines: String..., version: HTTPVersion = .http2) -> GRPCCall? {
        GRPCCall(RequestHead(method: "POST", target: "/a.B/C", version: version, fields: HeaderFields(lines)))
    }

    @Test func itIsOneByItsTypeInHTTP2() {
        #expect(self.call("content-type: application/grpc")?.contentType == "application/grpc")
        #expect(self.call("content-type: application/grpc+proto;x=y")?.contentType == "application/grpc+proto;x=y")
        #expect(self.call("content-type: application/grpc-web") == nil && self.call("content-type: application/json") == nil)
        #expect(self.call() == nil && self.call("content-type: application/grpc", version: .http11) == nil)
    }

    @Test(arguments: [
        ("1H", 3_600_000), ("2M", 120_000), ("3S", 3000), ("20100m", 20100), ("5u", 0.005), ("7n", 0.000_007),
        ("99999999S", 99_999_999_000),
    ])
    func aTimeoutHasDigitsAndAUnit(text: String, milliseconds: Double) {
        #expect(GRPCCall.milliseconds(Array(text.utf8)[...]) == milliseconds)
    }

    @Test func aTimeoutBeyondAMonthIsIgnored() {
        #expect(self.call("content-type: application/grpc", "grpc-timeout: 99999999H")?.timeout == nil)
        #expect(self.call("content-type: application/grpc", "grpc-timeout: 250m")?.timeout == 250)
    }

    @Test(arguments: ["", "S", "1", "1s", "123456789S", "-1S", "1.5S", " 1S", "1 S"])
    func invalidTimeoutIsNil(text: String) {
        #expect(GRPCCall.milliseconds(Array(text.utf8)[...]) == nil)
    }
}
