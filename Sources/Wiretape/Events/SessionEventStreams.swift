internal import TapeBytes

/// Hands a session's events out as async sequences, to as many readers as ask.
///
/// Each reader has its own buffer with a limit: a session does not wait for readers. What a full buffer cannot take is left out and counted.
public final class SessionEventStreams: EventMonitor {
    /// Events that a buffer holds where nothing else was asked for. Those of chunks hold the octets too.
    public static let standardLimit = 256

    private struct State {
        var next = 0
        var readers: [Int: AsyncStream<SessionEvent>.Continuation] = [:]
        var left = 0
        var isFinished = false
    }

    private let state = Guarded(State())

    public init() {}

    deinit { self.finish() }

    /// Events from now on; ends with `finish`, or with the monitor itself.
    ///
    /// - Parameter limit: events that wait for the reader; the oldest are kept, later ones left out.
    public func events(limit: Int = SessionEventStreams.standardLimit) -> AsyncStream<SessionEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: SessionEvent.self, bufferingPolicy: .bufferingOldest(max(1, limit)))
        let number: Int? = self.state.withLock { state in
            guard !state.isFinished else { return nil }
            state.next += 1
            state.readers[state.next] = continuation
            return state.next
        }
        guard let number else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in self?.state.withLock { $0.readers[number] = nil } }
        return stream
    }

    /// How many events found a full buffer, over all readers.
    public var droppedCount: Int { self.state.withLock { $0.left } }

    public func sessionDid(_ event: SessionEvent) {
        let readers = self.state.withLock { Array($0.readers.values) }
        var dropped = 0
        for reader in readers {
            if case .dropped = reader.yield(event) { dropped += 1 }
        }
        if dropped > 0 { self.state.withLock { $0.left += dropped } }
    }

    /// Ends all sequences; what they hold can still be read.
    public func finish() {
        let readers = self.state.withLock { state in
            state.isFinished = true
            defer { state.readers = [:] }
            return Array(state.readers.values)
        }
        for reader in readers { reader.finish() }
    }
}
