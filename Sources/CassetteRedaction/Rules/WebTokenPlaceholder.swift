internal import CassetteModel
internal import TapeBytes

/// The replacement for a JSON Web Token in a cassette: a token that can be decoded, but does not reveal its subject (RFC 7519; RFC 7515,
/// 7.1).
///
/// The header and the times `exp`, `iat` and `nbf` are kept, so that apps that read them continue to work. Every other claim keeps its name
/// and type. The signature is replaced by a text that says so, with the placeholder's kind and number. The token is recognised by this text
/// alone, whatever its times are.
enum WebTokenPlaceholder {
    /// The longest token that is made or recognised, in bytes; a longer one gets a plain placeholder.
    static let limit = 8192

    /// Header members that name algorithms and keys. Embedded keys and certificates would reveal who made the token.
    private static let keptInHeader: Set<String> = ["alg", "typ", "cty", "kid", "enc", "zip", "crit", "b64"]
    static let times: Set<String> = ["exp", "iat", "nbf"]
    /// Replaces a string.
    private static let noText = Array("\"redacted\"".utf8)

    /// Valid base64url, so that decoders accept it.
    private static let signature = Array("signature-removed-".utf8)

    /// The replacement for a token. Nil if the token does not have three segments, the first two of which are JSON objects, or if it is too
    /// long.
    ///
    /// - Parameter claims: the claims that are kept in addition to the times.
    static func bytes(for token: [UInt8], kind: String, number: Int, keeping claims: Set<String>) -> [UInt8]? {
        guard token.count <= Self.limit, token.starts(with: "eyJ".utf8) else { return nil }
        let segments = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard segments.count == 3, segments[2].allSatisfy(Self.isPart), let header = Base64URL.decode(segments[0]),
            let payload = Base64URL.decode(segments[1]),
            let shownHeader = Self.emptied(header, keeping: Self.keptInHeader, needing: "alg"),
            let shownPayload = Self.emptied(payload, keeping: claims, times: Self.times)
        else { return nil }
        var result = Base64URL.encode(shownHeader)
        result.append(UInt8(ascii: "."))
        result += Base64URL.encode(shownPayload)
        result.append(UInt8(ascii: "."))
        var mark = Self.signature + Array("\(self.kind(kind))-\(number)".utf8)
        // Padded so that it decodes to whole bytes with any decoder.
        while mark.count % 4 != 0 { mark.append(UInt8(ascii: "-")) }
        result += mark
        // An empty header would have a different beginning, and not be recognised again.
        guard result.count <= Self.limit, result.starts(with: "eyJ".utf8) else { return nil }
        return result
    }

    /// A kind as spelled in a signature; dots would separate segments of the token.
    static func kind(_ kind: String) -> String { kind.replacing(".", with: "_") }

    /// A JSON object without its values, except for those of some members; nil if the JSON is not an object.
    ///
    /// - Parameters:
    ///   - times: members that are kept if they are numbers.
    ///   - needed: a member that must be present.
    private static func emptied(
        _ json: [UInt8], keeping kept: Set<String>, times: Set<String> = [], needing needed: String? = nil
    ) -> [UInt8]? {
        guard UTF8Validator.isValid(json) else { return nil }
        return json.withUnsafeBytes { text in
            var tokenizer = JSONTokenizer(text, from: 0, depthLimit: 16)
            var result: [UInt8] = []
            var depth = 0
            var member = ""
            var names: Set<String> = []
            while let token = tokenizer.next() {
                let bytes = text[token.start..<token.end]
                let isKept = depth > 0 && kept.contains(member)
                switch token.kind {
                case .end: return needed.map(names.contains) ?? true ? result : nil
                case .name:
                    if depth == 1 {
                        member = Self.name(token, text)
                        // With a duplicate name, it is unclear which value applies.
                        guard names.insert(member).inserted else { return nil }
                        // URLs are common names of claims (RFC 7519, 4.2), e-mail addresses are not.
                        let isAddress = !kept.contains(member) && bytes.contains(UInt8(ascii: "@"))
                        result += isAddress ? Array("\"member\(result.count)\"".utf8) : Array(bytes)
                    } else {
                        result += isKept || Self.isWord(bytes) ? Array(bytes) : Array("\"member\(result.count)\"".utf8)
                    }
                case .beginObject, .beginArray:
                    guard depth > 0 || token.kind == .beginObject else { return nil }
                    depth += 1
                    result += bytes
                case .endObject, .endArray:
                    depth -= 1
                    result += bytes
                case .colon, .comma: result += bytes
                case .string: result += isKept ? Array(bytes) : Self.noText
                case .number:
                    let isTime = depth == 1 && times.contains(member) && bytes.count <= 20
                    result += isKept || isTime ? Array(bytes) : [UInt8(ascii: "0")]
                case .yes, .no: result += isKept ? Array(bytes) : Array("false".utf8)
                case .null: result += bytes
                }
            }
            return nil
        }
    }

