public import CassetteModel

/// Follows one body to its end and reports payload, chunks and trailers.
///
/// Takes every byte of the body, but keeps only an unfinished chunk-size line or trailer section. Does not copy payload or decide what to
/// forward: the bytes pass unchanged.
public struct BodyParser: Sendable {
    private enum Phase {
        case length(Int), untilClose
        case chunkLine, chunkData(Int), chunkReturn, chunkFeed, trailers
        case done
    }

    private let side: MessageSide
    private let limits: Limits
    private var phase: Phase
    private var failure: MessageError?
    /// Bytes of the last input before the malformed line or section, however the input was divided; the whole input if nothing is wrong.
    public private(set) var intact = 0
    /// The beginning of an unfinished line or section from earlier buffers.
    private var held: [UInt8] = []
    private var section: FieldSectionParser
    private var extensionBytes = 0

    public init(framing: BodyFraming, side: MessageSide, limits: Limits = Limits()) {
        self.side = side
        self.limits = limits
        self.section = FieldSectionParser(
            side: side, section: side == .request ? "request trailer" : "response trailer",
            maximumBytes: limits.trailerSection, maximumFields: limits.fields)
        switch framing {
        case .none, .length(0): self.phase = .done
        case .length(let length): self.phase = .length(length)
        case .chunked: self.phase = .chunkLine
        case .untilClose: self.phase = .untilClose
        }
    }

    public var isDone: Bool {
        if case .done = self.phase { return true }
        return false
    }

    /// Bytes at the end of the consumed input that belong to an incomplete chunk-size line or trailer section.
    public var unfinished: Int { self.held.count }

    /// The input ended, which completes a body that lasts until the close.
    public mutating func sourceEnded() -> BodyEnd {
        switch self.phase {
        case .done: return .complete
        case .untilClose:
            self.phase = .done
            return .complete
        case .length, .chunkLine, .chunkData, .chunkReturn, .chunkFeed, .trailers: return .cut
        }
    }

    /// Takes the next bytes. After an error, every call throws it again.
    public mutating func consume(
        _ bytes: UnsafeRawBufferPointer, _ onEvent: (BodyEvent) -> Void
    ) throws(MessageError) -> BodyProgress {
        self.intact = 0
        if let failure = self.failure { throw failure }
        do throws(MessageError) {
            let consumed = try self.read(bytes, onEvent)
            self.intact = consumed
            return BodyProgress(consumed: consumed, isDone: self.isDone)
        } catch {
            self.failure = error
            throw error
        }
    }

    private mutating func read(_ bytes: UnsafeRawBufferPointer, _ onEvent: (BodyEvent) -> Void) throws(MessageError) -> Int {
        var index = 0
        while index < bytes.count {
            self.intact = index
            switch self.phase {
            case .done:
                return index
            case .untilClose:
                onEvent(.data(index..<bytes.count))
                return bytes.count
            case .length(let left):
                let taken = min(left, bytes.count - index)
                self.phase = taken == left ? .done : .length(left - taken)
                onEvent(.data(index..<index + taken))
                index += taken
            case .chunkData(let left):
                let taken = min(left, bytes.count - index)
                self.phase = taken == left ? .chunkReturn : .chunkData(left - taken)
                onEvent(.data(index..<index + taken))
                index += taken
            case .chunkReturn:
                guard bytes[index] == ASCII.carriageReturn else { throw self.unendedChunk(bytes[index]) }
                self.phase = .chunkFeed
                index += 1
            case .chunkFeed:
                guard bytes[index] == ASCII.lineFeed else { throw self.unendedChunk(bytes[index]) }
                self.phase = .chunkLine
                index += 1
            case .chunkLine:
                index = try self.readChunkLine(bytes, from: index, onEvent)
            case .trailers:
                index = try self.readTrailers(bytes, from: index, onEvent)
            }
        }
        return index
    }

