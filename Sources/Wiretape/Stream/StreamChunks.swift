public import Foundation

/// The chunks of an answer as they come: the transport's pieces, neither cut nor joined.
///
/// Read by one loop. Leaving the loop before the end cancels the request, where nobody else reads it; cancelling the task does so too.
public struct StreamChunks: AsyncSequence, Sendable {
    public typealias Element = Data

    let request: StreamRequest

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamSeat(self.request)) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private let seat: StreamSeat

        init(_ seat: StreamSeat) { self.seat = seat }

        /// - Throws: `WiretapeError`
        public mutating func next() async throws -> Data? { try await self.seat.next() }
    }
}