    private static func name(_ token: JSONToken, _ text: UnsafeRawBufferPointer) -> String {
        let bytes = UnsafeRawBufferPointer(rebasing: text[(token.start + 1)..<(token.end - 1)])
        return String(decoding: token.isEscaped ? Finding.Spelling.json.decode(bytes) ?? Array(bytes) : Array(bytes), as: UTF8.self)
    }

    /// Whether the name of a member within a claim looks like an identifier, rather than data such as an address.
    private static func isWord(_ quoted: Slice<UnsafeRawBufferPointer>) -> Bool {
        let name = quoted.dropFirst().dropLast()
        return name.count <= 40 && name.allSatisfy { FormSpelling.isAlphanumeric($0) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
            && name.count(where: { $0 >= 48 && $0 <= 57 }) < 4
    }

    // MARK: Finding it again

    enum Match: Equatable {
        case none
        case token(kind: Range<Int>, number: Range<Int>, end: Int)
        /// The bytes end within a possible token.
        case needsMore
    }

    /// Looks for a token at an offset. It must not be adjacent to a letter, digit, hyphen or underscore. A dot may follow, as at the end of
    /// a sentence or before a filename extension.
    ///
    /// - Parameters:
    ///   - before: the byte before the offset; nil if there is none.
    ///   - isFinal: whether the bytes end the text.
    static func match(_ bytes: UnsafeRawBufferPointer, at start: Int, after before: UInt8?, isFinal: Bool) -> Match {
        if let before, Self.isPart(before) { return .none }
        let end = bytes.count
        for (index, byte) in "eyJ".utf8.enumerated() {
            guard start + index < end else { return isFinal ? .none : .needsMore }
            guard bytes[start + index] == byte else { return .none }
        }
        var offset = start
        for _ in 0..<2 {
            let first = offset
            while offset < end, offset - start <= Self.limit, Self.isPart(bytes[offset]) { offset += 1 }
            guard offset - start <= Self.limit else { return .none }
            guard offset < end else { return isFinal ? .none : .needsMore }
            guard offset > first, bytes[offset] == UInt8(ascii: ".") else { return .none }
            offset += 1
        }
        for byte in Self.signature {
            guard offset < end else { return isFinal ? .none : .needsMore }
            guard bytes[offset] == byte else { return .none }
            offset += 1
        }
        let mark = offset
        while offset < end, offset - start <= Self.limit, Self.isPart(bytes[offset]) { offset += 1 }
        guard offset - start <= Self.limit else { return .none }
        guard offset < end || isFinal else { return .needsMore }
        var last = offset
        while last > mark, bytes[last - 1] == UInt8(ascii: "-") { last -= 1 }
        var number = last
        while number > mark, bytes[number - 1] >= 48, bytes[number - 1] <= 57 { number -= 1 }
        guard number < last, last - number <= 10, number - mark > 1, bytes[number - 1] == UInt8(ascii: "-"),
            number - 1 - mark <= Placeholder.kindLimit
        else { return .none }
        return .token(kind: mark..<number - 1, number: number..<last, end: offset)
    }

    /// Whether a token in place of this range would be recognised again.
    static func standsAlone(_ range: Range<Int>, in text: UnsafeRawBufferPointer) -> Bool {
        (range.lowerBound == 0 || !Self.isPart(text[range.lowerBound - 1]))
            && (range.upperBound == text.count || !Self.isPart(text[range.upperBound]))
    }

    @inline(__always)
    private static func isPart(_ byte: UInt8) -> Bool {
        FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
    }
}

/// Base64 with the alphabet for URLs and filenames, without padding (RFC 4648, 5; RFC 7515, 2).
enum Base64URL {
    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        bytes.withUnsafeBytes { Base64.encode($0, into: &text) }
        while text.last == UInt8(ascii: "=") { text.removeLast() }
        for index in text.indices {
            if text[index] == UInt8(ascii: "+") { text[index] = UInt8(ascii: "-") }
            if text[index] == UInt8(ascii: "/") { text[index] = UInt8(ascii: "_") }
        }
        return text
    }

