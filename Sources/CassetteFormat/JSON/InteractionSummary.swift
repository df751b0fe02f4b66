internal import CassetteModel
public import TapeBytes

/// What an index of a cassette holds of each interaction.
public struct InteractionSummary: Sendable, Hashable {
    public var id: Int
    public var started: Timestamp
    public var method: String
    public var url: String
    /// False if it is certain that the request has no body.
    public var mayHaveRequestBody: Bool

    public init(id: Int, started: Timestamp, method: String, url: String, mayHaveRequestBody: Bool = false) {
        self.id = id
        self.started = started
        self.method = method
        self.url = url
        self.mayHaveRequestBody = mayHaveRequestBody
    }
}

/// Skims one interaction for its summary, and stops as soon as it has that.
///
/// Proves nothing about the rest of the text: `InteractionDecoder` does.
public enum InteractionSummaryReader {
    /// Nil if a needed member is missing, or the text up to it is not JSON.
    public static func read(_ bytes: UnsafeRawBufferPointer) -> InteractionSummary? {
        var tokenizer = JSONTokenizer(bytes)
        guard tokenizer.next()?.kind == .beginObject else { return nil }
        var id: Int?
        var started: Timestamp?
        var method: String?
        var url: String?
        var wanted = Wanted.none
        // Depth 1 is the interaction, depth 2 within `isRequest` its request.
        var isRequest = false
        // Nil until the request's end, or its body, was seen.
        var hasBody: Bool?

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
                }
                continue
            case .colon: continue
            case .number where wanted == .id: id = self.int(bytes, token)
            case .string where wanted == .started:
                started = Timestamp.parse(UnsafeRawBufferPointer(rebasing: bytes[token.start + 1..<token.end - 1]))
            case .string where wanted == .method: method = self.string(bytes, token)
            case .string where wanted == .url: url = self.string(bytes, token)
            case .endObject where isRequest && tokenizer.depth == 1: hasBody = hasBody ?? false
            case .end: return nil
            case .beginObject, .endObject, .beginArray, .endArray, .comma, .string, .number, .yes, .no, .null: break
            }
            wanted = .none
            if let id, let started, let method, let url, let hasBody {
                return InteractionSummary(id: id, started: started, method: method, url: url, mayHaveRequestBody: hasBody)
            }
        }
        // The decoder reports what is wrong after the URL.
        guard let id, let started, let method, let url else { return nil }
        return InteractionSummary(id: id, started: started, method: method, url: url, mayHaveRequestBody: true)
    }

    private enum Wanted { case none, id, started, method, url }

    @inline(__always)
    private static func matches(_ bytes: UnsafeRawBufferPointer, _ token: JSONToken, _ name: StaticString) -> Bool {
        let length = name.utf8CodeUnitCount
        guard token.end - token.start == length + 2 else { return false }
        for index in 0..<length where bytes[token.start + 1 + index] != name.utf8Start[index] { return false }
        return true
    }

    private static func int(_ bytes: UnsafeRawBufferPointer, _ token: JSONToken) -> Int? {
        guard token.end - token.start <= 18 else { return nil }
        var value = 0
        for byte in bytes[token.start..<token.end] {
            guard byte >= 48, byte <= 57 else { return nil }
            value = value * 10 + Int(byte - 48)
        }
        return value
    }

    private static func string(_ bytes: UnsafeRawBufferPointer, _ token: JSONToken) -> String? {
        let inner = UnsafeRawBufferPointer(rebasing: bytes[token.start + 1..<token.end - 1])
        guard token.isEscaped else { return String(decoding: inner, as: UTF8.self) }
        return JSONStringDecoder.decode(Array(inner)[...]).map { String(decoding: $0, as: UTF8.self) }
    }
}
