/// The path of a rule to values in JSON, XML or messages: a JSON Pointer (RFC 6901) with segments that reach further.
///
/// Knows the grammar only. Whoever reads a document follows the segments.
public struct PlacePath: Sendable, Hashable, CustomStringConvertible {
    public enum Segment: Sendable, Hashable {
        /// A member's name, or an element's index in decimal digits.
        case name([UInt8])
        /// `*`: any member or element.
        case any
        /// `**`: any number of members and elements, none included.
        case deep
        /// `~^x-`: a member whose name the expression finds.
        case member(Pattern)
        /// `[name=search]`: an element of an array that is an object with this member, a scalar that is spelled like this. At the beginning
        /// also the whole value, if it is such an object.
        case element(member: [UInt8], value: [UInt8])
        /// What a string contains, after a bar.
        case content(Content)
    }

    /// How a string is read.
    public enum Content: String, Sendable, Hashable, CaseIterable {
        /// As a JSON object or array.
        case json
        /// As an object with the members `header`, `payload` and `signature` (RFC 7519).
        case jwt
        /// As bytes in base64, in either alphabet, with or without padding.
        case base64
        /// As an object with a member for each field (application/x-www-form-urlencoded).
        case form
    }

    /// A member that an element of an array must have.
    public struct Condition: Sendable, Hashable {
        public let member: [UInt8]
        public let value: [UInt8]

        public init(member: [UInt8], value: [UInt8]) {
            self.member = member
            self.value = value
        }
    }

    /// Deeper values are rejected as JSON (`JSONTokenizer.depthLimit`).
    public static let segmentLimit = JSONTokenizer.depthLimit
    /// How many times a path goes into a string. Each time costs a pass over the string.
    public static let contentLimit = 4

    /// Empty if it refers to the whole value.
    public let segments: [Segment]

    public init(_ segments: [Segment]) { self.segments = segments }

    /// Whether it is a JSON Pointer in which a segment may be `*`.
    public var isPlain: Bool {
        self.segments.allSatisfy { segment in
            switch segment {
            case .name, .any: true
            case .deep, .member, .element, .content: false
            }
        }
    }

    /// Whether the value itself is a string that is read, as for a form field.
    public var beginsInString: Bool { if case .content? = self.segments.first { true } else { false } }

    /// Parses `/messages/**/id`, `/tools[name=search]/x`, `/call/arguments|json:/query`.
    ///
    /// Throws a `SettingSyntaxError` that says what is wrong with the path, without the path itself.
    public init(_ text: String) throws(SettingSyntaxError) {
        var segments: [Segment] = []
        var contents = 0
        for (number, piece) in Self.pieces(Array(text.utf8)).enumerated() {
            guard let content = piece.content else {
                segments += try Self.pointer(piece.text, isFirst: number == 0)
                continue
            }
            contents += 1
            guard contents <= Self.contentLimit else {
                throw SettingSyntaxError("goes into more than \(Self.contentLimit) strings within each other; write a shorter path")
            }
            segments.append(.content(content))
            switch content {
            case .form:
                guard !piece.text.isEmpty else { throw SettingSyntaxError("names no field of the form; write \"|form:NAME\"") }
                segments.append(.name(Array(piece.text)))
            case .base64:
                guard piece.text.isEmpty else {
                    throw SettingSyntaxError("has text after \"|base64\"; end it there, or go on with \"|json:/POINTER\" or \"|form:NAME\"")
                }
            case .json, .jwt:
                let pointer = try Self.pointer(piece.text, isFirst: false)
                guard !pointer.isEmpty else {
                    throw SettingSyntaxError(
                        "names nothing after \"|\(content.rawValue):\"; write \"|\(content.rawValue):/POINTER\", or leave it out for the whole string"
                    )
                }
                segments += pointer
            }
        }
        guard segments.count <= Self.segmentLimit else {
            throw SettingSyntaxError(
                "has more than \(Self.segmentLimit) segments, but JSON that is nested so deeply is not read; remove some")
        }
        let isEndless = zip(segments, segments.dropFirst()).contains { $0 == .deep && $1 == .deep }
        guard !isEndless, segments.last != .deep else {
            throw SettingSyntaxError("has \"**\" without a name after it; write what to look for at any depth, as \"/**/id\"")
        }
        self.segments = segments
    }

    // MARK: Strings

