/// The white space between the tokens of a JSON text, if it follows one rule throughout.
public struct JSONStyle: Sendable, Hashable {
    /// Spaces per level, if members are on lines of their own; nil if everything is on one line.
    public var indent: Int?
    /// The white space after a colon.
    public var colon: String
    /// The white space after a comma, if everything is on one line.
    public var comma: String
    /// The white space after the text, usually a line end.
    public var tail: String

    public init(indent: Int? = nil, colon: String = "", comma: String = "", tail: String = "") {
        self.indent = indent
        self.colon = colon
        self.comma = comma
        self.tail = tail
    }

    /// `{"a":1,"b":[2,3]}`, as JavaScript's JSON.stringify and most servers write.
    public static let compact = JSONStyle()
    /// `{"a": 1, "b": [2, 3]}`, as Python's json.dumps writes.
    public static let spaced = JSONStyle(colon: " ", comma: " ")
}

/// Converts a JSON body between its own white space and a cassette's layout.
///
/// Never changes strings or numbers: only the white space between tokens changes, and a `JSONStyle` describes the original.
public enum JSONBody {
    /// A more deeply nested body is kept as text: together with the levels around it, it must stay within the cassette's own limit.
    public static let depthLimit = 100
    /// A wider container is split over several lines. In bytes, not characters.
    static let columnLimit = 100
    /// Producers indent by 1 to 8. A larger limit would let a short cassette expand to a very long body.
    public static let indentLimit = 8
    /// The longest white space after a colon, a comma or the text, in bytes.
    public static let gapLimit = 8

    /// Whether a body's length is plausible for its number of tokens. Both directions apply this limit.
    static func isTolerable(size: Int, tokens: Int) -> Bool { size <= tokens * 100 + 1 << 20 }

    // MARK: Recognizing

    /// The style that restores exactly these bytes: an object or array whose white space follows one rule.
    ///
    /// Nil if the white space follows no single rule, or if the bytes are not JSON, not UTF-8 or nested too deeply. The body is then text.
    public static func style(of body: UnsafeRawBufferPointer) -> JSONStyle? {
        guard let first = body.first, first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        guard UTF8Validator.isValid(body) else { return nil }
        var tokenizer = JSONTokenizer(body, depthLimit: self.depthLimit)
        var indent: Int?
        var colon: Range<Int>?
        var comma: Range<Int>?
        var previous = JSONToken.Kind.end
        var tokens = 0

        while let token = tokenizer.next() {
            tokens += token.end - token.start
            let gap = token.gap..<token.start
            switch (previous, token.kind) {
            case (_, .end):
                guard gap.count <= self.gapLimit, self.isTolerable(size: body.count, tokens: tokens) else { return nil }
                return JSONStyle(
                    indent: indent, colon: self.text(body, colon), comma: self.text(body, comma), tail: self.text(body, gap))
            case (_, .colon), (_, .comma):
                guard gap.isEmpty else { return nil }
            case (.colon, _):
                guard self.follows(body, gap, &colon) else { return nil }
            case (.beginObject, .endObject), (.beginArray, .endArray):
                guard gap.isEmpty else { return nil }
            case (.beginObject, _), (.beginArray, _):
                // The outermost bracket decides for the entire text.
                if token.gap == 1, !gap.isEmpty { indent = gap.count - 1 }
                guard self.isBreak(body, gap, indent: indent, depth: self.depth(of: token, tokenizer)) else { return nil }
            case (.comma, _):
                if indent != nil {
                    guard self.isBreak(body, gap, indent: indent, depth: self.depth(of: token, tokenizer)) else { return nil }
                } else {
                    guard self.follows(body, gap, &comma) else { return nil }
                }
            case (_, .endObject), (_, .endArray):
                guard self.isBreak(body, gap, indent: indent, depth: tokenizer.depth) else { return nil }
            case (_, _):
                guard gap.isEmpty else { return nil }
            }
            previous = token.kind
        }
        return nil
    }

    /// The level to which a token is indented: an opening bracket belongs to the level around it.
    private static func depth(of token: JSONToken, _ tokenizer: JSONTokenizer) -> Int {
        token.kind == .beginObject || token.kind == .beginArray ? tokenizer.depth - 1 : tokenizer.depth
    }

    private static func isBreak(_ body: UnsafeRawBufferPointer, _ gap: Range<Int>, indent: Int?, depth: Int) -> Bool {
        guard let indent else { return gap.isEmpty }
        guard indent <= self.indentLimit, gap.count == 1 + indent * depth, body[gap.lowerBound] == 10 else { return false }
        for offset in gap.dropFirst() where body[offset] != 32 { return false }
        return true
    }

    /// Whether a gap equals the first one of its kind.
    private static func follows(_ body: UnsafeRawBufferPointer, _ gap: Range<Int>, _ rule: inout Range<Int>?) -> Bool {
        guard let known = rule else {
            rule = gap
            return gap.count <= self.gapLimit
        }
        guard known.count == gap.count else { return false }
        for index in 0..<gap.count where body[known.lowerBound + index] != body[gap.lowerBound + index] { return false }
        return true
    }

    private static func text(_ body: UnsafeRawBufferPointer, _ range: Range<Int>?) -> String {
        range.map { String(decoding: body[$0], as: UTF8.self) } ?? ""
    }

    // MARK: Writing

