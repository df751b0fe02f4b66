import CassetteModel
import TapeExchange
import Testing
import TapeTestSupport

@Suite struct ExchangeStateTests {
    private let reset = Failure(kind: .reset, message: "origin reset the connection")
    private static let limits = ExchangeState.Limits(clientStall: 60_000, originSilence: 300_000, connect: 10_000, streamSilence: 3_600_000)

    /// A GET under way, or a POST whose body has not been read.
    private func state(
        repeatable: Bool = true, isRead: Bool = true, isBuffered: Bool = false, expects: Bool = false, sentContinue: Bool = false
    ) -> ExchangeState {
        ExchangeState(
            ExchangeState.Request(
                isRepeatable: repeatable, isRead: isRead, isBuffered: isBuffered, expectsContinue: expects, sentContinue: sentContinue),
            limits: Self.limits)
    }

    private func sent(reused: Bool = false, repeatable: Bool = true) -> ExchangeState {
        var state = self.state(repeatable: repeatable)
        state.upstreamTaken(isReused: reused, at: 0)
        #expect(state.requestSent(at: 0) == .wait)
        return state
    }

    private func uploading(expects: Bool = false) -> ExchangeState {
        var state = self.state(repeatable: false, isRead: false, expects: expects)
        state.upstreamTaken(isReused: false, at: 0)
        return state
    }

    // MARK: Silence

    @Test(arguments: ["text/event-stream", "Text/Event-Stream; charset=utf-8", "application/grpc", "application/grpc+proto"])
    func eventStreamsMayBeSilentForLonger(type: String) {
        var state = self.sent()
        state.originSent(at: 10)
        state.responseBegan()
        #expect(state.originDeadline == 300_010)
        state.headCame(HeaderFields(["Content-Type: \(type)"]))
        #expect(state.originDeadline == 3_600_010)
        #expect(state.deadlinePassed(origin: "h", at: 300_010) == .wait)
        // A client that does not read exceeds its deadline anyway.
        state.clientWritabilityChanged(false, at: 20)
        #expect(state.clientDeadline == 60_020)
    }

    @Test(arguments: ["text/events", "text/html", "application/json", ""]) func otherAnswersMayNot(type: String) {
        var state = self.sent()
        state.headCame(HeaderFields(["content-type: \(type)"]))
        #expect(state.originDeadline == 300_000)
    }

    @Test func aCallMayWaitForItsNextMessage() {
        var state = self.uploading()
        state.headCame(HeaderFields(["content-type: application/grpc"]))
        #expect(state.clientDeadline == 3_600_000)
        guard case .cancel(let cut) = state.deadlinePassed(origin: "h", at: 3_600_000) else {
            Issue.record("nothing happened")
            return
        }
        #expect(cut.reason == "client sent nothing for 3600 s")
    }

    // MARK: Ends

    @Test func aWholeAnswerFinishes() {
        var state = self.sent()
        state.responseBegan()
        #expect(state.responseEnded(readsOn: true, at: 1) == .finish)
        #expect(state.isOver && state.clientDeadline == nil && state.originDeadline == nil)
        #expect(state.responseEnded(readsOn: true, at: 2) == .ignore)
    }

    @Test func anEarlyAnswerWaitsForTheRestOfTheRequest() {
        var state = self.uploading()
        state.requestBodySent(at: 1)
        state.responseBegan()
        #expect(state.responseEnded(readsOn: true, at: 2) == .wait)
        #expect(state.readsClient)
        #expect(state.clientDeadline == 60_002)
        state.requestRead()
        #expect(state.requestSent(at: 3) == .finish)
    }

    @Test(arguments: 0..<6) func anEarlyAnswerIsCompleteHoweverTheRequestEnds(way: Int) {
        var state = self.uploading()
        state.requestBodySent(at: 1)
        state.responseBegan()
        #expect(state.responseEnded(readsOn: true, at: 2) == .wait)
        switch way {
        case 0: #expect(state.upstreamFailed(self.reset) == .finish)
        case 1: #expect(state.clientLeft("closed") == .finish)
        case 2: #expect(state.recorderStopped("stopped") == .finish)
        case 3: #expect(state.requestMalformed("bad chunk") == .finish)
        case 4: #expect(state.deadlinePassed(origin: "o", at: 60_002) == .finish)
        default:
            state.originWritabilityChanged(false, at: 3)
            #expect(state.deadlinePassed(origin: "o", at: 300_003) == .finish)
        }
    }