    /// Reads a chunk-size line or the next part of one. Returns the offset after the consumed bytes.
    private mutating func readChunkLine(
        _ bytes: UnsafeRawBufferPointer, from start: Int, _ onEvent: (BodyEvent) -> Void
    ) throws(MessageError) -> Int {
        var stop = start
        if self.held.last != ASCII.carriageReturn {
            // One more byte, for the CR after a line of exactly the limit.
            let end = min(bytes.count, start + self.limits.chunkLine - self.held.count + 1)
            stop = ASCII.firstControl(in: bytes, from: start, to: end)
            guard self.held.count + stop - start <= self.limits.chunkLine else {
                throw self.side.fault(
                    .chunk, "\(self.side.name) has a chunk-size line longer than \(self.limits.chunkLine) bytes; shorten its extension")
            }
            guard stop < end else {
                self.held.append(contentsOf: bytes[start..<stop])
                return stop
            }
            guard bytes[stop] == ASCII.carriageReturn else { throw self.stray(bytes[stop]) }
            guard stop + 1 < bytes.count else {
                self.held.append(contentsOf: bytes[start...stop])
                return stop + 1
            }
            stop += 1
        }
        guard bytes[stop] == ASCII.lineFeed else { throw self.stray(ASCII.carriageReturn) }
        let line: ChunkLine
        if self.held.isEmpty {
            line = try ChunkLine.parse(UnsafeRawBufferPointer(rebasing: bytes[start..<stop - 1]), side: self.side)
        } else {
            if stop > start { self.held.append(contentsOf: bytes[start..<stop]) }
            let side = self.side
            line = try self.held.dropLast().withUnsafeBufferPointer { held throws(MessageError) in
                try ChunkLine.parse(UnsafeRawBufferPointer(held), side: side)
            }
            self.held.removeAll(keepingCapacity: true)
        }
        self.extensionBytes += max(0, line.extensionBytes - line.size)
        guard self.extensionBytes <= self.limits.chunkExtensions else {
            throw self.side.fault(
                .chunk, "\(self.side.name) has over \(self.limits.chunkExtensions) bytes of chunk extensions beyond its data; send none")
        }
        if line.size == 0 {
            self.phase = .trailers
            onEvent(.lastChunk(line: line.text))
        } else {
            self.phase = .chunkData(line.size)
            onEvent(.chunk(size: line.size, line: line.text))
        }
        return stop + 1
    }

    private mutating func readTrailers(
        _ bytes: UnsafeRawBufferPointer, from start: Int, _ onEvent: (BodyEvent) -> Void
    ) throws(MessageError) -> Int {
        let end: Int
        if self.held.isEmpty {
            guard let found = try self.section.parse(bytes, from: start) else {
                self.held.append(contentsOf: bytes[start...])
                return bytes.count
            }
            end = found
        } else {
            let before = self.held.count
            self.held.append(contentsOf: bytes[start..<min(bytes.count, start + self.limits.trailerSection - before)])
            var held: [UInt8] = []
            swap(&held, &self.held)
            let found = try held.withUnsafeBufferPointer { held throws(MessageError) in
                try self.section.parse(UnsafeRawBufferPointer(held), from: 0)
            }
            swap(&held, &self.held)
            guard let found else { return bytes.count }
            end = start + found - before
        }
        self.held = []
        let fields = self.section.fields
        // RFC 9110, 6.5.1: the header determines framing and routing. A late copy could only mislead the next recipient.
        if fields.contains("content-length") || fields.contains("transfer-encoding") || fields.contains("host") {
            throw self.side.fault(
                .trailer, "\(self.side.name) has Content-Length, Transfer-Encoding or Host in its trailer; send them in the header")
        }
        self.phase = .done
        if !fields.isEmpty { onEvent(.trailers(fields)) }
        return end
    }

    private func unendedChunk(_ byte: UInt8) -> MessageError {
        self.side.fault(
            .chunk, "\(self.side.name) has the byte \(ASCII.escaped(byte)) where a chunk must end with CRLF; make size and data agree")
    }

    private func stray(_ byte: UInt8) -> MessageError {
        self.side.fault(
            .chunk, "\(self.side.name) has the control byte \(ASCII.escaped(byte)) in a chunk-size line; end it with CRLF")
    }
}

/// A part of a body in a buffer.
public enum BodyEvent: Sendable, Hashable {
    /// Payload at this range of the buffer, chunk framing excluded.
    case data(Range<Int>)
    /// A chunk begins. `line` is its size line if that is not the size in lower-case hex.
    case chunk(size: Int, line: String?)
    /// The last chunk. `line` is its size line if that is not `0`.
    case lastChunk(line: String?)
    /// A trailer section with at least one field.
    case trailers(HeaderFields)