    /// Writes a body's tokens in the cassette's layout, indented by two spaces a level from `depth` on. A container that fits goes on one
    /// line.
    ///
    /// Returns false, and writes nothing, if the body is not JSON.
    @discardableResult
    public static func write(_ body: UnsafeRawBufferPointer, into writer: inout JSONWriter, depth: Int) -> Bool {
        let mark = writer.mark
        var depth = depth
        var previous = JSONToken.Kind.end
        var tokenizer = JSONTokenizer(body, depthLimit: self.depthLimit)
        while let token = tokenizer.next() {
            let opens = previous == .beginObject || previous == .beginArray
            switch token.kind {
            case .end: return true
            case .colon: writer.raw(": ")
            case .comma:
                writer.byte(UInt8(ascii: ","))
                if previous == .number, self.numberFits(after: tokenizer, in: writer) {
                    writer.byte(32)
                } else {
                    writer.newline(depth: depth)
                }
            case .endObject, .endArray:
                depth -= 1
                if !opens { writer.newline(depth: depth) }
                writer.byte(body[token.start])
            case .beginObject, .beginArray:
                if opens { writer.newline(depth: depth) }
                if let after = self.writeFlat(from: token, tokenizer, into: &writer) {
                    tokenizer = after
                    previous = .endObject
                    continue
                }
                writer.byte(body[token.start])
                depth += 1
            case .name, .string, .number, .yes, .no, .null:
                if opens { writer.newline(depth: depth) }
                writer.raw(UnsafeRawBufferPointer(rebasing: body[token.start..<token.end]))
            }
            previous = token.kind
        }
        writer.rewind(to: mark)
        return false
    }

    /// Whether the next element of an array is a number too and fits on the line, because numbers fill lines rather than take one line
    /// each.
    private static func numberFits(after tokenizer: JSONTokenizer, in writer: JSONWriter) -> Bool {
        var ahead = tokenizer
        guard let next = ahead.next(), next.kind == .number else { return false }
        // With a space before it and a comma after it.
        return writer.column + 2 + next.end - next.start <= self.columnLimit
    }

    public static func write(_ body: [UInt8], into writer: inout JSONWriter, depth: Int) {
        body.withUnsafeBytes { _ = self.write($0, into: &writer, depth: depth) }
    }

    /// Writes a complete container on the current line, if it fits with a comma after it. Returns the tokenizer after the container.
    private static func writeFlat(from first: JSONToken, _ start: JSONTokenizer, into writer: inout JSONWriter) -> JSONTokenizer? {
        let limit = self.columnLimit - 1 - writer.column
        guard limit > 1 else { return nil }
        var tokenizer = start
        var isWhole = false
        // A token that ends in the last column may add two spaces before the attempt is abandoned.
        writer.append(atMost: limit + 2) { room in
            guard let length = self.fill(room, limit: limit, from: first, &tokenizer) else { return 0 }
            isWhole = true
            return length
        }
        return isWhole ? tokenizer : nil
    }

    @inline(__always)
    private static func fill(
        _ room: UnsafeMutableRawBufferPointer, limit: Int, from first: JSONToken, _ tokenizer: inout JSONTokenizer
    ) -> Int? {
        let outside = tokenizer.depth - 1
        var previous = first.kind
        room[0] = tokenizer.bytes[first.start]
        var end = 1
        while let token = tokenizer.next(), end + token.end - token.start <= limit {
            switch token.kind {
            case .end: return nil
            case .endObject where previous != .beginObject, .name where previous == .beginObject:
                room[end] = 32
                end += 1
            case .colon, .comma, .endObject, .endArray, .beginObject, .beginArray, .name, .string, .number, .yes, .no, .null: break
            }
            for offset in token.start..<token.end {
                room[end] = tokenizer.bytes[offset]
                end += 1
            }
            if tokenizer.depth == outside { return end <= limit ? end : nil }
            if token.kind == .colon || token.kind == .comma {
                room[end] = 32
                end += 1
            }
            previous = token.kind
        }
        return nil
    }

    // MARK: Restoring

    /// Writes a JSON text of any layout with the white space of `style`.
    ///
    /// Nil if it is not JSON, or the result would be too long for its number of tokens.
    public static func restore(_ json: UnsafeRawBufferPointer, style: JSONStyle) -> [UInt8]? {
        let colon = Array(style.colon.utf8)
        let comma = Array(style.comma.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(json.count)
        var tokens = 0
        var previous = JSONToken.Kind.end
        var tokenizer = JSONTokenizer(json)

        func lineBreak(_ depth: Int) {
            guard let indent = style.indent else { return }
            result.append(10)
            result.append(contentsOf: repeatElement(32, count: max(0, min(indent, self.indentLimit)) * depth))
        }

        while let token = tokenizer.next() {
            switch (previous, token.kind) {
            case (_, .end):
                result.append(contentsOf: style.tail.utf8)
                return result
            case (_, .colon), (_, .comma), (.beginObject, .endObject), (.beginArray, .endArray): break
            case (.colon, _): result.append(contentsOf: colon)
            case (.comma, _) where style.indent == nil: result.append(contentsOf: comma)
            case (.beginObject, _), (.beginArray, _), (.comma, _): lineBreak(self.depth(of: token, tokenizer))
            case (_, .endObject), (_, .endArray): lineBreak(tokenizer.depth)
            case (_, _): break
            }
            result.append(contentsOf: UnsafeRawBufferPointer(rebasing: json[token.start..<token.end]))
            tokens += token.end - token.start
            guard self.isTolerable(size: result.count, tokens: tokens) else { return nil }
            previous = token.kind
        }
        return nil
    }
}