    @Test func anOriginThatClosesAfterAnEarlyAnswerWantsNoMore() {
        var state = self.uploading()
        state.requestBodySent(at: 1)
        state.responseBegan()
        #expect(state.responseEnded(readsOn: false, at: 2) == .finish)
    }

    @Test func aClientThatWasNotAskedForItsBodyHasNothingMoreToSend() {
        var state = self.uploading(expects: true)
        state.responseBegan()
        #expect(state.responseEnded(readsOn: true, at: 2) == .finish)
        var asked = self.uploading(expects: true)
        #expect(asked.interim(100) == true)
        asked.responseBegan()
        #expect(asked.responseEnded(readsOn: true, at: 2) == .wait)
        var began = self.uploading(expects: true)
        began.requestBodySent(at: 1)
        began.responseBegan()
        #expect(began.responseEnded(readsOn: true, at: 2) == .wait)
    }

    @Test func aStaleConnectionIsReplacedOnceForARequestThatCanBeSentAgain() {
        var state = self.sent(reused: true)
        #expect(state.upstreamFailed(self.reset) == .redial)
        state.dialing(at: 1)
        state.upstreamTaken(isReused: false, at: 2)
        #expect(state.requestSent(at: 2) == .wait)
        #expect(state.upstreamFailed(self.reset) == .answer(self.reset))
        var post = self.sent(reused: true, repeatable: false)
        #expect(post.upstreamFailed(self.reset) == .answer(self.reset))
        var fresh = self.sent()
        #expect(fresh.upstreamFailed(self.reset) == .answer(self.reset))
        let timeout = Failure(kind: .timeout, message: "late")
        var late = self.sent(reused: true)
        #expect(late.upstreamFailed(timeout) == .answer(timeout))
    }

    @Test func anUnsentRequestOfAnyKindIsSentAgain() {
        var state = self.uploading()
        #expect(state.upstreamFailed(self.reset, isUnprocessed: true) == .redial)
        var begun = self.uploading()
        begun.requestBodySent(at: 1)
        #expect(begun.upstreamFailed(self.reset, isUnprocessed: true) == .answer(self.reset))
    }

    @Test func anythingTheOriginSaidForbidsSendingAgain() {
        var state = self.sent(reused: true)
        state.originSent(at: 1)
        #expect(state.upstreamFailed(self.reset) == .answer(self.reset))
    }

    @Test func aFailureInsideTheAnswerCutsIt() {
        var state = self.sent()
        state.responseBegan()
        #expect(state.upstreamFailed(self.reset) == .cut(Cut(by: .origin, kind: .reset, reason: self.reset.message)))
        #expect(state.upstreamFailed(self.reset) == .ignore)
    }

    @Test func aClientThatLeavesCancelsOnce() {
        var state = self.sent()
        #expect(state.clientLeft("closed") == .cancel(Cut(by: .client, reason: "closed")))
        #expect(state.upstreamFailed(self.reset) == .ignore)
        #expect(state.clientLeft("closed") == .ignore)
        #expect(state.recorderStopped("stopped") == .ignore)
    }

    @Test func aStopCutsInTheRecordersName() {
        var state = self.sent()
        state.responseBegan()
        #expect(state.recorderStopped("stopped") == .cancel(Cut(by: .recorder, reason: "stopped")))
    }

    @Test func aMalformedRestOfARequestIsAnsweredOrCut() {
        var early = self.uploading()
        #expect(early.requestMalformed("bad chunk") == .answer(Failure(kind: .malformed, message: "bad chunk")))
        #expect(early.requestMalformed("bad chunk") == .ignore)
        var late = self.uploading()
        late.responseBegan()
        #expect(late.requestMalformed("bad chunk") == .cut(Cut(by: .client, reason: "bad chunk")))
    }