    /// The same event in a buffer with this many more bytes before it.
    public func moved(by offset: Int) -> BodyEvent {
        if case .data(let range) = self { .data(range.lowerBound + offset..<range.upperBound + offset) } else { self }
    }
}

/// How much of a buffer belongs to a body.
public struct BodyProgress: Sendable, Hashable {
    /// Bytes that belong to the body: the whole buffer, unless the body ended within it.
    public var consumed: Int
    public var isDone: Bool

    public init(consumed: Int, isDone: Bool) {
        self.consumed = consumed
        self.isDone = isDone
    }
}

/// What the end of input means for a body.
public enum BodyEnd: Sendable, Hashable {
    case complete
    /// Bytes are missing. The body must never count as complete (RFC 9112, 8).
    case cut
}

/// The size line of a chunk (RFC 9112, 7.1): hex digits and possibly extensions.
struct ChunkLine {
    var size: Int
    /// The line itself if it is not the size in lower-case hex.
    var text: String?
    var extensionBytes: Int

    /// Parses a line without its CRLF and without control bytes other than HTAB.
    static func parse(_ line: UnsafeRawBufferPointer, side: MessageSide) throws(MessageError) -> ChunkLine {
        var size = 0
        var digits = 0
        var isCanonical = true
        while digits < line.count, let digit = ASCII.hexDigit(line[digits]) {
            // Sixteen digits hold any size. More would be padding that a narrower parser might cut.
            guard digits < 16, size <= Int.max >> 4 else {
                throw side.fault(.chunk, "\(side.name) has the chunk size \(ASCII.quoted(line)); send at most 7fffffffffffffff")
            }
            size = size << 4 | Int(digit)
            if line[digits] >= 65 && line[digits] <= 70 { isCanonical = false }
            digits += 1
        }
        guard digits > 0, self.isExtension(line, from: digits) else {
            throw side.fault(.chunk, "\(side.name) has the chunk-size line \(ASCII.quoted(line)); send hex digits only")
        }
        if digits < line.count || (digits > 1 && line[0] == UInt8(ascii: "0")) { isCanonical = false }
        guard !isCanonical else { return ChunkLine(size: size, text: nil, extensionBytes: 0) }
        let text = String(decoding: line, as: UTF8.self)
        // The line is recorded as text, so bytes that text cannot reproduce are refused.
        guard text.utf8.elementsEqual(line) else {
            throw side.fault(.chunk, "\(side.name) has a chunk extension that is not UTF-8: \(ASCII.quoted(line)); send none")
        }
        return ChunkLine(size: size, text: text, extensionBytes: line.count - digits)
    }

    /// `*( BWS ";" BWS token [ BWS "=" BWS ( token / quoted-string ) ] )` up to the end of the line.
    private static func isExtension(_ line: UnsafeRawBufferPointer, from start: Int) -> Bool {
        var index = start
        func skipSpace() {
            while index < line.count, line[index] == ASCII.space || line[index] == ASCII.tab { index += 1 }
        }
        func token() -> Bool {
            let start = index
            while index < line.count, ASCII.isToken(line[index]) { index += 1 }
            return index > start
        }
        func quotedString() -> Bool {
            index += 1
            while index < line.count {
                if line[index] == UInt8(ascii: "\"") {
                    index += 1
                    return true
                }
                index += line[index] == UInt8(ascii: "\\") ? 2 : 1
            }
            return false
        }
        while index < line.count {
            skipSpace()
            guard index < line.count, line[index] == UInt8(ascii: ";") else { return false }
            index += 1
            skipSpace()
            guard token() else { return false }
            let nameEnd = index
            skipSpace()
            guard index < line.count, line[index] == UInt8(ascii: "=") else {
                // White space here belongs before the next ";". Leave it to the next iteration, which refuses it at the end of the line.
                index = nameEnd
                continue
            }
            index += 1
            skipSpace()
            guard index < line.count, line[index] == UInt8(ascii: "\"") ? quotedString() : token() else { return false }
        }
        return true
    }
}
