/// Reads the heads of one direction of a connection, strictly after RFC 9112.
///
/// Remembers how far it read: call it again with the same bytes and more behind them, always from the head's first byte. It
/// starts over after each head and each error. Does not look at what a field means: see `BodyFraming` and `HostRule`.
public struct HeadParser: Sendable {
    private let limits: Limits
    /// Offset of the start line, behind skipped empty lines.
    private var lineStart = 0
    private var scanned = 0
    private var request: RequestHead?
    private var response: ResponseHead?
    private var sectionStart = 0
    private var section: FieldSectionParser?

    public init(limits: Limits = Limits()) {
        self.limits = limits
    }

    /// The request head at the start of `bytes`, or nil while its end is missing.
    public mutating func parseRequest(_ bytes: UnsafeRawBufferPointer) throws(MessageError) -> Parsed<RequestHead>? {
        do throws(MessageError) {
            guard let end = try self.parse(bytes, side: .request), var head = self.request, let section = self.section else { return nil }
            head.fields = section.fields
            self = HeadParser(limits: self.limits)
            return Parsed(head: head, consumed: end)
        } catch {
            self = HeadParser(limits: self.limits)
            throw error
        }
    }

    /// The response head at the start of `bytes`, or nil while its end is missing.
    public mutating func parseResponse(_ bytes: UnsafeRawBufferPointer) throws(MessageError) -> Parsed<ResponseHead>? {
        do throws(MessageError) {
            guard let end = try self.parse(bytes, side: .response), var head = self.response, let section = self.section else { return nil }
            head.fields = section.fields
            self = HeadParser(limits: self.limits)
            return Parsed(head: head, consumed: end)
        } catch {
            self = HeadParser(limits: self.limits)
            throw error
        }
    }

    /// Whether bytes of a head have been seen: an end of input now cuts a message.
    public var isInsideHead: Bool { self.section != nil || self.scanned > self.lineStart }

    private mutating func parse(_ bytes: UnsafeRawBufferPointer, side: MessageSide) throws(MessageError) -> Int? {
        // A buffer that shrank is another message.
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
            // Two bytes of room for the CRLF behind a line of exactly the limit.
            let end = min(bytes.count, limit + 2)
            let stop = Octets.firstControl(in: bytes, from: max(self.scanned, self.lineStart), to: end)
            self.scanned = stop
            guard stop <= limit else {
                throw side.fault(
                    .tooLong, status: 414, "\(side.startLineName) is longer than \(self.limits.startLine) bytes; send a shorter target")
            }
            guard stop < end else { return nil }
            guard bytes[stop] == Octets.carriageReturn else { throw self.stray(bytes, at: stop, side: side) }
            guard stop + 1 < end else { return nil }
            guard bytes[stop + 1] == Octets.lineFeed else { throw self.stray(bytes, at: stop, side: side) }
            if stop > self.lineStart { return self.lineStart..<stop }
            // RFC 9112, 2.2: a server ignores empty lines before a request line; a few, or a peer could send them for ever.
            guard side == .request, stop < self.limits.leadingEmptyLines * 2 else {
                throw side.fault(.lineEnd, "\(side.name) begins with empty lines; begin with the \(side.startLineName)")
            }
            self.lineStart = stop + 2
            self.scanned = stop + 2
        }
    }

    private func stray(_ bytes: UnsafeRawBufferPointer, at index: Int, side: MessageSide) -> MessageError {
        let before = Octets.quoted(bytes[self.lineStart..<index])
        switch bytes[index] {
        case Octets.carriageReturn:
            return side.fault(.lineEnd, "\(side.startLineName) has a bare carriage return behind \(before); end lines with CRLF")
        case Octets.lineFeed:
            return side.fault(.lineEnd, "\(side.startLineName) has a bare line feed behind \(before); end lines with CRLF")
        default:
            return side.fault(
                .startLine, "\(side.startLineName) has the control byte \(Octets.escaped(bytes[index])) behind \(before); percent-encode it"
            )
        }
    }
}
