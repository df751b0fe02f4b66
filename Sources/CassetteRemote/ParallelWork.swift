internal import Dispatch
internal import TapeBytes

/// Runs work for many items on a few threads, because each item mostly waits for a server.
enum ParallelWork {
    private struct State: Sendable {
        var next = 0
        var error: StoreError?
    }

    /// - Parameters:
    ///   - threads: at most this many at once.
    ///   - work: called once for each item, on any thread. After an error, no further item is begun.
    /// - Throws: the first error, when all threads have ended.
    static func run<Item: Sendable>(
        _ items: [Item], threads: Int, _ work: @escaping @Sendable (Item) throws(StoreError) -> Void
    ) throws(StoreError) {
        let state = Guarded(State())
        let loop: @Sendable () -> Void = {
            while true {
                let index = state.withLock { state -> Int? in
                    guard state.error == nil, state.next < items.count else { return nil }
                    defer { state.next += 1 }
                    return state.next
                }
                guard let index else { return }
                do throws(StoreError) {
                    try work(items[index])
                } catch {
                    state.withLock { $0.error = $0.error ?? error }
                }
            }
        }
        let group = DispatchGroup()
        for _ in 1..<max(1, min(threads, items.count)) {
            group.enter()
            let isStarted = DedicatedThread.start {
                loop()
                group.leave()
            }
            if !isStarted { group.leave() }
        }
        loop()
        group.wait()
        if let error = state.withLock({ $0.error }) { throw error }
    }
}
