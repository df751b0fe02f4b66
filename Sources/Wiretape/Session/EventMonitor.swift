internal import TapeBytes

extension HTTPSession {
    /// Observes what a session does.
    ///
    /// Called in order for each request, on the thread where the event happens, so it must not block.
    public protocol EventMonitor: Sendable {
        func sessionDid(_ event: Event)
    }

    /// A closure as a monitor.
    public struct ClosureEventMonitor: EventMonitor {
        private let handle: @Sendable (Event) -> Void

        /// - Parameter handle: called on the thread where an event happens; must not block.
        public init(_ handle: @escaping @Sendable (Event) -> Void) { self.handle = handle }

        public func sessionDid(_ event: Event) { self.handle(event) }
    }
}

extension HTTPSession.EventMonitor where Self == HTTPSession.ClosureEventMonitor {
    public static func events(_ handle: @escaping @Sendable (HTTPSession.Event) -> Void) -> HTTPSession.ClosureEventMonitor {
        HTTPSession.ClosureEventMonitor(handle)
    }
}

extension HTTPSession {
    /// Several monitors, called in order.
    public struct CompositeEventMonitor: EventMonitor {
        public let monitors: [any EventMonitor]

        public init(_ monitors: [any EventMonitor]) { self.monitors = monitors }

        public func sessionDid(_ event: Event) {
            for monitor in self.monitors { monitor.sessionDid(event) }
        }
    }

    /// Writes a line for each event, without bodies, header values and query values.
    ///
    /// Shows paths, including a secret in one. Writes only through its closure.
    public struct LoggingEventMonitor: EventMonitor {
        /// Which events are written.
        public enum Detail: Sendable, Hashable {
            /// Requests, responses, and how they end.
            case exchanges
            /// Every event, including each chunk of a body.
            case everything
        }

        private let detail: Detail
        private let write: @Sendable (String) -> Void

        /// - Parameter write: takes a line without a line end, on the thread where the event happens.
        public init(_ detail: Detail = .exchanges, write: @escaping @Sendable (String) -> Void) {
            self.detail = detail
            self.write = write
        }

        public func sessionDid(_ event: Event) {
            guard self.detail == .everything || event.kind.isOfExchange else { return }
            self.write("\(event.requestID.uuidString.prefix(8)) \(event.kind.summary)")
        }
    }
}

extension HTTPSession.Event.Kind {
    fileprivate var isOfExchange: Bool {
        switch self {
        case .started, .redirected, .retried, .cancelled, .finished: true
        case .transport(.head), .transport(.failed): true
        case .validated(let error), .serialized(_, let error): error != nil
        case .created, .adapted, .suspended, .resumed, .transport: false
        }
    }
}

extension HTTPSession {
    /// A session's events as async sequences, for any number of readers.
    ///
    /// Each reader has its own limited buffer: a session does not wait for readers. Events that find a full buffer are dropped and counted.
    public final class EventStreams: EventMonitor {
        /// The default number of events in a buffer. Events of chunks hold the bytes too.
        public static let standardLimit = 256

        private struct State {
            var next = 0
            var readers: [Int: AsyncStream<Event>.Continuation] = [:]
            var left = 0
            var isFinished = false
        }

        private let state = Guarded(State())

        public init() {}

        deinit { self.finish() }

        /// Events from now on; ends with `finish`, or with the monitor itself.
        ///
        /// - Parameter limit: the size of the buffer. If it is full, the oldest events are kept, and later ones dropped.
        public func events(limit: Int = EventStreams.standardLimit) -> AsyncStream<Event> {
            let (stream, continuation) = AsyncStream.makeStream(of: Event.self, bufferingPolicy: .bufferingOldest(max(1, limit)))
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

        /// How many events were dropped, over all readers.
        public var droppedCount: Int { self.state.withLock { $0.left } }

        public func sessionDid(_ event: Event) {
            let readers = self.state.withLock { Array($0.readers.values) }
            var dropped = 0
            for reader in readers {
                if case .dropped = reader.yield(event) { dropped += 1 }
            }
            if dropped > 0 { self.state.withLock { $0.left += dropped } }
        }

        /// Ends all sequences; buffered events can still be read.
        public func finish() {
            let readers = self.state.withLock { state in
                state.isFinished = true
                defer { state.readers = [:] }
                return Array(state.readers.values)
            }
            for reader in readers { reader.finish() }
        }
    }
}