    /// The words after a bar that begin the content of a string.
    private static let marks: [(text: [UInt8], content: Content)] = [
        (Array("|json:".utf8), .json), (Array("|jwt:".utf8), .jwt), (Array("|form:".utf8), .form), (Array("|base64".utf8), .base64),
    ]

    /// The path as far as the first bar, then what follows each bar.
    private static func pieces(_ text: [UInt8]) -> [(content: Content?, text: ArraySlice<UInt8>)] {
        var pieces: [(content: Content?, text: ArraySlice<UInt8>)] = []
        var (content, start, index): (Content?, Int, Int) = (nil, 0, 0)
        while index < text.count {
            guard text[index] == UInt8(ascii: "|"), let mark = self.mark(text, at: index) else {
                index += 1
                continue
            }
            pieces.append((content, text[start..<index]))
            (content, start) = (mark.content, index + mark.text.count)
            index = start
        }
        return pieces + [(content, text[start...])]
    }

    private static func mark(_ text: [UInt8], at index: Int) -> (text: [UInt8], content: Content)? {
        self.marks.first { mark in
            guard text[index...].starts(with: mark.text) else { return false }
            let end = index + mark.text.count
            return mark.content != .base64 || end == text.count || text[end] == UInt8(ascii: "|")
        }
    }

    // MARK: Pointers

    private static func pointer(_ text: ArraySlice<UInt8>, isFirst: Bool) throws(SettingSyntaxError) -> [Segment] {
        guard text.isEmpty || text.first == UInt8(ascii: "/") else {
            let shown = PlainText.escape(text, limit: 60)
            throw SettingSyntaxError("does not begin with a slash; write \"\(isFirst ? "json:" : "|json:")/\(shown)\"")
        }
        var segments: [Segment] = []
        for part in text.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst() {
            segments += try self.segment(part)
        }
        return segments
    }

    private static func segment(_ part: ArraySlice<UInt8>) throws(SettingSyntaxError) -> [Segment] {
        if part.elementsEqual("*".utf8) { return [.any] }
        if part.elementsEqual("**".utf8) { return [.deep] }
        if part.starts(with: "~^".utf8) {
            let text = String(decoding: try self.unescaped(part.dropFirst()), as: UTF8.self)
            do {
                return [.member(try Pattern(text))]
            } catch {
                throw SettingSyntaxError("has a name's expression that is none: \(error.message)")
            }
        }
        guard let condition = try self.condition(part) else { return [.name(try self.unescaped(part))] }
        return try (condition.name.isEmpty ? [] : self.segment(condition.name)) + [condition.element]
    }

    /// `tools[name=search]`; nil if the segment is a name alone.
    private static func condition(_ part: ArraySlice<UInt8>) throws(SettingSyntaxError) -> (name: ArraySlice<UInt8>, element: Segment)? {
        guard part.last == UInt8(ascii: "]"), let open = part.firstIndex(of: UInt8(ascii: "[")),
            let equals = part[open...].firstIndex(of: UInt8(ascii: "=")), equals > open + 1
        else { return nil }
        let member = try self.unescaped(part[(open + 1)..<equals])
        let value = try self.unescaped(part[(equals + 1)...].dropLast())
        return (part[..<open], .element(member: member, value: value))
    }

