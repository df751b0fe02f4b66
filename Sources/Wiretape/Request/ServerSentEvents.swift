internal import Foundation

extension HTTPSession.StreamRequest {
    /// The server-sent events of a response (HTML Living Standard, 9.2). Does not reconnect; the last event has the `id` and `retry` that
    /// reconnecting needs.
    ///
    /// Only one loop can read it, as with `Chunks`.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        public typealias Element = ServerSentEvent

        let request: HTTPSession.StreamRequest

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(StreamReader(self.request)) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            private var lines: LineReader
            private var parser = ServerSentEventParser()

            init(_ reader: StreamReader) { self.lines = LineReader(reader) }

            /// - Throws: `WiretapeError`, also for a line of more than 16 MiB.
            public mutating func next() async throws -> ServerSentEvent? {
                while let line = try await self.lines.next(keepsLast: false) {
                    if let event = self.parser.push(line) { return event }
                }
                return nil
            }
        }
    }
}

/// An event of a stream of the type `text/event-stream` (HTML Living Standard, 9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// `message` if the stream names none.
    public var event: String
    /// The lines of `data`, joined by LF.
    public var data: String
    /// The last ID of the stream, from this event or an earlier one; empty if there was none.
    public var id: String
    /// How long to wait before reconnecting, as last set by the stream.
    public var retry: Duration?

    public init(event: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.event = event
        self.data = data
        self.id = id
        self.retry = retry
    }
}

/// Parses the lines of an event stream into events (HTML Living Standard, 9.2.6).
///
/// Takes lines without their ends. Drops events without data, and an event without a blank line after it.
struct ServerSentEventParser: Sendable {
    private var event = ""
    private var data: [String] = []
    private var id = ""
    private var retry: Duration?
    private var isFirst = true

    /// - Returns: the event that this line ends; else nil.
    mutating func push(_ line: [UInt8]) -> ServerSentEvent? {
        var line = line[...]
        if self.isFirst {
            self.isFirst = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
        }
        guard !line.isEmpty else { return self.dispatch() }
        let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
        var bytes = line.drop { $0 != UInt8(ascii: ":") }.dropFirst()
        if bytes.first == UInt8(ascii: " ") { bytes = bytes.dropFirst() }
        self.take(name, bytes)
        return nil
    }

    private mutating func take(_ name: String, _ bytes: ArraySlice<UInt8>) {
        let value = String(decoding: bytes, as: UTF8.self)
        switch name {
        case "event": self.event = value
        case "data": self.data.append(value)
        case "id" where !bytes.contains(0): self.id = value
        case "retry" where !bytes.isEmpty && bytes.allSatisfy { (48...57).contains($0) }:
            if let milliseconds = Int64(value) { self.retry = .milliseconds(milliseconds) }
        // A comment has an empty name; other fields are ignored.
        default: break
        }
    }

    private mutating func dispatch() -> ServerSentEvent? {
        defer {
            self.event = ""
            self.data = []
        }
        guard !self.data.isEmpty else { return nil }
        return ServerSentEvent(
            event: self.event.isEmpty ? "message" : self.event, data: self.data.joined(separator: "\n"), id: self.id, retry: self.retry)
    }
}
