internal import Foundation

/// Octets that one reader of a stream has not taken yet.
///
/// Knows no reader and no lock.
struct StreamBuffer: Sendable {
    /// Octets from which on the transport is told to wait: four of a socket's usual buffers. It goes on below half of it.
    static let limit = 256 << 10

    private var chunks: [Data] = []
    private var first = 0
    private(set) var size = 0
    private(set) var isFull = false

    var isEmpty: Bool { self.first == self.chunks.count }

    mutating func push(_ chunk: Data) {
        self.chunks.append(chunk)
        self.size += chunk.count
        if self.size >= Self.limit { self.isFull = true }
    }

    /// The oldest chunk, as it came; nil where there is none.
    mutating func take() -> Data? {
        guard !self.isEmpty else { return nil }
        let chunk = self.chunks[self.first]
        self.chunks[self.first] = Data()
        self.first += 1
        self.size -= chunk.count
        if self.size < Self.limit / 2 { self.isFull = false }
        if self.isEmpty {
            self.chunks.removeAll(keepingCapacity: true)
            self.first = 0
        }
        return chunk
    }
}
