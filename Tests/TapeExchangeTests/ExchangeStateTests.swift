import TapeCore
import TapeExchange
import Testing

@Suite struct ExchangeStateTests {
    private let reset = Failure(kind: .reset, message: "origin reset the connection")

    @Test func aPlainExchangeKeepsBothConnections() {
        var state = ExchangeState(clientPersists: true, isIdempotent: true)
        state.upstreamTaken(isReused: false)
        state.requestRead()
        state.responseBegan(upstreamPersists: true)
        #expect(state.responseEnded() == .finish(client: .keep, upstream: .keep))
    }

    @Test func anOriginThatClosesIsNotPooled() {
        var state = ExchangeState(clientPersists: true, isIdempotent: true)
        state.requestRead()
        state.responseBegan(upstreamPersists: false)
        #expect(state.responseEnded() == .finish(client: .keep, upstream: .close))
    }

    @Test func anEarlyAnswerLingersOverTheUnreadRequest() {
        var state = ExchangeState(clientPersists: true, isIdempotent: false)
        state.requestBodySent()
        state.responseBegan(upstreamPersists: true)
        #expect(state.responseEnded() == .finish(client: .linger, upstream: .close))
    }

    @Test func aStaleConnectionIsReplacedOnceForAnIdempotentRequest() {
        var state = ExchangeState(clientPersists: true, isIdempotent: true)
        state.upstreamTaken(isReused: true)
        state.requestRead()
        #expect(state.upstreamFailed(self.reset, sawResponse: false) == .redial)
        state.upstreamTaken(isReused: false)
        #expect(state.upstreamFailed(self.reset, sawResponse: false) == .answer(self.reset, client: .keep))
    }

    @Test func aRequestWhoseBodyWentOutIsNotSentAgain() {
        var state = ExchangeState(clientPersists: true, isIdempotent: true)
        state.upstreamTaken(isReused: true)
        state.requestBodySent()
        #expect(state.upstreamFailed(self.reset, sawResponse: false) == .answer(self.reset, client: .linger))
    }

    @Test func aPostIsNotSentAgain() {
        var state = ExchangeState(clientPersists: true, isIdempotent: false)
        state.upstreamTaken(isReused: true)
        state.requestRead()
        #expect(state.upstreamFailed(self.reset, sawResponse: false) == .answer(self.reset, client: .keep))
    }

    @Test func anInterimResponseForbidsSendingAgain() {
        var state = ExchangeState(clientPersists: true, isIdempotent: true)
        state.upstreamTaken(isReused: true)
        state.requestRead()
        #expect(state.upstreamFailed(self.reset, sawResponse: true) == .answer(self.reset, client: .keep))
    }

    @Test func aRefusedDialIsNotTriedAgain() {
        var state = ExchangeState(clientPersists: false, isIdempotent: true)
        state.requestRead()
        let refused = Failure(kind: .refused, message: "refused")
        #expect(state.upstreamFailed(refused, sawResponse: false) == .answer(refused, client: .linger))
    }

    @Test func aFailureBehindTheHeadCutsTheClient() {
        var state = ExchangeState(clientPersists: true, isIdempotent: true)
        state.requestRead()
        state.responseBegan(upstreamPersists: true)
        #expect(state.upstreamFailed(self.reset, sawResponse: true) == .cut(Cut(by: .origin, reason: self.reset.message)))
        #expect(state.responseEnded() == .ignore)
    }

    @Test func aClientThatLeavesCancelsOnce() {
        var state = ExchangeState(clientPersists: true, isIdempotent: true)
        state.requestRead()
        #expect(state.clientLeft("closed") == .cancel(Cut(by: .client, reason: "closed")))
        #expect(state.upstreamFailed(self.reset, sawResponse: false) == .ignore)
        #expect(state.clientLeft("closed") == .ignore)
    }

    @Test func aStopCutsInTheRecordersName() {
        var state = ExchangeState(clientPersists: true, isIdempotent: true)
        state.responseBegan(upstreamPersists: true)
        #expect(state.recorderStopped("stopped") == .cancel(Cut(by: .recorder, reason: "stopped")))
        #expect(state.clientLeft("closed") == .ignore)
    }

    @Test func aMalformedRestOfARequestIsAnsweredOrCut() {
        var early = ExchangeState(clientPersists: true, isIdempotent: true)
        #expect(early.requestMalformed("bad chunk") == .answer(Failure(kind: .malformed, message: "bad chunk"), client: .linger))
        var late = ExchangeState(clientPersists: true, isIdempotent: true)
        late.responseBegan(upstreamPersists: true)
        #expect(late.requestMalformed("bad chunk") == .cut(Cut(by: .client, reason: "bad chunk")))
    }
}