    /// RFC 6901, 3; and `~2` for an asterisk, `~3` for an opening bracket, `~4` for a bar, where these would have another meaning.
    private static func unescaped(_ part: ArraySlice<UInt8>) throws(SettingSyntaxError) -> [UInt8] {
        guard part.contains(UInt8(ascii: "~")) else { return Array(part) }
        var name: [UInt8] = []
        var rest = part
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "~") else {
                name.append(byte)
                continue
            }
            guard let digit = rest.popFirst(), let meaning = self.escapes.first(where: { $0.digit == digit }) else {
                throw SettingSyntaxError(
                    "has a \"~\" without 0 or 1 after it (RFC 6901, 3); write \"~0\" for a tilde and \"~1\" for a slash")
            }
            name.append(meaning.byte)
        }
        return name
    }

    private static let escapes: [(digit: UInt8, byte: UInt8)] = [
        (48, UInt8(ascii: "~")), (49, UInt8(ascii: "/")), (50, UInt8(ascii: "*")), (51, UInt8(ascii: "[")), (52, UInt8(ascii: "|")),
    ]

    // MARK: Walking

    /// Where a walk from the root stands: the numbers of the segments that may come next, ascending. The number after the last means that
    /// the path ends here.
    package var start: [Int] { self.entered([0]) }

    /// The same at the whole value, if that is an object.
    ///
    /// - Parameter isMet: whether it meets a condition.
    package func whole(isMet: (Condition) -> Bool) -> [Int] {
        guard case .element(let member, let value)? = self.segments.first, isMet(Condition(member: member, value: value)) else {
            return self.start
        }
        return self.start + self.entered([1])
    }

    package func isEnd(_ states: [Int]) -> Bool { states.last == self.segments.count }

    /// Where the walk stands after a member or element.
    ///
    /// - Parameters:
    ///   - name: decoded; the index of an element.
    ///   - isMet: whether an element meets a condition.
    package func next(_ states: [Int], name: [UInt8], isMember: Bool, isMet: (Condition) -> Bool) -> [Int] {
        var next: [Int] = []
        for state in states where state < self.segments.count {
            switch self.segments[state] {
            case .deep: next.append(state)
            case .any: next.append(state + 1)
            case .name(let expected): if expected == name { next.append(state + 1) }
            case .member(let pattern):
                if isMember, name.withUnsafeBytes({ pattern.firstRange(in: $0) }) != nil { next.append(state + 1) }
            case .element(let member, let value):
                if !isMember, isMet(Condition(member: member, value: value)) { next.append(state + 1) }
            case .content: continue
            }
        }
        return self.entered(next)
    }

    /// With the segments after those that may be left out.
    private func entered(_ states: [Int]) -> [Int] {
        var entered: [Int] = []
        for state in states {
            var state = state
            while entered.last.map({ $0 < state }) ?? true {
                entered.append(state)
                guard state < self.segments.count, self.segments[state] == .deep else { break }
                state += 1
            }
        }
        return entered
    }

    package var conditions: [Condition] {
        self.segments.compactMap { if case .element(let member, let value) = $0 { Condition(member: member, value: value) } else { nil } }
    }

    // MARK: Text

    public var description: String {
        var text: [UInt8] = []
        var isField = false
        for segment in self.segments {
            switch segment {
            case .any: text += "/*".utf8
            case .deep: text += "/**".utf8
            case .member(let pattern):
                text += "/~".utf8
                self.escape(Array(pattern.text.utf8), into: &text)
            case .element(let member, let value):
                if text.last == UInt8(ascii: "|") || text.isEmpty { text += "/".utf8 }
                text += "[".utf8
                self.escape(member, into: &text)
                text += "=".utf8
                self.escape(value, into: &text)
                text += "]".utf8
            case .name(let name) where isField: text += name
            case .name(let name): Self.append(name, to: &text)
            case .content(.base64): text += "|base64".utf8
            case .content(let content): text += "|\(content.rawValue):".utf8
            }
            isField = segment == .content(.form)
        }
        return String(decoding: text, as: UTF8.self)
    }

    private func escape(_ bytes: [UInt8], into text: inout [UInt8]) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "~"): text += "~0".utf8
            case UInt8(ascii: "/"): text += "~1".utf8
            default: text.append(byte)
            }
        }
    }

    /// Appends a slash and an escaped name (RFC 6901, 3). A name that would have another meaning in a path is escaped further.
    public static func append(_ name: some Collection<UInt8>, to pointer: inout [UInt8]) {
        pointer.append(UInt8(ascii: "/"))
        let start = pointer.count
        for byte in name {
            switch byte {
            case UInt8(ascii: "~"): pointer += "~0".utf8
            case UInt8(ascii: "/"): pointer += "~1".utf8
            default: pointer.append(byte)
            }
        }
        guard let last = pointer.last,
            last == UInt8(ascii: "*") || last == UInt8(ascii: "]") || pointer[start...].contains(UInt8(ascii: "|"))
        else { return }
        self.escapeMeanings(from: start, in: &pointer)
    }

    private static func escapeMeanings(from start: Int, in pointer: inout [UInt8]) {
        let name = Array(pointer[start...])
        var escaped: [UInt8] = []
        let isStar = name.elementsEqual("*".utf8) || name.elementsEqual("**".utf8)
        let isCondition = (try? self.condition(name[...])) != nil
        for (index, byte) in name.enumerated() {
            switch byte {
            case UInt8(ascii: "*") where isStar: escaped += "~2".utf8
            case UInt8(ascii: "[") where isCondition: escaped += "~3".utf8
            case UInt8(ascii: "|") where self.mark(name, at: index) != nil: escaped += "~4".utf8
            default: escaped.append(byte)
            }
        }
        pointer.replaceSubrange(start..., with: escaped)
    }
}
