internal import TapeBytes

/// Makes an answer once, however many ask for it at the same time.
final class AnswerMemo<Answer: Sendable>: Sendable {
    private enum State {
        case none
        case making([CheckedContinuation<Answer, Never>])
        case made(Answer)
    }

    private let state = Guarded(State.none)

    /// - Parameter make: called by the first to ask.
    func answer(_ make: () async -> Answer) async -> Answer {
        let (made, isFirst) = self.state.withLock { state -> (Answer?, Bool) in
            switch state {
            case .none:
                state = .making([])
                return (nil, true)
            case .making: return (nil, false)
            case .made(let answer): return (answer, false)
            }
        }
        if let made { return made }
        guard isFirst else { return await self.wait() }
        let answer = await make()
        let waiters = self.state.withLock { state -> [CheckedContinuation<Answer, Never>] in
            defer { state = .made(answer) }
            if case .making(let waiters) = state { return waiters }
            return []
        }
        for waiter in waiters { waiter.resume(returning: answer) }
        return answer
    }

    private func wait() async -> Answer {
        await withCheckedContinuation { waiter in
            let made = self.state.withLock { state -> Answer? in
                switch state {
                case .made(let answer): return answer
                case .making(let waiters): state = .making(waiters + [waiter])
                case .none: state = .making([waiter])
                }
                return nil
            }
            if let made { waiter.resume(returning: made) }
        }
    }
}
