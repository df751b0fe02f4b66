internal import CassetteFormat
public import CassetteModel
internal import CassetteRedaction
public import CassetteStore
public import TapeBytes

/// Moves the dates of a recorded answer forward by the time between recording and replay, so that the answer is as old as it was then.
///
/// All exchanges are moved by the same amount, which keeps the intervals between them, and dates that are equal in two answers. Ages in
/// seconds (`max-age`, `Age`), tokens with their own signature, and dates that no rule names are not changed. `exp`, `iat` and `nbf` are
/// moved in JSON Web Tokens that replace redacted ones.
public struct DateRefresh: Sendable, Hashable {
    /// A larger body is not searched, since it would have to be held in memory.
    static let bodyLimit = BodyFacets.memoryLimit

    private let rules: RefreshRules
    private let shift: DateShift

    /// - Parameter shift: from the start of the recording to the start of the replay.
    public init(_ rules: RefreshRules, shift: DateShift) {
        self.rules = rules
        self.shift = shift
    }

    /// The inverse, for the dates in live requests.
    public var liveDates: LiveDates { LiveDates(self.shift) }

    /// - Parameters:
    ///   - bodies: reads the files next to the cassette.
    ///   - digest: makes a SHA-256.
    ///
    /// Throws if the body cannot be read, provided that a rule names a date in it, or that it is decoded to be searched for tokens.
    public func refresh(
        _ interaction: inout Interaction, bodies: BodyReader, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) {
        guard var response = interaction.response else { return }
        response.headers = Self.refreshed(response.headers, self.shift)
        response.trailers = response.trailers.map { Self.refreshed($0, self.shift) }
        if let body = response.body, body.isComplete, body.byteCount <= Self.bodyLimit, !Self.hasMessages(body),
            !self.rules.pointers.isEmpty || Self.mayHoldTokens(body)
        {
            try self.refresh(body, of: &response, bodies, digest)
        }
        interaction.response = response
    }

    // MARK: Header fields

    static func refreshed(_ fields: HeaderFields, _ shift: DateShift) -> HeaderFields {
        var refreshed = HeaderFields()
        for index in 0..<fields.count {
            var line = Array(fields.line(at: index))
            if Self.isDate(fields, index) {
                self.move(&line, from: fields.nameBytes(at: index).count + 1, shift)
            } else if fields.isNamed("set-cookie", at: index), let start = Self.expiry(line) {
                self.move(&line, from: start, shift)
            }
            let tokens = line.withUnsafeBytes { WebTokenTimes.edits(in: $0, shifted: shift.shifted(unixTime:)) }
            refreshed.append(line: tokens.isEmpty ? line : tokens.applied(to: line))
        }
        return refreshed
    }

    /// The length of a token may change, which would contradict the length in the message's prefix.
    private static func hasMessages(_ body: Body) -> Bool { if case .grpc = body.content { true } else { false } }

    /// Binary bodies contain no tokens; all others are decoded.
    private static func mayHoldTokens(_ body: Body) -> Bool {
        if case .binary = body.content { return false }
        return body.content.inlineBytes.map { bytes in bytes.withUnsafeBytes { WebTokenTimes.mayBeIn($0) } } ?? true
    }

    private static func isDate(_ fields: HeaderFields, _ index: Int) -> Bool {
        // Retry-After in seconds is not a date and is left as it is.
        fields.isNamed("date", at: index) || fields.isNamed("expires", at: index) || fields.isNamed("last-modified", at: index)
            || fields.isNamed("retry-after", at: index)
    }

    /// Moves the HTTP date between an offset and a semicolon or the end. White space around it is kept.
    static func move(_ line: inout [UInt8], from offset: Int, _ shift: DateShift) {
        let isSpace = { (byte: UInt8) in byte == 32 || byte == 9 }
        let rest = line[min(offset, line.count)...].prefix { $0 != UInt8(ascii: ";") }.drop(while: isSpace)
        guard let last = rest.lastIndex(where: { !isSpace($0) }) else { return }
        let date = rest.startIndex..<last + 1
        guard let moved = shift.shifted(httpDate: String(decoding: line[date], as: UTF8.self)) else { return }
        line.replaceSubrange(date, with: moved.utf8)
    }

    /// The offset after `expires=` among a cookie's attributes (RFC 6265, 4.1.1).
    private static func expiry(_ line: [UInt8]) -> Int? {
        let name = Array("expires=".utf8)
        guard var index = line.firstIndex(of: UInt8(ascii: ";")) else { return nil }
        while index < line.count {
            index += 1
            while index < line.count, line[index] == 32 { index += 1 }
            if line[index...].prefix(name.count).elementsEqual(name, by: { $0 | 0x20 == $1 | 0x20 }) { return index + name.count }
            guard let next = line[index...].firstIndex(of: UInt8(ascii: ";")) else { return nil }
            index = next
        }
        return nil
    }

    // MARK: The body