    // MARK: Continue

    @Test func aClientThatWasAskedIsNotAskedAgain() {
        var state = self.state(isRead: false, expects: true)
        for status in [103, 100, 100] { #expect(state.interim(status) == true) }
        #expect(state.sentContinue)
        var asked = self.state(isRead: false, expects: true, sentContinue: true)
        #expect(asked.interim(100) == false)
        #expect(asked.interim(102) == true)
    }

    // MARK: Reading

    @Test func theBodyIsReadWhileTheOriginTakesIt() {
        var state = self.state(isRead: false)
        #expect(!state.readsClient)
        state.dialing(at: 0)
        #expect(!state.readsClient)
        state.upstreamTaken(isReused: false, at: 1)
        #expect(state.readsClient)
        state.originWritabilityChanged(false, at: 2)
        #expect(!state.readsClient && state.readsOrigin)
        state.originWritabilityChanged(true, at: 3)
        state.recorderChanged(isFull: true, at: 4)
        #expect(!state.readsClient && !state.readsOrigin)
        state.recorderChanged(isFull: false, at: 5)
        #expect(state.readsClient && state.readsOrigin)
        state.requestRead()
        #expect(!state.readsClient && state.takesRequest)
        #expect(state.requestSent(at: 6) == .wait)
        #expect(!state.takesRequest)
    }

    @Test func aBufferedBodyIsTakenAndTheClientLeftAlone() {
        var state = self.state(isBuffered: true)
        state.upstreamTaken(isReused: false, at: 0)
        #expect(state.takesRequest && !state.readsClient)
    }

    @Test func afterTheBufferTheRestComesFromTheClient() {
        var state = self.state(isRead: false, isBuffered: true)
        state.upstreamTaken(isReused: false, at: 0)
        #expect(state.takesRequest && !state.readsClient)
        state.bufferSent()
        #expect(state.takesRequest && state.readsClient)
    }

    @Test func theClientsDeadlineEndsACallInAnyState() {
        var limits = Self.limits
        limits.call = 2000
        var state = ExchangeState(ExchangeState.Request(isRepeatable: false, isRead: false), limits: limits)
        state.upstreamTaken(isReused: false, at: 0)
        #expect(state.originDeadline == 2000)
        #expect(state.deadlinePassed(origin: "o", at: 1999) == .wait)
        guard case .answer(let failure) = state.deadlinePassed(origin: "o", at: 2000) else {
            Issue.record("not answered")
            return
        }
        #expect(failure.kind == .timeout && state.originDeadline == nil)
    }

    @Test func theOriginIsReadWhileTheClientTakesTheAnswer() {
        var state = self.sent()
        state.clientWritabilityChanged(false, at: 1)
        #expect(!state.readsOrigin)
        state.clientWritabilityChanged(true, at: 2)
        #expect(state.readsOrigin)
    }

    // MARK: Deadlines

    @Test func aConnectionHasItsOwnTime() {
        var state = self.state()
        #expect(state.originDeadline == nil)
        state.dialing(at: 100)
        #expect(state.originDeadline == 10_100)
        let failure = Failure(kind: .timeout, message: "no connection to \"o\" within 10 s: is the origin up?")
        #expect(state.deadlinePassed(origin: "o", at: 10_099) == .wait)
        #expect(state.deadlinePassed(origin: "o", at: 10_100) == .answer(failure))
    }

    @Test func theOriginsTimeRunsFromTheRequestsEndAndFromEachByte() {
        var state = self.sent()
        #expect(state.originDeadline == 300_000)
        state.originSent(at: 1000)
        #expect(state.originDeadline == 301_000)
        state.responseBegan()
        let reason = "\"o\" sent nothing for 300 s."
        #expect(state.deadlinePassed(origin: "o", at: 301_000) == .cut(Cut(by: .origin, reason: reason)))
    }

    @Test func theClientsTimeRunsWhileItsBodyIsExpected() {
        var state = self.uploading()
        #expect(state.clientDeadline == 60_000 && state.originDeadline == nil)
        state.requestBodySent(at: 30_000)
        #expect(state.clientDeadline == 90_000)
        let cut = Cut(by: .client, reason: "client sent nothing for 60 s")
        #expect(state.deadlinePassed(origin: "o", at: 90_000) == .cancel(cut))
    }

    @Test func aClientThatTakesNothingStalls() {
        var state = self.sent()
        state.responseBegan()
        state.clientWritabilityChanged(false, at: 1000)
        #expect(state.clientDeadline == 61_000 && state.originDeadline == nil)
        state.clientWritabilityChanged(false, at: 2000)
        #expect(state.clientDeadline == 61_000, "nothing has changed")
        let cut = Cut(by: .client, reason: "client read nothing for 60 s")
        #expect(state.deadlinePassed(origin: "o", at: 61_000) == .cancel(cut))
    }

    /// A stall that has ended says nothing about the origin, which may be silent longer than a client.
    @Test func aClientThatReadsAgainLeavesTheOriginItsOwnTime() {
        var state = self.sent()
        state.originSent(at: 0)
        state.responseBegan()
        state.clientWritabilityChanged(false, at: 1000)
        state.clientWritabilityChanged(true, at: 2000)
        #expect(state.clientDeadline == nil)
        #expect(state.originDeadline == 302_000)
        #expect(state.deadlinePassed(origin: "o", at: 62_000) == .wait)
        #expect(state.deadlinePassed(origin: "o", at: 200_000) == .wait)
    }

    @Test func anOriginThatTakesNothingOfTheRequestIsNamed() {
        var state = self.uploading()
        state.requestBodySent(at: 10)
        state.originWritabilityChanged(false, at: 20)
        #expect(state.clientDeadline == nil && state.originDeadline == 300_020)
        let failure = Failure(kind: .timeout, message: "\"o\" read nothing of the request for 300 s.")
        #expect(state.deadlinePassed(origin: "o", at: 300_020) == .answer(failure))
    }

    @Test func aFullRecorderIsNobodysTimeout() {
        var state = self.uploading()
        state.recorderChanged(isFull: true, at: 1000)
        #expect(state.clientDeadline == nil && state.originDeadline == nil)
        state.recorderChanged(isFull: false, at: 500_000)
        #expect(state.clientDeadline == 560_000)
    }

    @Test func theOriginsTimeRestartsAfterAFullRecorder() {
        var state = self.sent()
        state.recorderChanged(isFull: true, at: 1000)
        state.recorderChanged(isFull: false, at: 2000)
        state.recorderChanged(isFull: false, at: 3000)
        #expect(state.originDeadline == 302_000)
    }

    @Test func repeatedReportMovesNoDeadline() {
        var state = self.sent()
        state.originWritabilityChanged(true, at: 1000)
        state.clientWritabilityChanged(true, at: 1000)
        #expect(state.originDeadline == 300_000)
    }

    @Test func anOriginThatTakesAgainLeavesTheClientItsTime() {
        var state = self.uploading()
        state.originWritabilityChanged(false, at: 1000)
        state.originWritabilityChanged(true, at: 59_000)
        #expect(state.clientDeadline == 119_000)
    }

    @Test func eachPartOfTheRequestRestartsTheOriginsTime() {
        var state = self.uploading()
        state.originWritabilityChanged(false, at: 1)
        state.requestBodySent(at: 1000)
        #expect(state.originDeadline == 301_000)
        state.requestRead()
        #expect(state.requestSent(at: 2000) == .wait)
        #expect(state.originDeadline == 302_000)
        var early = self.uploading()
        early.requestBodySent(at: 1)
        early.responseBegan()
        early.originWritabilityChanged(false, at: 2)
        #expect(early.responseEnded(readsOn: true, at: 5000) == .wait)
        #expect(early.originDeadline == 305_000)
    }

    @Test func theConnectionsTimeRunsFromItsBeginning() {
        var state = self.state(repeatable: false, isRead: false)
        state.dialing(at: 1000)
        state.upstreamTaken(isReused: false, at: 4000)
        #expect(state.clientDeadline == 64_000)
        #expect(state.requestSent(at: 4000) == .wait)
        var get = self.state()
        get.dialing(at: 1000)
        get.upstreamTaken(isReused: false, at: 4000)
        get.responseBegan()
        #expect(get.originDeadline == 304_000)
    }

    /// It is another connection, and accepts the data that the first did not.
    @Test func aConnectionThatIsMadeAgainStartsAnew() {
        var state = self.state(repeatable: false, isRead: false)
        state.upstreamTaken(isReused: true, at: 0)
        state.originWritabilityChanged(false, at: 1)
        #expect(state.upstreamFailed(self.reset, isUnprocessed: true) == .redial)
        #expect(state.originDeadline == nil && !state.takesRequest)
        state.dialing(at: 10)
        state.upstreamTaken(isReused: false, at: 20)
        #expect(state.readsClient)
        var get = self.sent(reused: true)
        #expect(get.upstreamFailed(self.reset) == .redial)
        get.dialing(at: 10)
        get.upstreamTaken(isReused: false, at: 20)
        #expect(get.originDeadline == nil, "it has not been sent again")
    }

    @Test func aConnectionThatCannotBeMadeAgainIsNotTriedForEver() {
        var state = self.sent(reused: true)
        #expect(state.upstreamFailed(self.reset) == .redial)
        state.dialing(at: 10)
        #expect(state.upstreamFailed(self.reset) == .answer(self.reset))
    }

    @Test func anExchangeThatGoesOnAsSomethingElseIsOver() {
        var state = self.sent()
        #expect(!state.responseIsWhole)
        state.ended()
        #expect(state.isOver)
        var other = self.uploading()
        other.requestBodySent(at: 1)
        other.responseBegan()
        #expect(other.responseEnded(readsOn: true, at: 2) == .wait)
        #expect(other.responseIsWhole)
    }

    /// In any order of events, exactly one of them ends the exchange, and nothing is read or awaited after it.
    @Test func anyOrderOfEventsEndsOnce() {
        for seed in 0..<2000 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var state = self.state(repeatable: generator.next() % 2 == 0, isRead: generator.next() % 2 == 0)
            var ends = 0
            for step in 0..<40 {
                let at = Double(step) * 1000
                let action: ExchangeState.Action
                switch generator.next() % 15 {
                case 0: action = state.clientLeft("closed")
                case 1: action = state.upstreamFailed(self.reset, isUnprocessed: generator.next() % 2 == 0)
                case 2: action = state.recorderStopped("stopped")
                case 3: action = state.requestMalformed("bad")
                case 4: action = state.responseEnded(readsOn: generator.next() % 2 == 0, at: at)
                case 5: action = state.requestSent(at: at)
                case 6: action = state.deadlinePassed(origin: "o", at: at * 10)
                default:
                    action = .wait
                    switch generator.next() % 8 {
                    case 0: state.responseBegan()
                    case 1: state.originSent(at: at)
                    case 2: state.requestBodySent(at: at)
                    case 3: state.clientWritabilityChanged(generator.next() % 2 == 0, at: at)
                    case 4: state.originWritabilityChanged(generator.next() % 2 == 0, at: at)
                    case 5: state.recorderChanged(isFull: generator.next() % 2 == 0, at: at)
                    case 6: state.upstreamTaken(isReused: generator.next() % 2 == 0, at: at)
                    default: state.dialing(at: at)
                    }
                }
                switch action {
                case .finish, .answer, .cut, .cancel: ends += 1
                case .wait, .redial, .ignore: break
                }
                #expect(state.isOver == (ends > 0), "seed \(seed)")
                guard state.isOver else { continue }
                #expect(!state.readsClient && !state.readsOrigin && !state.takesRequest, "seed \(seed)")
                #expect(state.clientDeadline == nil && state.originDeadline == nil, "seed \(seed)")
            }
            #expect(ends <= 1, "seed \(seed)")
        }
    }
}
