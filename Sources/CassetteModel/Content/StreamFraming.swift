internal import TapeBytes

/// How a body is divided that its sender makes bit by bit: events, messages, values or parts.
package enum StreamFraming: Sendable, Hashable {
    /// Server-sent events (HTML Living Standard, 9.2).
    case events
    /// A flag, a length and a message: gRPC, gRPC-web and Connect.
    case messages
    /// The same in base64 (`application/grpc-web-text`).
    case messagesInBase64
    /// A JSON text on each line.
    case lines
    /// JSON texts, each after a record separator (RFC 7464).
    case records
    /// The elements of a single JSON array.
    case elements
    /// Frames of AWS ("Event stream encoding").
    case frames
    /// Parts, each of which replaces the one before (`multipart/x-mixed-replace`).
    case parts(MultipartBoundary)

    /// Whether such a body may never end. An array of JSON has an end.
    package var isOpen: Bool { self != .elements }

    /// Nil for a body of another type, and for one with content codings, whose content is unknown while it comes.
    package init?(_ headers: HeaderFields) {
        guard let index = headers.firstIndex(of: "content-type") else { return nil }
        let type = headers.valueBytes(at: index)
        // Asked for each answer: most are of another type, and need no string to tell.
        guard
            MediaType.begins(type, with: "application/") || MediaType.begins(type, with: "text/event-stream")
                || MediaType.begins(type, with: "multipart/x-mixed-replace"), case .none = ContentEncoding(headers)
        else { return nil }
        self.init(type: type, length: headers.firstIndex(of: "content-length").map(headers.valueBytes))
    }

    /// - Parameters:
    ///   - type: the value of Content-Type.
    ///   - length: the value of Content-Length. A JSON array whose length is known is a single value.
    package init?(type: ArraySlice<UInt8>, length: ArraySlice<UInt8>? = nil) {
        let media = MediaType(type)
        if media.isEventStream {
            self = .events
        } else if media.essence.hasPrefix("application/grpc-web-text") {
            self = .messagesInBase64
        } else if GRPCType(media) != nil || media.essence.hasPrefix("application/grpc-web")
            || media.essence.hasPrefix("application/connect+")
        {
            self = .messages
        } else if media.isAmazonEventStream {
            self = .frames
        } else if media.declaresJSONTexts {
            self = media.essence.hasSuffix("json-seq") ? .records : .lines
        } else if media.essence == "multipart/x-mixed-replace" {
            guard let boundary = MIMEParameters(type)["boundary"].flatMap({ MultipartBoundary($0.value) }) else { return nil }
            self = .parts(boundary)
        } else if media.kind == .json, length == nil {
            self = .elements
        } else {
            return nil
        }
    }
}

/// Finds where the messages of a stream end, as its bytes arrive in pieces of any size.
///
/// Holds no bytes. Takes time linear in them.
package struct StreamDivider: Sendable {
    private enum State: Sendable {
        case events(EventLines)
        case messages(GRPCFrames)
        case base64(Base64Groups)
        case lines
        case json(JSONDepth)
        case frames(LengthPrefix)
        case parts(DelimiterSearch)
    }

    private var state: State

    package init(_ framing: StreamFraming) {
        self.state =
            switch framing {
            case .events: .events(EventLines())
            case .messages: .messages(GRPCFrames())
            case .messagesInBase64: .base64(Base64Groups())
            case .lines: .lines
            case .records: .json(JSONDepth(level: 0))
            case .elements: .json(JSONDepth(level: 1))
            case .frames: .frames(LengthPrefix())
            case .parts(let boundary): .parts(DelimiterSearch(boundary))
            }
    }

    /// - Parameter end: called with the offset after each message that ends in these bytes; 0 if it ended with the bytes before. An element
    ///   of an array ends before the comma or bracket after it, and a part with the delimiter after it.
    package mutating func push(_ bytes: UnsafeRawBufferPointer, _ end: (Int) -> Void) {
        switch self.state {
        case .events(var lines):
            lines.push(bytes, end)
            self.state = .events(lines)
        case .messages(var frames):
            var offset = 0
            frames.takeAll(bytes) { piece in
                offset += piece.count
                if piece.isLast { end(offset) }
            }
            self.state = .messages(frames)
        case .base64(var groups):
            groups.push(bytes, end)
            self.state = .base64(groups)
        case .lines:
            var offset = 0
            while case let found = ByteScan.index(of: 10, in: bytes, from: offset), found < bytes.count {
                offset = found + 1
                end(offset)
            }
        case .json(var depth):
            depth.push(bytes, end)
            self.state = .json(depth)
        case .frames(var prefix):
            prefix.push(bytes, end)
            self.state = .frames(prefix)
        case .parts(var search):
            search.push(bytes, end)
            self.state = .parts(search)
        }
    }
}

/// Events end with an empty line, whose end is LF, CR, or both.
private struct EventLines: Sendable {
    private var isEmpty = true
    private var isAfterReturn = false

