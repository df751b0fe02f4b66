public import CassetteModel
public import TapeBytes

/// The data about each interaction in the index of a cassette.
public struct InteractionSummary: Sendable, Hashable {
    public var id: Int
    public var started: Timestamp
    public var method: String
    public var url: String
    /// False if the request certainly has no body.
    public var mayHaveRequestBody: Bool
    /// The status of the response; nil if it is not in the skimmed part of the interaction, as after a request body.
    public var status: Int?
    /// False if the request certainly has none of `DecidingFields`.
    public var mayHaveDecidingFields: Bool
    /// False if the request certainly has no credentials that authenticate its connection.
    public var mayLogIn: Bool

    public init(
        id: Int, started: Timestamp, method: String, url: String, mayHaveRequestBody: Bool = false, status: Int? = nil,
        mayHaveDecidingFields: Bool = false, mayLogIn: Bool = false
    ) {
        self.id = id
        self.started = started
        self.method = method
        self.url = url
        self.mayHaveRequestBody = mayHaveRequestBody
        self.status = status
        self.mayHaveDecidingFields = mayHaveDecidingFields
        self.mayLogIn = mayLogIn
    }
}

/// Skims one interaction for its summary, and stops as soon as it is complete.
///
/// Does not validate the rest of the text; `InteractionDecoder` does.
public enum InteractionSummaryReader {
    /// The result, with texts as ranges of the interaction.
    struct Skimmed {
        var id: Int
        var started: Timestamp
        /// Between its quotes.
        var method: Range<Int>
        var url: Range<Int>
        var hasEscapes: Bool
        var mayHaveRequestBody: Bool
        var status: Int?
        var mayHaveDecidingFields: Bool
        var mayLogIn: Bool
    }

    /// Nil if a required member is missing, or the text up to it is not JSON.
    public static func read(_ bytes: UnsafeRawBufferPointer) -> InteractionSummary? {
        guard let skimmed = self.skim(bytes), let method = self.string(bytes, skimmed.method, skimmed.hasEscapes),
            let url = self.string(bytes, skimmed.url, skimmed.hasEscapes)
        else { return nil }
        return InteractionSummary(
            id: skimmed.id, started: skimmed.started, method: method, url: url, mayHaveRequestBody: skimmed.mayHaveRequestBody,
            status: skimmed.status, mayHaveDecidingFields: skimmed.mayHaveDecidingFields,
            mayLogIn: skimmed.mayLogIn)
    }

    private static func string(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>, _ hasEscapes: Bool) -> String? {
        let inner = UnsafeRawBufferPointer(rebasing: bytes[range])
        guard hasEscapes else { return String(decoding: inner, as: UTF8.self) }
        return JSONStringDecoder.decode(Array(inner)[...]).map { String(decoding: $0, as: UTF8.self) }
    }

    static func skim(_ bytes: UnsafeRawBufferPointer) -> Skimmed? { self.skimLines(bytes) ?? self.skimTokens(bytes) }

    /// The header fields of the request; nil if they are not plain strings.
    public static func requestHeaders(_ bytes: UnsafeRawBufferPointer) -> HeaderFields? {
        var tokenizer = JSONTokenizer(bytes)
        var (isRequest, isHeaders) = (false, false)
        var headers = HeaderFields()
        while let token = tokenizer.next(), token.kind != .end {
            switch token.kind {
            case .name where tokenizer.depth == 1:
                if isRequest { return headers }
                isRequest = self.matches(bytes, token, "request")
            case .name where tokenizer.depth == 2 && isRequest: isHeaders = self.matches(bytes, token, "headers")
            case .string where isRequest && isHeaders && tokenizer.depth == 3:
                guard !token.isEscaped else { return nil }
                headers.append(line: bytes[token.start + 1..<token.end - 1])
            case .beginObject where isRequest && isHeaders && tokenizer.depth == 4: return nil
            case .endArray where isRequest && isHeaders && tokenizer.depth == 2: return headers
            default: continue
            }
        }
        return headers
    }

    /// For the recorder's layout; nil for any other.
    static func skimLines(_ bytes: UnsafeRawBufferPointer) -> Skimmed? { RecorderLayout.skim(bytes) }