    private func refresh(
        _ body: Body, of response: inout RecordedResponse, _ bodies: BodyReader,
        _ digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) {
        let content: [UInt8]
        do {
            content = try BodyRestorer.decodedBytes(of: body, file: { try bodies.read($0, digest: digest()) }, raw: { try bodies.read($0) })
        } catch {
            throw CassetteError(restoring: error)
        }
        let edits = content.withUnsafeBytes { text in
            let dates = self.rules.pointers.isEmpty ? nil : JSONDates(pointers: self.rules.pointers, shift: self.shift).edits(in: text)
            return EditList((dates?.edits ?? []) + WebTokenTimes.edits(in: text, shifted: self.shift.shifted(unixTime:)).edits)
        }
        try response.edit(body, content, edits, bodies: bodies, digest: digest)
    }
}

/// Selects the dates of a recorded answer that are moved to the time of its replay.
///
/// Dates in header fields always are; dates in a JSON body are moved if a pointer names them.
public struct RefreshRules: Sendable, Hashable {
    /// The same limit as for match rules, far more than an API has dates.
    static let limit = 64

    public let pointers: [PlacePointer]

    /// Header fields only.
    public static let standard = RefreshRules(pointers: [])

    private init(pointers: [PlacePointer]) { self.pointers = pointers }

    /// Takes `json:/created_at`, `json:/items/*/expires`.
    public init(_ rules: [String]) throws(MatchRuleError) {
        guard rules.count <= Self.limit else {
            throw MatchRuleError(
                .tooMany, "\(rules.count) dates to refresh are named, but at most \(Self.limit) are allowed; use \"*\" in pointers")
        }
        var pointers: [PlacePointer] = []
        for rule in rules {
            guard case .json(let pointer)? = try? MatchPlace(rule) else {
                throw MatchRuleError(
                    .unknownPlace,
                    "\"\(PlainText.escape(rule.utf8, limit: 80))\" does not name a date in an answer; write \"json:/POINTER\" (header fields are always refreshed)"
                )
            }
            pointers.append(pointer)
        }
        self.pointers = pointers
    }
}

/// Finds the dates in a JSON text that pointers name, and moves them.
///
/// Strings and numbers that are not dates are left as they are, including tokens.
struct JSONDates {
    private struct Container {
        var isObject: Bool
        var index = 0
        var name: [UInt8] = []
    }

    let pointers: [PlacePointer]
    let shift: DateShift

    /// Nil if the text is not JSON.
    func edits(in text: UnsafeRawBufferPointer) -> EditList? {
        var tokenizer = JSONTokenizer(text, from: 0)
        var stack: [Container] = []
        var edits: [Edit] = []
        while let token = tokenizer.next() {
            switch token.kind {
            case .end: return EditList(edits)
            case .colon, .yes, .no, .null: continue
            case .comma: if let last = stack.indices.last { stack[last].index += 1 }
            case .name: if let last = stack.indices.last { stack[last].name = Self.name(token, text) }
            case .beginObject, .beginArray: stack.append(Container(isObject: token.kind == .beginObject))
            case .endObject, .endArray: stack.removeLast()
            case .string, .number:
                let range = token.kind == .string ? token.start + 1..<token.end - 1 : token.start..<token.end
                guard !token.isEscaped, self.isNamed(stack) else { continue }
                let value = String(decoding: text[range], as: UTF8.self)
                guard let moved = token.kind == .string ? self.shift.shifted(value) : self.shift.shifted(unixTime: value) else { continue }
                edits.append(Edit(range: range, bytes: Array(moved.utf8)))
            }
        }
        return nil
    }

    private static func name(_ token: JSONToken, _ text: UnsafeRawBufferPointer) -> [UInt8] {
        let bytes = UnsafeRawBufferPointer(rebasing: text[(token.start + 1)..<(token.end - 1)])
        guard token.isEscaped else { return Array(bytes) }
        return Finding.Spelling.json.decode(bytes) ?? Array(bytes)
    }

    private func isNamed(_ stack: [Container]) -> Bool {
        self.pointers.contains { pointer in
            guard pointer.segments.count == stack.count else { return false }
            return zip(pointer.segments, stack).allSatisfy { segment, container in
                switch segment {
                case .any: true
                case .name(let name): container.isObject ? container.name == name : Array("\(container.index)".utf8) == name
                }
            }
        }
    }
}

/// Moves the dates of live conditional requests back to the time of the recording, since clients send dates that they got from refreshed
/// answers.
///
/// Only header fields: dates in URLs and bodies are left as they are.
public struct LiveDates: Sendable, Hashable {
    private static let names: [StaticString] = ["if-modified-since", "if-unmodified-since", "if-range"]

    private let shift: DateShift

    /// - Parameter shift: the shift applied to answers.
    public init(_ shift: DateShift) { self.shift = DateShift(seconds: -shift.seconds) }

    /// Nil if no date is moved.
    public func recorded(_ headers: HeaderFields) -> HeaderFields? {
        guard (0..<headers.count).contains(where: { Self.isDate(headers, $0) }) else { return nil }
        var moved = HeaderFields()
        for index in 0..<headers.count {
            var line = Array(headers.line(at: index))
            if Self.isDate(headers, index) {
                DateRefresh.move(&line, from: headers.nameBytes(at: index).count + 1, self.shift)
            }
            moved.append(line: line)
        }
        return moved == headers ? nil : moved
    }

    private static func isDate(_ fields: HeaderFields, _ index: Int) -> Bool { self.names.contains { fields.isNamed($0, at: index) } }
}
