internal import Foundation

/// The lines of an answer, without their ends: LF, CRLF or CR. What is not UTF-8 shows as replacement characters (U+FFFD).
///
/// Read by one loop, as `StreamChunks`. A last line needs no end.
public struct StreamLines: AsyncSequence, Sendable {
    public typealias Element = String

    let request: StreamRequest

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamSeat(self.request)) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var octets: LineOctets

        init(_ seat: StreamSeat) { self.octets = LineOctets(seat) }

        /// - Throws: `WiretapeError`, also for a line of more than 16 MiB.
        public mutating func next() async throws -> String? {
            try await self.octets.next(keepsLast: true).map { String(decoding: $0, as: UTF8.self) }
        }
    }
}
