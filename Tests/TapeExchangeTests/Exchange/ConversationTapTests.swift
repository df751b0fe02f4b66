import CassetteModel
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing

/// A tap's record of the order of messages in a gRPC call.
@Suite struct ConversationTapTests {
    private func tap(_ type: String = "application/grpc", version: HTTPVersion = .http2) -> Tap {
        Tap(
            id: 1, started: Timestamp(microseconds: 1),
            request: RecordedRequest(
                method: "POST", url: "http://h/a.B/C", version: version, headers: HeaderFields(["content-type: \(type)"])),
            framing: .untilClose)
    }

    private func feed(_ tap: inout Tap, _ side: Tap.Side, _ bytes: [UInt8]) {
        _ = bytes.withUnsafeBytes { tap.data(side, $0, at: 0) }
    }

    private func message(_ text: String) -> [UInt8] { [0, 0, 0, 0, UInt8(text.utf8.count)] + Array(text.utf8) }

    private let head = RecordedResponse(status: 200, version: .http2, headers: HeaderFields(["content-type: application/grpc"]))

    @Test func eachPartOfTheAnswerHasTheMessagesThatCameBefore() {
        var tap = self.tap()
        tap.responseBegan(self.head, framing: .untilClose, at: 0)
        self.feed(&tap, .request, self.message("ab") + [0, 0])
        // A message counts from its beginning, whatever arrives before its end.
        self.feed(&tap, .response, Array(self.message("one").dropLast()))
        self.feed(&tap, .request, [0, 0, 1, 7])
        self.feed(&tap, .response, Array("e".utf8) + self.message("two") + self.message("three"))
        tap.requestEnded(at: 1, sendStarted: 0)
        self.feed(&tap, .response, self.message("four"))
        tap.responseEnded()
        let exchange = tap.ended(.complete, at: 2)
        #expect(exchange.interaction.response?.after == 0 && exchange.interaction.response?.endAfter == nil)
        #expect((0..<4).map { exchange.responseBody?.marks?[$0] } == [1, 2, 2, nil])
    }

    @Test func anAnswerAfterTheEndHasNoMarks() {
        var tap = self.tap()
        self.feed(&tap, .request, self.message("ab"))
        tap.requestEnded(at: 1, sendStarted: 0)
        tap.responseBegan(self.head, framing: .untilClose, at: 0)
        self.feed(&tap, .response, self.message("one"))
        tap.responseEnded()
        let exchange = tap.ended(.complete, at: 2)
        #expect(exchange.interaction.response?.after == nil && exchange.interaction.response?.endAfter == nil)
        #expect(exchange.responseBody != nil && exchange.responseBody?.marks == nil)
    }

    @Test func anEndBeforeTheClientsIsNotedUnlessTheClientMadeIt() {
        func end(_ outcome: Outcome, isWhole: Bool) -> Int? {
            var tap = self.tap()
            self.feed(&tap, .request, self.message("ab"))
            tap.responseBegan(self.head, framing: .untilClose, at: 0)
            if isWhole { tap.responseEnded() }
            return tap.ended(outcome, at: 2).interaction.response?.endAfter
        }
        #expect(end(.complete, isWhole: true) == 1)
        #expect(end(.cut(Cut(by: .origin, reason: "reset")), isWhole: false) == 1)
        #expect(end(.cut(Cut(by: .client, reason: "reset")), isWhole: false) == nil)
    }

    @Test(arguments: [("application/grpc-web", HTTPVersion.http2), ("application/grpc", .http11)])
    func nothingElseIsACall(type: String, version: HTTPVersion) {
        var tap = self.tap(type, version: version)
        tap.responseBegan(self.head, framing: .untilClose, at: 0)
        self.feed(&tap, .response, self.message("one"))
        tap.responseEnded()
        let exchange = tap.ended(.complete, at: 2)
        #expect(exchange.interaction.response?.after == nil && exchange.responseBody?.marks == nil)
    }
}