    /// For any layout.
    static func skimTokens(_ bytes: UnsafeRawBufferPointer) -> Skimmed? {
        var tokenizer = JSONTokenizer(bytes)
        guard tokenizer.next()?.kind == .beginObject else { return nil }
        var id: Int?
        var started: Timestamp?
        var method: JSONToken?
        var url: JSONToken?
        var wanted = Wanted.none
        // Depth 1 is the interaction, depth 2 within `isRequest` its request.
        var isRequest = false
        var isHeaders = false
        var hasDecidingFields = false
        var mayLogIn = false
        // Nil until the request's end or its body was found.
        var hasBody: Bool?
        func skimmed(_ hasBody: Bool) -> Skimmed? {
            guard let id, let started, let method, let url else { return nil }
            return Skimmed(
                id: id, started: started, method: method.start + 1..<method.end - 1, url: url.start + 1..<url.end - 1,
                hasEscapes: method.isEscaped || url.isEscaped, mayHaveRequestBody: hasBody, mayHaveDecidingFields: hasDecidingFields,
                mayLogIn: mayLogIn)
        }

        while let token = tokenizer.next() {
            switch token.kind {
            case .name:
                wanted = .none
                if tokenizer.depth == 1 {
                    if isRequest { hasBody = hasBody ?? false }
                    isRequest = self.matches(bytes, token, "request")
                    if self.matches(bytes, token, "id") { wanted = .id }
                    if self.matches(bytes, token, "started") { wanted = .started }
                } else if tokenizer.depth == 2, isRequest {
                    if self.matches(bytes, token, "method") { wanted = .method }
                    if self.matches(bytes, token, "url") { wanted = .url }
                    if self.matches(bytes, token, "body") { hasBody = true }
                    isHeaders = self.matches(bytes, token, "headers")
                }
                continue
            case .colon: continue
            case .number where wanted == .id: id = self.int(bytes, token.start..<token.end)
            case .string where wanted == .started:
                started = Timestamp.parse(UnsafeRawBufferPointer(rebasing: bytes[token.start + 1..<token.end - 1]))
            case .string where isRequest && isHeaders && tokenizer.depth == 3:
                // A name may contain escapes.
                let line = UnsafeRawBufferPointer(rebasing: bytes[token.start + 1..<token.end - 1])
                if token.isEscaped || DecidingFields.isOne(line) { hasDecidingFields = true }
                if token.isEscaped || ConnectionAuthentication.isUsed(byLine: line) { mayLogIn = true }
            case .beginObject where isRequest && isHeaders && tokenizer.depth == 4: (hasDecidingFields, mayLogIn) = (true, true)
            case .string where wanted == .method: method = token
            case .string where wanted == .url: url = token
            case .endObject where isRequest && tokenizer.depth == 1: hasBody = hasBody ?? false
            case .end: return nil
            case .beginObject, .endObject, .beginArray, .endArray, .comma, .string, .number, .yes, .no, .null: break
            }
            wanted = .none
            if let hasBody, var skimmed = skimmed(hasBody) {
                if token.kind == .endObject { skimmed.status = self.status(bytes, &tokenizer) }
                return skimmed
            }
        }
        // The decoder reports errors after the URL.
        return skimmed(true)
    }

    /// The status of a response that directly follows the request.
    private static func status(_ bytes: UnsafeRawBufferPointer, _ tokenizer: inout JSONTokenizer) -> Int? {
        guard tokenizer.next()?.kind == .comma, let response = tokenizer.next(), response.kind == .name,
            self.matches(bytes, response, "response"), tokenizer.next()?.kind == .colon, tokenizer.next()?.kind == .beginObject,
            let status = tokenizer.next(), status.kind == .name, self.matches(bytes, status, "status"), tokenizer.next()?.kind == .colon,
            let number = tokenizer.next(), number.kind == .number
        else { return nil }
        return self.int(bytes, number.start..<number.end)
    }

    private enum Wanted { case none, id, started, method, url }

    @inline(__always)
    private static func matches(_ bytes: UnsafeRawBufferPointer, _ token: JSONToken, _ name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard token.end - token.start == length + 2 else { return false }
        for index in 0..<length where bytes[token.start + 1 + index] != name.utf8Start[index] { return false }
        return true
    }

    fileprivate static func int(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        guard !range.isEmpty, range.count <= 18 else { return nil }
        var value = 0
        for byte in bytes[range] {
            guard byte >= 48, byte <= 57 else { return nil }
            value = value * 10 + Int(byte - 48)
        }
        return value
    }
}

/// Skims interactions in the recorder's layout: one line for each member, in the recorder's order.
///
/// Takes a tenth of the time of reading token by token. Gives up at the first line that differs.
private struct RecorderLayout {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var hasDecidingFields = false
    private var mayLogIn = false

