internal import CassetteModel

/// Parses the heads of one direction of a connection, strictly according to RFC 9112.
///
/// Remembers how far it has read. Call it again with the same bytes followed by more, always from the head's first byte. It starts over
/// after each head and each error. Does not interpret fields: see `BodyFraming` and `HostRule`.
public struct HeadParser: Sendable {
    private let limits: Limits
    /// Offset of the start line, after skipped empty lines.
    private var lineStart = 0
    private var scanned = 0
    private var request: RequestHead?
    private var response: ResponseHead?
    private var sectionStart = 0
    private var section: FieldSectionParser?

    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The request head at the start of `bytes`; nil while its end is missing.
    public mutating func parseRequest(_ bytes: UnsafeRawBufferPointer) throws(MessageError) -> Parsed<RequestHead>? {
        do throws(MessageError) {
            guard let end = try self.parse(bytes, side: .request), let section = self.section, var head = self.request.take() else {
                return nil
            }
            head.fields = section.fields
            self = HeadParser(limits: self.limits)
            return Parsed(head: head, consumed: end)
        } catch {
            self = HeadParser(limits: self.limits)
            throw error
        }
    }

    /// The response head at the start of `bytes`; nil while its end is missing.
    public mutating func parseResponse(_ bytes: UnsafeRawBufferPointer) throws(MessageError) -> Parsed<ResponseHead>? {
        do throws(MessageError) {
            guard let end = try self.parse(bytes, side: .response), let section = self.section, var head = self.response.take() else {
                return nil
            }
            head.fields = section.fields
            self = HeadParser(limits: self.limits)
            return Parsed(head: head, consumed: end)
        } catch {
            self = HeadParser(limits: self.limits)
            throw error
        }
    }

    /// Whether part of a head has been read, so that the end of input now would truncate a message.
    public var isInsideHead: Bool { self.section != nil || self.scanned > self.lineStart }

    private mutating func parse(_ bytes: UnsafeRawBufferPointer, side: MessageSide) throws(MessageError) -> Int? {
        // A shorter buffer is a different message.
        if bytes.count < self.scanned { self = HeadParser(limits: self.limits) }
        if self.section == nil {
            guard let line = try self.startLine(bytes, side: side) else { return nil }
            switch side {
            case .request: self.request = try StartLine.request(UnsafeRawBufferPointer(rebasing: bytes[line]))
            case .response: self.response = try StartLine.response(UnsafeRawBufferPointer(rebasing: bytes[line]))
            }
            self.sectionStart = line.upperBound + 2
            self.section = FieldSectionParser(
                side: side, section: side == .request ? "request header" : "response header",
                maximumBytes: self.limits.headerSection, maximumFields: self.limits.fields)
        }
        let end = try self.section?.parse(bytes, from: self.sectionStart)
        self.scanned = bytes.count
        return end
    }

    /// The range of the start line without its CRLF.
    private mutating func startLine(_ bytes: UnsafeRawBufferPointer, side: MessageSide) throws(MessageError) -> Range<Int>? {
        while true {
            let limit = self.lineStart + self.limits.startLine
            // Two more bytes, for the CRLF after a line of exactly the limit.
            let end = min(bytes.count, limit + 2)
            let stop = ASCII.firstControl(in: bytes, from: max(self.scanned, self.lineStart), to: end)
            self.scanned = stop
            guard stop <= limit else {
                throw side.fault(
                    .tooLong, status: 414, "\(side.startLineName) is longer than \(self.limits.startLine) bytes; send a shorter target")
            }
            guard stop < end else { return nil }
            guard bytes[stop] == ASCII.carriageReturn else { throw self.stray(bytes, at: stop, side: side) }
            guard stop + 1 < end else { return nil }
            guard bytes[stop + 1] == ASCII.lineFeed else { throw self.stray(bytes, at: stop, side: side) }
            if stop > self.lineStart { return self.lineStart..<stop }
            // RFC 9112, 2.2: a server ignores empty lines before a request line. Only a few, because a peer could send them forever.
            guard side == .request, stop < self.limits.leadingEmptyLines * 2 else {
                throw side.fault(.lineEnd, "\(side.name) begins with empty lines; begin with the \(side.startLineName)")
            }
            self.lineStart = stop + 2
            self.scanned = stop + 2
        }
    }

    private func stray(_ bytes: UnsafeRawBufferPointer, at index: Int, side: MessageSide) -> MessageError {
        let before = ASCII.quoted(bytes[self.lineStart..<index])
        switch bytes[index] {
        case ASCII.carriageReturn:
            return side.fault(.lineEnd, "\(side.startLineName) has a bare carriage return after \(before); end lines with CRLF")
        case ASCII.lineFeed:
            return side.fault(.lineEnd, "\(side.startLineName) has a bare line feed after \(before); end lines with CRLF")
        default:
            return side.fault(
                .startLine, "\(side.startLineName) has the control byte \(ASCII.escaped(bytes[index])) after \(before); percent-encode it"
            )
        }
    }
}

