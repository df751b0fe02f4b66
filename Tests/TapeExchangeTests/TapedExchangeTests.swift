import TapeBytes
import CassetteModel
import TapeExchange
import Testing

@Suite struct TapedExchangeTests {
    @Test func itWeighsWhatItsBodiesHold() {
        let interaction = Interaction(id: 1, started: Timestamp(microseconds: 0), request: RecordedRequest(method: "GET", url: "http://h/"))
        let body = TapedBody(size: 1000, isComplete: true, bytes: [1, 2, 3], isSpilled: true)
        let empty = TapedExchange(interaction: interaction)
        #expect(TapedExchange(interaction: interaction, requestBody: body, responseBody: body).weight == empty.weight + 6)
        #expect(empty.weight > 0)
    }
}
