internal import Foundation
internal import TapeBytes

/// A sequence's place among the readers of a stream. Given up, it lets the request go too, where it was the last.
final class StreamSeat: Sendable {
    private let request: StreamRequest
    private let reader = Guarded<Int?>(nil)

    init(_ request: StreamRequest) { self.request = request }

    deinit {
        guard let reader = self.reader.withLock({ $0 }) else { return }
        if self.request.hub.leave(reader) == 0 { self.request.cancel() } else { self.request.demandMore() }
    }

    /// The first call joins, and starts the request.
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
