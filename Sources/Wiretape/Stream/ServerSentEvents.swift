internal import Foundation

/// The server-sent events of an answer (HTML Living Standard, 9.2). Reconnects nowhere: the last event's `id` and `retry` are there for that.
///
/// Read by one loop, as `StreamChunks`.
public struct ServerSentEvents: AsyncSequence, Sendable {
    public typealias Element = ServerSentEvent

    let request: StreamRequest

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamSeat(self.request)) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var lines: LineOctets
        private var parser = ServerSentEventParser()

        init(_ seat: StreamSeat) { self.lines = LineOctets(seat) }

        /// - Throws: `WiretapeError`, also for a line of more than 16 MiB.
        public mutating func next() async throws -> ServerSentEvent? {
            while let line = try await self.lines.next(keepsLast: false) {
                if let event = self.parser.push(line) { return event }
            }
            return nil
        }
    }
}
