internal import Foundation
internal import TapeBytes

extension HTTPSession.StreamRequest {
    /// The lines of a response, without their ends: LF, CRLF or CR. Bytes that are not UTF-8 become replacement characters (U+FFFD).
    ///
    /// Only one loop can read it, as with `Chunks`. The last line needs no line end.
    public struct Lines: AsyncSequence, Sendable {
        public typealias Element = String

        let request: HTTPSession.StreamRequest

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamReader(self.request)) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            private var lines: LineReader

            init(_ reader: StreamReader) { self.lines = LineReader(reader) }

            /// - Throws: `WiretapeError`, also for a line of more than 16 MiB.
            public mutating func next() async throws -> String? {
                try await self.lines.next(keepsLast: true).map { String(decoding: $0, as: UTF8.self) }
            }
        }
    }

    /// The values of a response that has one on each line, such as newline-delimited JSON. Blank lines are skipped.
    ///
    /// Only one loop can read it, as with `Chunks`. A line that cannot be decoded ends it with an error.
    public struct DecodedLines<Value: Decodable & Sendable>: AsyncSequence, Sendable {
        public typealias Element = Value

        let request: HTTPSession.StreamRequest
        let decoder: any HTTPSession.DataDecoder

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamReader(self.request), self.decoder) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            private var lines: LineReader
            private let decoder: any HTTPSession.DataDecoder
            private var number = 0

            init(_ reader: StreamReader, _ decoder: any HTTPSession.DataDecoder) {
                self.lines = LineReader(reader)
                self.decoder = decoder
            }

            /// - Throws: `WiretapeError`; with the code `serialization` for a line that cannot be decoded.
            public mutating func next() async throws -> Value? {
                while let line = try await self.lines.next(keepsLast: true) {
                    self.number += 1
                    guard line.contains(where: { $0 != 32 && $0 != 9 }) else { continue }
                    do {
                        return try self.decoder.decode(Value.self, from: Data(line))
                    } catch {
                        throw WiretapeError(
                            .serialization,
                            "could not decode \"\(Value.self)\" from line \(self.number) of the response: look at it with lines (\(error))",
                            cause: error)
                    }
                }
                return nil
            }
        }
    }
}

/// Takes the lines of a stream one by one.
struct LineReader {
    private let reader: StreamReader
    private var splitter = LineSplitter()
    private var lines: ArraySlice<[UInt8]> = []
    private var isOver = false

    init(_ reader: StreamReader) { self.reader = reader }

    /// - Parameter keepsLast: whether bytes after the last line end are a line.
    mutating func next(keepsLast: Bool) async throws -> [UInt8]? {
        while self.lines.isEmpty {
            guard !self.isOver else { return nil }
            if let chunk = try await self.reader.next() {
                self.lines = try self.splitter.push(chunk)[...]
            } else {
                self.isOver = true
                if keepsLast { self.lines = self.splitter.finish().map { [$0] } ?? [] }
            }
        }
        return self.lines.popFirst()
    }
}

/// Splits bytes into lines that end in LF, CRLF or CR, wherever chunks begin and end.
///
/// Knows no character set: a line is bytes, without its end.
struct LineSplitter: Sendable {
    /// The longest line, in bytes. If a line is longer, the response probably has no lines.
    static let limit = 16 << 20

    private var line: [UInt8] = []
    /// The previous byte was a CR, which has ended a line: an LF now belongs to it.
    private var isAfterReturn = false

    /// - Returns: the lines that are complete.
    /// - Throws: if a line is longer than the limit.
    mutating func push(_ chunk: some Sequence<UInt8>) throws(WiretapeError) -> [[UInt8]] {
        var lines: [[UInt8]] = []
        for byte in chunk {
            let isSecond = self.isAfterReturn && byte == 10
            self.isAfterReturn = byte == 13
            switch byte {
            case _ where isSecond: break
            case 10, 13:
                lines.append(self.line)
                self.line = []
            default: self.line.append(byte)
            }
        }
        guard self.line.count <= Self.limit else {
            throw WiretapeError(.stream, "a line of the response has more than \(Self.limit) bytes: read the response with bytes")
        }
        return lines
    }

    /// The bytes after the last line end; nil if there are none.
    mutating func finish() -> [UInt8]? {
        defer { self.line = [] }
        return self.line.isEmpty ? nil : self.line
    }
}