    mutating func push(_ bytes: UnsafeRawBufferPointer, _ end: (Int) -> Void) {
        for (index, byte) in bytes.enumerated() {
            let isSecond = self.isAfterReturn && byte == 10
            self.isAfterReturn = byte == 13
            if isSecond { continue }
            guard byte == 10 || byte == 13 else {
                self.isEmpty = false
                continue
            }
            if self.isEmpty {
                // The LF of the same line end belongs to the event.
                let isPair = byte == 13 && index + 1 < bytes.count && bytes[index + 1] == 10
                end(index + (isPair ? 2 : 1))
            }
            self.isEmpty = true
        }
    }
}

/// Messages in base64 may be divided after each group of four characters.
private struct Base64Groups: Sendable {
    private var count = 0

    mutating func push(_ bytes: UnsafeRawBufferPointer, _ end: (Int) -> Void) {
        let whole = (self.count + bytes.count) & ~3
        if whole > self.count { end(whole - self.count) }
        self.count = (self.count + bytes.count) & 3
    }
}

/// How deep the bytes of JSON texts are nested. A value ends where the depth is back at its level.
private struct JSONDepth: Sendable {
    /// 0 for texts, 1 for the elements of an array.
    let level: Int
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// A value has begun at its level, and not ended.
    private var hasBegun = false
    /// The text is not an array, so it has no elements.
    private var isOther = false

    init(level: Int) { self.level = level }

    mutating func push(_ bytes: UnsafeRawBufferPointer, _ end: (Int) -> Void) {
        for (index, byte) in bytes.enumerated() where !self.isOther {
            if self.isInString {
                self.takeInString(byte)
                continue
            }
            if self.level == 1, self.depth == 0, byte > 32, byte != UInt8(ascii: "[") {
                self.isOther = true
                continue
            }
            switch byte {
            case UInt8(ascii: "\""): (self.isInString, self.hasBegun) = (true, true)
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                self.depth += 1
                if self.depth > self.level { self.hasBegun = true }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                self.depth -= 1
                if self.level == 1, self.depth == 0 {
                    self.endValue(index, end)
                    self.isOther = true
                }
            case UInt8(ascii: ","):
                if self.level == 1, self.depth == 1 { self.endValue(index, end) }
            case 10, 0x1e:
                // The line end after a text belongs to it; a separator begins the next one.
                if self.level == 0, self.depth <= 0 { self.endValue(byte == 10 ? index + 1 : index, end) }
            case 0...32: break
            case _: self.hasBegun = true
            }
        }
    }

    private mutating func takeInString(_ byte: UInt8) {
        if self.isEscaped {
            self.isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
            self.isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
            self.isInString = false
        }
    }

    private mutating func endValue(_ offset: Int, _ end: (Int) -> Void) {
        if self.hasBegun { end(offset) }
        self.hasBegun = false
    }
}

/// A message begins with its whole length, in four bytes.
private struct LengthPrefix: Sendable {
    private var length = 0
    private var size = 0

    mutating func push(_ bytes: UnsafeRawBufferPointer, _ end: (Int) -> Void) {
        var offset = 0
        while offset < bytes.count {
            if self.size < 4 {
                self.length = self.length << 8 | Int(bytes[offset])
                self.size += 1
                offset += 1
                continue
            }
            let rest = min(max(self.length - self.size, 0), bytes.count - offset)
            self.size += rest
            offset += rest
            if self.size >= self.length {
                (self.length, self.size) = (0, 0)
                end(offset)
            }
        }
    }
}

/// A part ends where the delimiter of the next one begins.
private struct DelimiterSearch: Sendable {
    private let delimiter: [UInt8]
    /// How many bytes of the delimiter have matched so far.
    private var matched: Int
    /// For each length of a match, the longest shorter one that is also at its end (Knuth, Morris and Pratt).
    private let shorter: [Int]

    init(_ boundary: MultipartBoundary) {
        let delimiter = [13, 10, UInt8(ascii: "-"), UInt8(ascii: "-")] + boundary.bytes
        var shorter = [0]
        for index in delimiter.indices.dropFirst() {
            var length = shorter[index - 1]
            while length > 0, delimiter[length] != delimiter[index] { length = shorter[length - 1] }
            shorter.append(delimiter[length] == delimiter[index] ? length + 1 : 0)
        }
        (self.delimiter, self.shorter) = (delimiter, shorter)
        // The first delimiter may stand at the beginning.
        self.matched = 2
    }

    mutating func push(_ bytes: UnsafeRawBufferPointer, _ end: (Int) -> Void) {
        for (index, byte) in bytes.enumerated() {
            while self.matched > 0, self.delimiter[self.matched] != byte { self.matched = self.shorter[self.matched - 1] }
            if self.delimiter[self.matched] == byte { self.matched += 1 }
            guard self.matched == self.delimiter.count else { continue }
            self.matched = self.shorter[self.matched - 1]
            end(index + 1)
        }
    }
}
