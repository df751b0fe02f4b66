internal import CassetteFormat
package import CassetteModel
package import CassetteStore
internal import TapeBytes

/// One message of a recorded WebSocket in the form shown by views.
package struct SocketMessage {
    /// In the order in which they were completed, counted from 1, including pings, pongs and closes.
    package let number: Int
    package let message: WebSocketMessage
    private let reader: BodyReader

    init(number: Int, message: WebSocketMessage, reader: BodyReader) {
        self.number = number
        self.message = message
        self.reader = reader
    }

    /// The size of the payload in bytes.
    package var size: Int {
        switch self.message.content {
        case .text(let payload), .binary(let payload): payload.size
        case .ping(let bytes), .pong(let bytes): bytes.count
        case .close(let close): close.payload.count
        }
    }

    /// The payload without frames, mask and coding. For a close, its reason, or with `raw` its code as well.
    package func contents(raw: Bool = false) throws -> BodyContents {
        switch self.message.content {
        case .text(.file(let sidecar)), .binary(.file(let sidecar)):
            return BodyContents(try self.reader.source(sidecar, digest: PortableSHA256()))
        case .text(let payload), .binary(let payload): return BodyContents(payload.inlineBytes ?? [])
        case .ping(let bytes), .pong(let bytes): return BodyContents(bytes)
        case .close(let close): return BodyContents(raw ? close.payload : Array(close.reason))
        }
    }

    /// The extension for a file with the message.
    package var fileExtension: String {
        switch self.message.content {
        case .text(.file(let sidecar)), .binary(.file(let sidecar)):
            sidecar.path.split(separator: ".").last.map { SafeFileName.make(String($0)) } ?? "bin"
        case .text(.json), .binary(.json): "json"
        case .text(.text), .binary(.text): "txt"
        case .text(.bytes), .binary(.bytes), .ping, .pong, .close: "bin"
        }
    }

    /// `message 2 → text, 18 B, 3.1 ms`, `message 5 ← close 1000 "done", 41.2 s`
    package var words: String {
        var words = ["message \(self.number) \(self.arrow) \(self.kind)"]
        if self.message.content.isData { words.append(Quantity.bytes(self.size)) }
        words.append(Quantity.milliseconds(self.message.at))
        if self.message.isDeflated { words.append("deflated") }
        if !self.message.frames.isEmpty {
            words.append("in \(self.message.isThinned ? "more than " : "")\(Quantity.count(self.message.frames.count, "frame"))")
        }
        if self.message.reserved != 0 { words.append("reserved bits \(self.message.reserved) not understood") }
        if !self.message.isComplete { words.append("cut short") }
        return words.joined(separator: ", ")
    }

    /// An arrow to the right means from the client.
    package var arrow: String { self.message.from == .client ? "→" : "←" }

    /// `text`, `ping "beat"`, `close 1000 "done"`.
    package var kind: String {
        switch self.message.content {
        case .text: "text"
        case .binary: "binary"
        case .ping(let bytes): "ping\(Self.quoted(bytes))"
        case .pong(let bytes): "pong\(Self.quoted(bytes))"
        case .close(let close): "close\(Self.words(close))"
        }
    }

    /// ` 1000 "done"`; empty for a close without a payload.
    package static func words(_ close: WebSocketClose) -> String {
        guard let code = close.code else { return close.payload.isEmpty ? "" : " \(Hex.encode(close.payload))" }
        return " \(code)" + self.quoted(Array(close.reason))
    }

    private static func quoted(_ bytes: [UInt8]) -> String {
        guard !bytes.isEmpty else { return "" }
        return UTF8Validator.isValid(bytes) ? " \"\(VisibleText.line(bytes))\"" : " \(Hex.encode(bytes))"
    }
}

extension BodyReader {
    /// Passes the messages of a WebSocket with their numbers, one after another, until `take` returns false.
    package func forEachSocketMessage(of messages: WebSocketMessages, _ take: (SocketMessage) throws -> Bool) throws {
        var number = 0
        try self.forEachMessage(of: messages, digest: PortableSHA256()) { message, _ in
            number += 1
            return try take(SocketMessage(number: number, message: message, reader: self))
        }
    }
}

/// A summary of a conversation, made in one pass over its messages.
package struct SocketSummary {
    private struct Side {
        var count = 0
        var bytes = 0
    }

    private var sides: [WebSocketSide: Side] = [:]
    private var control = 0
    private var close: (from: WebSocketSide, close: WebSocketClose)?
    private let count: Int
    private let path: String?

    /// Throws errors of reading.
    package init(_ messages: WebSocketMessages, reader: BodyReader) throws {
        self.count = messages.count
        if case .file(let sidecar, _) = messages { self.path = sidecar.path } else { self.path = nil }
        try reader.forEachSocketMessage(of: messages) { message in
            self.take(message)
            return true
        }
    }

    private mutating func take(_ message: SocketMessage) {
        if message.message.content.isData {
            self.sides[message.message.from, default: Side()].count += 1
            let bytes = self.sides[message.message.from]?.bytes ?? 0
            self.sides[message.message.from]?.bytes = ExchangeRow.sum(bytes, message.size)
        } else {
            self.control += 1
        }
        if self.close == nil, case .close(let close) = message.message.content { self.close = (message.message.from, close) }
    }

    package var lines: [String] {
        var lines = [Quantity.count(self.count, "message")]
        for (side, arrow) in [(WebSocketSide.client, "→"), (.server, "←")] {
            guard let found = self.sides[side] else { continue }
            lines.append("\(arrow) \(found.count) from the \(side.rawValue), \(Quantity.bytes(found.bytes))")
        }
        if self.control > 0 { lines.append(Quantity.count(self.control, "ping, pong or close", plural: "pings, pongs and closes")) }
        if let close { lines.append("first closed by the \(close.from.rawValue)\(SocketMessage.words(close.close))") }
        if let path { lines.append("in \(path)") }
        return lines
    }
}

extension Interaction {
    /// Whether its response opened a WebSocket.
    package var opensWebSocket: Bool {
        if self.webSocket != nil { return true }
        guard let response = self.response, response.status == 101 else { return false }
        return response.headers.values("upgrade").contains { $0.lowercased() == "websocket" }
    }
}
