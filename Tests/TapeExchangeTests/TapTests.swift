import TapeBytes
import CassetteModel
import TapeExchange
import Testing

@Suite struct TapTests {
    private func tap(_ framing: BodyFraming = .none) -> Tap {
        Tap(id: 7, started: Timestamp(microseconds: 1), request: RecordedRequest(method: "GET", url: "http://h/"), framing: framing)
    }

    private func feed(_ tap: inout Tap, _ side: Tap.Side, _ text: String, at: Double = 0) -> [UInt8]? {
        Array(text.utf8).withUnsafeBytes { tap.data(side, $0, at: at) }
    }

    @Test func aWholeExchangeHasItsBodiesAndItsTimes() {
        var tap = self.tap(.length(2))
        tap.connected(ConnectionInfo(id: 3, remote: "1.2.3.4:80", isReused: false), blocked: nil, dns: 1, connect: 2)
        #expect(self.feed(&tap, .request, "hi") == nil)
        tap.requestEnded(at: 5, sendStarted: 4)
        tap.interim(InterimResponse(version: .http11, status: 103, reason: [], headers: HeaderFields(), at: 6))
        tap.responseBegan(RecordedResponse(status: 200), framing: .chunked, at: 10)
        tap.chunk(.response, size: 5, line: nil, at: 10)
        #expect(self.feed(&tap, .response, "hello", at: 10) == nil)
        tap.lastChunk(.response, line: nil)
        tap.trailers(.response, HeaderFields(["T: 1"]))
        tap.responseEnded()
        let exchange = tap.ended(.complete, at: 12)
        #expect(exchange.interaction.id == 7)
        #expect(exchange.interaction.outcome == .complete)
        #expect(exchange.requestBody?.bytes == Array("hi".utf8))
        #expect(exchange.requestBody?.isComplete == true)
        #expect(exchange.responseBody?.bytes == Array("hello".utf8))
        #expect(exchange.responseBody?.isComplete == true)
        #expect(exchange.interaction.response?.trailers?.lines == ["T: 1"])
        #expect(exchange.interaction.interim.map(\.status) == [103])
        let timing = exchange.interaction.timing
        #expect((timing.dns, timing.connect, timing.send) == (1, 2, 1))
        #expect((timing.wait, timing.receive, timing.total) == (5, 2, 12))
    }

    @Test func absentEmptyAndCutAreThree() {
        var none = self.tap(.none)
        none.requestEnded(at: 0, sendStarted: 0)
        #expect(none.ended(.complete, at: 0).requestBody == nil)
        var empty = self.tap(.length(0))
        empty.requestEnded(at: 0, sendStarted: 0)
        let emptyBody = empty.ended(.complete, at: 0).requestBody
        #expect(emptyBody?.size == 0)
        #expect(emptyBody?.isComplete == true)
        var cut = self.tap(.length(9))
        _ = self.feed(&cut, .request, "part")
        let exchange = cut.ended(.cut(Cut(by: .client, reason: "left")), at: 1)
        #expect(exchange.requestBody?.isComplete == false)
        #expect(exchange.requestBody?.size == 4)
    }

    @Test func anExchangeThatFailedHasNoResponse() {
        var tap = self.tap()
        let exchange = tap.ended(.failed(Failure(kind: .refused, message: "no")), at: 3)
        #expect(exchange.interaction.response == nil)
        #expect(exchange.responseBody == nil)
        #expect(exchange.interaction.timing.receive == nil)
        #expect(exchange.interaction.timing.total == 3)
    }

    @Test func aLargeBodyComesOutInBlocks() {
        var tap = self.tap()
        tap.responseBegan(RecordedResponse(status: 200), framing: .untilClose, at: 0)
        let text = String(repeating: "x", count: BodyTap.blockSize)
        #expect(self.feed(&tap, .response, text) == nil)
        #expect(self.feed(&tap, .response, "y")?.isEmpty == false)
        tap.responseEnded()
        #expect(tap.ended(.complete, at: 1).responseBody?.isSpilled == true)
    }

    @Test func aClockThatStandsStillGivesNoNegativeTimes() {
        var tap = self.tap()
        tap.requestEnded(at: 3, sendStarted: 5)
        tap.responseBegan(RecordedResponse(status: 200), framing: .none, at: 1)
        tap.responseEnded()
        let timing = tap.ended(.complete, at: 0).interaction.timing
        #expect((timing.send, timing.wait, timing.receive) == (0, 0, 0))
    }

    @Test func aTunnelLeavesItsCounts() {
        var tap = self.tap()
        tap.tunnelled(TunnelCounts(sent: 1, received: 2))
        #expect(tap.ended(.complete, at: 0).interaction.tunnel == TunnelCounts(sent: 1, received: 2))
    }

    @Test func aConnectionComesWithWhatItsHandshakeTook() {
        var tap = self.tap()
        let details = TLSDetails(version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256", sni: "h")
        tap.connected(
            ConnectionInfo(id: 1, remote: "1.2.3.4:443", isReused: false, tls: details), blocked: nil, dns: nil, connect: 2, tls: 3)
        let exchange = tap.ended(.complete, at: 9)
        #expect(exchange.interaction.connection?.tls == details)
        #expect(exchange.interaction.timing.tls == 3)
        #expect(exchange.interaction.timing.connect == 2)
    }

    @Test func aSecondConnectionTakesThePlaceOfTheFirst() {
        var tap = self.tap()
        tap.connected(ConnectionInfo(id: 1, remote: "r", isReused: false), blocked: nil, dns: 1, connect: 2, tls: 3)
        tap.connected(ConnectionInfo(id: 2, remote: "r", isReused: true), blocked: nil, dns: nil, connect: nil)
        let interaction = tap.ended(.complete, at: 9).interaction
        #expect(interaction.connection?.id == 2)
        #expect((interaction.timing.dns, interaction.timing.connect, interaction.timing.tls) == (nil, nil, nil))
    }
}