/// A head and the number of bytes it took, including its final empty line.
public struct Parsed<Head: Sendable>: Sendable {
    public var head: Head
    public var consumed: Int
}

extension Parsed: Equatable where Head: Equatable {}

/// Parses request lines and status lines (RFC 9112, 3 and 4).
///
/// Takes whole lines without their CRLF and without control bytes other than HTAB. Leaves the fields empty.
enum StartLine {
    static func request(_ line: UnsafeRawBufferPointer) throws(MessageError) -> RequestHead {
        var methodEnd = 0
        while methodEnd < line.count, ASCII.isToken(line[methodEnd]) { methodEnd += 1 }
        guard methodEnd > 0, methodEnd < line.count, line[methodEnd] == ASCII.space else {
            throw self.refused(line, "must begin with a method and one space")
        }
        let targetStart = methodEnd + 1
        var targetEnd = targetStart
        var isASCII = true
        while targetEnd < line.count, ASCII.isVisible(line[targetEnd]) || line[targetEnd] >= 0x80 {
            if line[targetEnd] >= 0x80 { isASCII = false }
            targetEnd += 1
        }
        guard targetEnd > targetStart else { throw self.refused(line, "needs a target after one space") }
        guard targetEnd < line.count else { throw self.refused(line, "has no version; end it with \"HTTP/1.1\"") }
        guard line[targetEnd] == ASCII.space else {
            throw self.refused(line, "has the byte \(ASCII.escaped(line[targetEnd])) in its target; percent-encode it")
        }
        let version = try self.version(line, from: targetEnd + 1, side: .request)
        guard targetEnd + 9 == line.count else { throw self.refused(line, "must end after its version") }
        var head = RequestHead(
            method: String(decoding: line[..<methodEnd], as: UTF8.self),
            target: isASCII ? String(decoding: line[targetStart..<targetEnd], as: UTF8.self) : "",
            version: version, fields: HeaderFields())
        if !isASCII { head.take(target: line[targetStart..<targetEnd]) }
        return head
    }

    static func response(_ line: UnsafeRawBufferPointer) throws(MessageError) -> ResponseHead {
        let version = try self.version(line, from: 0, side: .response)
        guard line.count >= 12, line[8] == ASCII.space, line[9..<12].allSatisfy(ASCII.isDigit) else {
            throw self.refusedStatus(line, "needs one space and three digits after its version")
        }
        let status = Int(line[9] - 48) * 100 + Int(line[10] - 48) * 10 + Int(line[11] - 48)
        // RFC 9110, 15: codes from 600 are invalid but in use, and a client treats them as 5xx. Codes below 100 have no meaning at all.
        guard status >= 100 else { throw self.refusedStatus(line, "has a status below 100") }
        guard line.count == 12 || line[12] == ASCII.space else {
            throw self.refusedStatus(line, "needs a space between status and reason")
        }
        return ResponseHead(
            version: version, status: status, reason: Array(line.dropFirst(13)), omitsReasonSpace: line.count == 12,
            fields: HeaderFields())
    }

    /// Parses the eight bytes of `HTTP/1.x`.
    private static func version(_ line: UnsafeRawBufferPointer, from start: Int, side: MessageSide) throws(MessageError) -> HTTPVersion {
        guard line.count >= start + 8, line[start + 6] == UInt8(ascii: "."), ASCII.isDigit(line[start + 5]),
            ASCII.isDigit(line[start + 7]), line[start..<start + 5].elementsEqual("HTTP/".utf8)
        else {
            let next = "must have a version like \"HTTP/1.1\""
            throw side == .request ? self.refused(line, next) : self.refusedStatus(line, next)
        }
        let version = HTTPVersion(major: Int(line[start + 5] - 48), minor: Int(line[start + 7] - 48))
        guard version.major == 1 else {
            throw side.fault(.version, status: 505, "\(side.startLineName) \(ASCII.quoted(line)) is not HTTP/1; send HTTP/1.1")
        }
        return version
    }

    private static func refused(_ line: UnsafeRawBufferPointer, _ reason: String) -> MessageError {
        MessageSide.request.fault(.startLine, "request line \(ASCII.quoted(line)) \(reason)")
    }

    private static func refusedStatus(_ line: UnsafeRawBufferPointer, _ reason: String) -> MessageError {
        MessageSide.response.fault(.startLine, "status line \(ASCII.quoted(line)) \(reason)")
    }
}