    /// Nil if the text is not in the form that `encode` writes.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var standard = text.map { $0 == UInt8(ascii: "-") ? UInt8(ascii: "+") : $0 == UInt8(ascii: "_") ? UInt8(ascii: "/") : $0 }
        guard text.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "=") }) else { return nil }
        while standard.count % 4 != 0 { standard.append(UInt8(ascii: "=")) }
        return Base64.decode(standard)
    }
}

/// Moves the times of the replacement JSON Web Tokens in a replayed answer.
package enum WebTokenTimes {
    /// Whether the text may contain any.
    package static func mayBeIn(_ text: UnsafeRawBufferPointer) -> Bool { ByteSearch.contains("signature-removed-", in: text) }

    /// Edits that keep the length: a time whose number of digits would change is left as it is.
    package static func edits(in text: UnsafeRawBufferPointer, shifted: (_ unixTime: String) -> String?) -> EditList {
        guard self.mayBeIn(text) else { return EditList() }
        var edits: [Edit] = []
        var offset = 0
        while offset < text.count {
            offset = ByteScan.index(of: UInt8(ascii: "e"), in: text, from: offset)
            guard offset < text.count,
                case .token(_, _, let end) = WebTokenPlaceholder.match(
                    text, at: offset, after: offset > 0 ? text[offset - 1] : nil, isFinal: true)
            else {
                offset += 1
                continue
            }
            if let edit = self.edit(in: text, offset..<end, shifted) { edits.append(edit) }
            offset = end
        }
        return EditList(edits)
    }

    private static func edit(in text: UnsafeRawBufferPointer, _ token: Range<Int>, _ shifted: (String) -> String?) -> Edit? {
        let segments = text[token].split(separator: UInt8(ascii: "."))
        guard segments.count == 3, var payload = Base64URL.decode(segments[1]) else { return nil }
        let claims = payload.withUnsafeBytes { self.times(in: $0) }
        for range in claims {
            guard let moved = shifted(String(decoding: payload[range], as: UTF8.self)), moved.utf8.count == range.count else { continue }
            payload.replaceSubrange(range, with: moved.utf8)
        }
        let segment = segments[1]
        return claims.isEmpty ? nil : Edit(range: segment.startIndex..<segment.endIndex, bytes: Base64URL.encode(payload))
    }

    /// The ranges of the numbers of the claims that are times.
    private static func times(in payload: UnsafeRawBufferPointer) -> [Range<Int>] {
        var tokenizer = JSONTokenizer(payload)
        var ranges: [Range<Int>] = []
        var depth = 0
        var isTime = false
        while let token = tokenizer.next() {
            switch token.kind {
            case .end: return ranges
            case .beginObject, .beginArray: depth += 1
            case .endObject, .endArray: depth -= 1
            case .name:
                let name = String(decoding: payload[(token.start + 1)..<(token.end - 1)], as: UTF8.self)
                isTime = depth == 1 && WebTokenPlaceholder.times.contains(name)
            case .number: if isTime, depth == 1 { ranges.append(token.start..<token.end) }
            case .colon, .comma, .string, .yes, .no, .null: continue
            }
        }
        return []
    }
}
