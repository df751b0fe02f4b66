public import Foundation
internal import TapeBytes

/// The chunks of an answer as they come from the transport, neither split nor joined.
///
/// Read by one loop. Leaving the loop before the end cancels the request if it has no other reader; cancelling the task cancels it too.
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

/// A sequence as a reader of a stream. Cancels the request when it is released, if it was the last reader.
final class StreamSeat: Sendable {
    private let request: StreamRequest
    private let reader = Guarded<Int?>(nil)

    init(_ request: StreamRequest) { self.request = request }

    deinit {
        guard let reader = self.reader.withLock({ $0 }) else { return }
        if self.request.hub.leave(reader) == 0 { self.request.cancel() } else { self.request.demandMore() }
    }

    /// The first call joins the readers and starts the request.
    func next() async throws -> Data? {
        let reader = try self.reader.withLock { reader in
            if let reader { return reader }
            let new = try self.request.hub.join()
            reader = new
            return new
        }
        self.request.startForHandler()
        switch self.request.hub.take(reader) {
        case .chunk(let chunk):
            self.request.demandMore()
            return chunk
        case .end(let error):
            if let error { throw error }
            return nil
        case .wait: break
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { self.request.hub.wait(reader, $0) }
        } onCancel: {
            self.request.cancel()
        }
    }
}
