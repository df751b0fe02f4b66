import TapeBytes
import CassetteModel
import TapeExchange
import Testing

@Suite struct TapedExchangeCodingTests {
    private let coded = HeaderFields(["content-encoding: gzip"])

    private func isCoded(
        request: HeaderFields = HeaderFields(), requestBody: Bool = false, response: HeaderFields? = nil, responseBody: Bool = false
    ) -> Bool {
        let body = TapedBody(size: 1, isComplete: true, bytes: [1])
        var interaction = Interaction(
            id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/", headers: request))
        interaction.response = response.map { RecordedResponse(status: 200, headers: $0) }
        return TapedExchange(
            interaction: interaction, requestBody: requestBody ? body : nil, responseBody: responseBody ? body : nil
        ).isCoded
    }

    @Test func aBodyWithACodingOnEitherSideCounts() {
        #expect(self.isCoded(request: self.coded, requestBody: true))
        #expect(self.isCoded(response: self.coded, responseBody: true))
    }

    @Test func aFieldWithoutABodyDoesNot() {
        #expect(!self.isCoded(request: self.coded))
        #expect(!self.isCoded(response: self.coded))
        #expect(!self.isCoded(requestBody: true, response: HeaderFields(["X: y"]), responseBody: true))
        #expect(!self.isCoded())
    }
}
