internal import Foundation

/// The values of an answer with one on each line, as newline-delimited JSON has them. Blank lines are passed over.
///
/// Read by one loop, as `StreamChunks`. A line that is no value ends it with an error.
public struct DecodedLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
    public typealias Element = Value

    let request: StreamRequest
    let decoder: any DataDecoder

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamSeat(self.request), self.decoder) }

    public struct AsyncIterator: AsyncIteratorProtocol {
        private var lines: LineOctets
        private let decoder: any DataDecoder
        private var number = 0

        init(_ seat: StreamSeat, _ decoder: any DataDecoder) {
            self.lines = LineOctets(seat)
            self.decoder = decoder
        }

        /// - Throws: `WiretapeError`; with the code `serialization` for a line that is no value.
        public mutating func next() async throws -> Value? {
            while let line = try await self.lines.next(keepsLast: true) {
                self.number += 1
                guard line.contains(where: { $0 != 32 && $0 != 9 }) else { continue }
                do {
                    return try self.decoder.decode(Value.self, from: Data(line))
                } catch {
                    throw WiretapeError(
                        .serialization, "line \(self.number) of the answer is no \"\(Value.self)\": look at it with lines (\(error))",
                        underlying: error)
                }
            }
            return nil
        }
    }
}
