import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct RefreshStateTests {
    private static let ids = (0..<10).map { _ in UUID() }
    private let ids = Self.ids

    private func state(_ credential: String? = "old", window: HTTPSession.RefreshWindow? = HTTPSession.RefreshWindow()) -> RefreshState<
        String
    > {
        RefreshState(credential: credential, window: window)
    }

    private func text(_ answer: RefreshState<String>.Answer) -> String {
        switch answer {
        case .use(let credential): "use \(credential)"
        case .wait: "wait"
        case .refresh(let credential, let number): "refresh \(credential) as \(number)"
        case .fail(let error): "fail \(error.code)"
        }
    }

    @Test func aGoodCredentialIsUsed() {
        var state = self.state()
        #expect(self.text(state.wants(self.ids[0], requiresRefresh: false, of: 0, at: .zero)) == "use old")
    }

    @Test func withoutACredentialNothingGoesOut() {
        var state = self.state(nil)
        #expect(self.text(state.wants(self.ids[0], requiresRefresh: false, of: 0, at: .zero)) == "fail missingCredential")
        #expect(
            self.text(state.wasRefused(self.ids[9], waiter: self.ids[0], isCurrent: true, of: 0, at: .zero)) == "fail missingCredential")
    }

    @Test func oneRefreshForAllWaiters() {
        var state = self.state()
        #expect(self.text(state.wants(self.ids[0], requiresRefresh: true, of: 0, at: .zero)) == "refresh old as 1")
        #expect(self.text(state.wants(self.ids[1], requiresRefresh: true, of: 0, at: .zero)) == "wait")
        #expect(self.text(state.wasRefused(self.ids[9], waiter: self.ids[2], isCurrent: true, of: 0, at: .zero)) == "wait")
        #expect(self.text(state.wants(self.ids[3], requiresRefresh: false, of: 0, at: .zero)) == "wait")
        #expect(state.refreshed(1, to: "new") == Array(self.ids[0...3]))
        #expect(self.text(state.wants(self.ids[4], requiresRefresh: false, of: 1, at: .zero)) == "use new")
    }

    @Test func observationsOfAnOlderCredentialDoNotCount() {
        var state = self.state()
        _ = state.set("new")
        #expect(self.text(state.wants(self.ids[0], requiresRefresh: true, of: 0, at: .zero)) == "use new")
        #expect(self.text(state.wasRefused(self.ids[9], waiter: self.ids[1], isCurrent: true, of: 0, at: .zero)) == "use new")
    }

    @Test func aRefreshThatFailsFailsAll() {
        var state = self.state()
        _ = state.wants(self.ids[0], requiresRefresh: true, of: 0, at: .zero)
        _ = state.wants(self.ids[1], requiresRefresh: true, of: 0, at: .zero)
        #expect(state.refreshFailed(1) == Array(self.ids[0...1]))
        #expect(state.credential == "old")
        #expect(self.text(state.wants(self.ids[2], requiresRefresh: true, of: 0, at: .zero)) == "refresh old as 2")
    }

    @Test func waiterThatGaveUpIsNotAnswered() {
        var state = self.state()
        _ = state.wants(self.ids[0], requiresRefresh: true, of: 0, at: .zero)
        _ = state.wants(self.ids[1], requiresRefresh: true, of: 0, at: .zero)
        state.gaveUp(self.ids[0])
        #expect(state.refreshed(1, to: "new") == [self.ids[1]])
    }

    @Test func aLateRefreshDoesNotUndoALogin() {
        var state = self.state()
        _ = state.wants(self.ids[0], requiresRefresh: true, of: 0, at: .zero)
        #expect(state.set("login") == [self.ids[0]])
        #expect(state.refreshed(1, to: "late") == [])
        #expect(state.refreshFailed(1) == [])
        #expect(state.credential == "login")
        // It does not end the next one either.
        #expect(self.text(state.wants(self.ids[1], requiresRefresh: true, of: 1, at: .zero)) == "refresh login as 2")
        #expect(state.refreshed(1, to: "late") == [])
        #expect(state.refreshed(2, to: "new") == [self.ids[1]])
    }

    @Test func aRefusedRequestWithAnOlderCredentialIsSentAgainOnce() {
        var state = self.state()
        #expect(self.text(state.wasRefused(self.ids[9], waiter: self.ids[0], isCurrent: false, of: 0, at: .zero)) == "use old")
        #expect(self.text(state.wasRefused(self.ids[8], waiter: self.ids[1], isCurrent: false, of: 0, at: .zero)) == "use old")
        #expect(
            self.text(state.wasRefused(self.ids[9], waiter: self.ids[2], isCurrent: false, of: 0, at: .zero)) == "refresh old as 1")
        _ = state.refreshed(1, to: "new")
        #expect(self.text(state.wasRefused(self.ids[9], waiter: self.ids[3], isCurrent: false, of: 1, at: .zero)) == "use new")
    }

    @Test func aWindowEndsAStorm() {
        var state = self.state(window: HTTPSession.RefreshWindow(interval: .seconds(10), maximumAttempts: 2))
        func refused(at seconds: Int) -> String {
            self.text(
                state.wasRefused(self.ids[9], waiter: self.ids[0], isCurrent: true, of: state.generation, at: .seconds(seconds)))
        }
        #expect(refused(at: 0) == "refresh old as 1")
        _ = state.refreshed(1, to: "a")
        #expect(refused(at: 5) == "refresh a as 2")
        _ = state.refreshFailed(2)
        #expect(refused(at: 9) == "fail excessiveRefresh")
        #expect(refused(at: 10) == "refresh a as 3")
        _ = state.refreshed(3, to: "b")
        #expect(refused(at: 12) == "fail excessiveRefresh")
        #expect(refused(at: 15) == "refresh b as 4")
    }

    @Test func withoutAWindowThereIsNoLimit() {
        var state = self.state(window: nil)
        for number in 1...100 {
            #expect(self.text(state.wants(self.ids[0], requiresRefresh: true, of: state.generation, at: .zero)).hasSuffix("as \(number)"))
            _ = state.refreshed(number, to: "n")
        }
    }

    /// In any order of events, there is one refresh at a time, and every waiter is answered once or has given up.
    @Test(arguments: 0..<50) func everyWaiterIsAnsweredOnce(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var state = self.state(window: nil)
        var waiting: Set<UUID> = []
        var running: Set<Int> = []
        var newest = 0
        for step in 0..<400 {
            let id = UUID()
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...3:
                let answer =
                    Bool.random(using: &generator)
                    ? state.wants(id, requiresRefresh: Bool.random(using: &generator), of: state.generation, at: .seconds(step))
                    : state.wasRefused(
                        UUID(), waiter: id, isCurrent: Bool.random(using: &generator), of: state.generation, at: .seconds(step))
                switch answer {
                case .wait: #expect(waiting.insert(id).inserted && running.contains(newest))
                case .refresh(_, let number):
                    #expect(number > newest && waiting.isEmpty)
                    newest = number
                    running.insert(number)
                    waiting.insert(id)
                case .use: break
                case .fail(let error): #expect(error.code == .missingCredential && state.credential == nil)
                }
            case 4:
                guard let number = running.randomElement(using: &generator) else { continue }
                running.remove(number)
                let told = state.refreshed(number, to: "r\(number)")
                #expect(told.isEmpty || Set(told) == waiting && told.count == waiting.count)
                if !told.isEmpty { waiting = [] }
            case 5:
                guard let number = running.randomElement(using: &generator) else { continue }
                running.remove(number)
                let told = state.refreshFailed(number)
                #expect(told.isEmpty || Set(told) == waiting && told.count == waiting.count)
                if !told.isEmpty { waiting = [] }
            case 6:
                guard let id = waiting.randomElement(using: &generator), waiting.count > 1 else { continue }
                waiting.remove(id)
                state.gaveUp(id)
            default:
                let told = state.set(Bool.random(using: &generator) ? "s\(step)" : nil)
                #expect(Set(told) == waiting && told.count == waiting.count)
                waiting = []
            }
        }
        #expect(Set(state.set("end")) == waiting)
    }
}

@Suite struct AuthenticationErrorTests {
    @Test func itShowsAsItsMessage() {
        #expect("\(HTTPSession.AuthenticationError(.missingCredential, "no credential"))" == "no credential")
        #expect("\(HTTPSession.AuthenticationError.Code.excessiveRefresh)" == "excessiveRefresh")
        #expect(HTTPSession.AuthenticationError.Code.missingCredential != .excessiveRefresh)
    }
}

@Suite struct RefreshWindowTests {
    @Test func theErrorNamesTheExceededLimit() {
        let error = HTTPSession.RefreshWindow(interval: .milliseconds(1500), maximumAttempts: 3).error
        #expect(error.code == .excessiveRefresh)
        #expect(
            error.message
                == "the credential was refreshed 3 times within 1.500 s: find out why the server refuses each new one, or widen the RefreshWindow"
        )
        #expect(HTTPSession.RefreshWindow() == HTTPSession.RefreshWindow(interval: .seconds(30), maximumAttempts: 5))
    }
}