    static func skim(_ bytes: UnsafeRawBufferPointer) -> InteractionSummaryReader.Skimmed? {
        var layout = RecorderLayout(bytes: bytes)
        guard layout.take("{\n      \"id\": "), let id = InteractionSummaryReader.int(bytes, layout.number()),
            layout.take(",\n      \"started\": \""), let time = layout.text(),
            let started = Timestamp.parse(UnsafeRawBufferPointer(rebasing: bytes[time])),
            layout.take(",\n      \"request\": {\n        \"method\": \""), let method = layout.text(),
            layout.take(",\n        \"url\": \""), let url = layout.text(), let hasBody = layout.hasBody()
        else { return nil }
        return InteractionSummaryReader.Skimmed(
            id: id, started: started, method: method, url: url, hasEscapes: false, mayHaveRequestBody: hasBody,
            status: hasBody ? nil : layout.status(), mayHaveDecidingFields: layout.hasDecidingFields, mayLogIn: layout.mayLogIn)
    }

    private init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    @inline(__always)
    private mutating func take(_ text: StaticString) -> Bool {
        guard self.bytes.has(text, at: self.offset) else { return false }
        self.offset += text.utf8CodeUnitCount
        return true
    }

    private mutating func number() -> Range<Int> {
        let start = self.offset
        while self.offset < self.bytes.count, self.bytes[self.offset] >= 48, self.bytes[self.offset] <= 57 { self.offset += 1 }
        // JSON has no leading zeros.
        return self.offset - start > 1 && self.bytes[start] == 48 ? start..<start : start..<self.offset
    }

    /// The status of a response that follows the request.
    private mutating func status() -> Int? {
        guard self.take(",\n      \"response\": {\n        \"status\": ") else { return nil }
        return InteractionSummaryReader.int(self.bytes, self.number())
    }

    /// A string after its opening quote. Advances past the closing quote; nil if it has escapes.
    private mutating func text() -> Range<Int>? {
        let start = self.offset
        let end = ByteScan.endOfPlain(self.bytes, from: start, stopAtDelete: false)
        guard end < self.bytes.count, self.bytes[end] == UInt8(ascii: "\"") else { return nil }
        self.offset = end + 1
        return start..<end
    }

    /// Whether the request has a body, judging by its lines. Each must be a member, or an element of an array whose brackets end and begin
    /// a line.
    private mutating func hasBody() -> Bool? {
        while self.offset < self.bytes.count {
            _ = self.take(",")
            if self.take("\n      }") { return false }
            guard self.take("\n        ") else { return nil }
            if self.take("  \"") {
                let line = UnsafeRawBufferPointer(rebasing: self.bytes[self.offset...])
                if DecidingFields.isOne(line) { self.hasDecidingFields = true }
                if ConnectionAuthentication.isUsed(byLine: line) { self.mayLogIn = true }
                guard self.skipText() else { return nil }
            } else if self.take("  { \"latin1\": \"") {
                (self.hasDecidingFields, self.mayLogIn) = (true, true)
                guard self.skipText(), self.take(" }") else { return nil }
            } else if self.take("\"body\": ") {
                return true
            } else if self.take("\"") {
                guard self.skipMember() else { return nil }
            } else if !self.take("]") {
                return nil
            }
        }
        return nil
    }

    /// Advances past the closing quote.
    private mutating func skipText() -> Bool {
        while true {
            self.offset = ByteScan.endOfPlain(self.bytes, from: self.offset, stopAtDelete: false)
            guard self.offset < self.bytes.count else { return false }
            if self.take("\"") { return true }
            guard self.bytes[self.offset] == UInt8(ascii: "\\") else { return false }
            self.offset += 2
        }
    }

    /// Skips a member after the opening quote of its name. Its value must be a string, number, literal or array. A duplicate of a member
    /// that was already read makes it fail, so that the tokens are read instead.
    private mutating func skipMember() -> Bool {
        guard !self.take("method\""), !self.take("url\""), self.skipText(), self.take(": ") else { return false }
        if self.take("\"") { return self.skipText() }
        if self.take("[") {
            _ = self.take("]")
            return true
        }
        let start = self.offset
        while self.offset < self.bytes.count, Self.isScalar(self.bytes[self.offset]) { self.offset += 1 }
        return self.offset > start
    }

    private static func isScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }
}
