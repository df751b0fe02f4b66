import Testing
@testable import Wiretape

@Suite struct RequestMachineTests {
    @Test func aRequestIsPreparedSentAndFinished() {
        var machine = RequestMachine()
        #expect(machine.resume() == .prepare)
        #expect(machine.resume() == .nothing)
        #expect(machine.send() == 1)
        #expect(machine.isCurrent(1) && machine.isWaiting)
        machine.exchangeEnded()
        #expect(!machine.isCurrent(1) && !machine.isWaiting)
        #expect(machine.finish(as: .finished) == true)
        #expect(machine.state == .finished)
        #expect(!machine.isAbandoned(1))
    }

    @Test func theFirstToFinishWins() {
        var machine = RequestMachine()
        #expect(machine.finish(as: .cancelled) == true)
        #expect(machine.finish(as: .finished) == false)
        #expect(machine.state == .cancelled)
        #expect(machine.resume() == .nothing)
        #expect(machine.suspend() == false)
    }

    @Test func aSuspendedRequestIsHeldUntilItIsResumed() {
        var machine = RequestMachine()
        #expect(machine.resume() == .prepare)
        #expect(machine.suspend() == true)
        #expect(machine.suspend() == false)
        #expect(machine.send() == nil)
        #expect(machine.resume() == .send)
        #expect(machine.send() == 1)
        #expect(machine.suspend() == true)
        #expect(!machine.isWaiting && machine.isCurrent(1))
        #expect(machine.resume() == .demand)
    }

    @Test func suspendedBeforeTheStartItIsPreparedByAResume() {
        var machine = RequestMachine()
        #expect(machine.suspend() == true)
        #expect(machine.resume() == .prepare)
    }

    @Test func anExchangeThatIsGivenUpIsKnownAndTheNextOneCounts() {
        var machine = RequestMachine()
        _ = machine.resume()
        #expect(machine.send() == 1)
        machine.exchangeAbandoned()
        #expect(machine.isAbandoned(1) && !machine.isCurrent(1))
        #expect(machine.send() == 2)
        machine.exchangeEnded()
        #expect(!machine.isAbandoned(2) && machine.isAbandoned(1))
    }

    @Test func nothingIsSentByARequestThatIsOver() {
        var machine = RequestMachine()
        _ = machine.resume()
        #expect(machine.send() == 1)
        #expect(machine.finish(as: .cancelled) == true)
        #expect(machine.isAbandoned(1))
        #expect(machine.send() == nil)
    }
}

@Suite struct RequestStateTests {
    @Test func onlyCancelledAndFinishedAreOver() {
        #expect(
            [HTTPSession.Request.State.initialized, .resumed, .suspended, .cancelled, .finished].map(\.isOver) == [
                false, false, false, true, true,
            ])
    }
}
