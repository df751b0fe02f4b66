internal import TapeBytes

/// A text with values of the request in it: `Hello {{json:/name}}`.
///
/// Placeholders of cassettes, such as `{{authorization:1}}`, are text here.
struct Template: Sendable, Hashable {
    enum Piece: Sendable, Hashable {
        case text(String)
        case value(RequestValue)
    }

    let pieces: [Piece]

    var needsBody: Bool {
        self.pieces.contains { if case .value(let value) = $0 { value.isInBody } else { false } }
    }

    /// Bytes of text in it, without the values of a request.
    var size: Int {
        self.pieces.reduce(0) { sum, piece in
            if case .text(let text) = piece { sum + text.utf8.count } else { sum }
        }
    }

    /// The value, if the text is nothing else.
    var only: RequestValue? {
        guard self.pieces.count == 1, case .value(let value) = self.pieces[0] else { return nil }
        return value
    }

    /// Text without values.
    init(plain text: String) {
        self.pieces = text.isEmpty ? [] : [.text(text)]
    }

    /// - Returns: what is wrong in `problem`.
    static func parse(_ text: String) -> (template: Template?, problem: String?) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let open = rest.firstRange(of: "{{") {
            guard let close = rest[open.upperBound...].firstRange(of: "}}") else {
                return (nil, "\"{{\" has no \"}}\" after it: add it, or write \"templates: false\" to keep braces as they are")
            }
            let word = rest[open.upperBound..<close.lowerBound].trimmed
            if let value = RequestValue(word) {
                if open.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<open.lowerBound]))) }
                pieces.append(.value(value))
            } else if Self.isPlaceholder(word) {
                pieces.append(.text(String(rest[..<close.upperBound])))
            } else {
                return (
                    nil,
                    "\"{{\(RuleReader.shown(word))}}\" is no value of the request: write \(RequestValue.grammar), or \"templates: false\" to keep braces as they are"
                )
            }
            rest = rest[close.upperBound...]
        }
        if !rest.isEmpty { pieces.append(.text(String(rest))) }
        return (Template(pieces: pieces), nil)
    }

    private init(pieces: [Piece]) {
        self.pieces = pieces
    }

    /// `kind:number`
    private static func isPlaceholder(_ word: String) -> Bool {
        let parts = word.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty && parts[1].utf8.allSatisfy { 48...57 ~= $0 }
    }

    /// The text for a request. What is not there becomes nothing, and has a note.
    func filled(from request: inout RequestView, notes: inout [String]) -> [UInt8] {
        var filled: [UInt8] = []
        for piece in self.pieces {
            switch piece {
            case .text(let text): filled += Array(text.utf8)
            case .value(let value): filled += Self.value(value, &request, &notes)?.text ?? []
            }
        }
        return filled
    }

    static func value(_ value: RequestValue, _ request: inout RequestView, _ notes: inout [String]) -> RequestValue.Found? {
        if let found = value.value(of: &request) { return found }
        let reason = value.isInBody && request.facts.body == nil ? " because the body was not read" : ""
        notes.append("\(value) is not there\(reason): the answer has nothing in its place")
        return nil
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = self
        while text.first == " " { text.removeFirst() }
        while text.last == " " { text.removeLast() }
        return String(text)
    }
}

/// A JSON text with values of the request in it.
indirect enum JSONTemplate: Sendable, Hashable {
    case raw([UInt8])
    case string(Template)
    case array([JSONTemplate])
    case object([Member])

    struct Member: Sendable, Hashable {
        var name: String
        var value: JSONTemplate
    }

    /// - Parameter hasTemplates: whether `{{…}}` stands for values.
    init(_ node: RuleNode, hasTemplates: Bool, _ reader: RuleReader) throws(SettingSyntaxError) {
        switch node.content {
        case .nothing: self = .raw(Array("null".utf8))
        case .text(let text):
            if !node.isString, let word = Self.scalar(text) {
                self = .raw(word)
            } else if hasTemplates {
                let parsed = Template.parse(text)
                guard let template = parsed.template else { throw reader.error(node.line, parsed.problem ?? "") }
                self = .string(template)
            } else {
                self = .string(Template(plain: text))
            }
        case .list(let list):
            var elements: [JSONTemplate] = []
            for element in list { elements.append(try JSONTemplate(element, hasTemplates: hasTemplates, reader)) }
            self = .array(elements)
        case .members(let list):
            var members: [Member] = []
            for member in list {
                members.append(Member(name: member.name, value: try JSONTemplate(member.value, hasTemplates: hasTemplates, reader)))
            }
            self = .object(members)
        }
    }

    /// Whether a text means something else in quotes.
    static func isWord(_ text: String) -> Bool { self.scalar(text) != nil }

    /// A word of YAML that JSON writes without quotes (YAML 1.2, 10.2).
    private static func scalar(_ text: String) -> [UInt8]? {
        let bytes = Array(text.utf8)
        if ["true", "false", "null"].contains(text) || JSONPlaces.isNumber(bytes) { return bytes }
        return nil
    }

    var needsBody: Bool {
        switch self {
        case .raw: false
        case .string(let template): template.needsBody
        case .array(let elements): elements.contains(where: \.needsBody)
        case .object(let members): members.contains(where: \.value.needsBody)
        }
    }

    /// Bytes of text in it, without the values of a request.
    var size: Int {
        switch self {
        case .raw(let bytes): bytes.count
        case .string(let template): template.size + 2
        case .array(let elements): elements.reduce(2) { $0 + $1.size + 1 }
        case .object(let members): members.reduce(2) { $0 + $1.name.utf8.count + $1.value.size + 4 }
        }
    }

    /// The JSON text for a request. A string that is one value becomes that value, with its type; null if it is not there.
    func filled(from request: inout RequestView, notes: inout [String]) -> [UInt8] {
        switch self {
        case .raw(let bytes): return bytes
        case .string(let template):
            if let only = template.only {
                guard let found = Template.value(only, &request, &notes) else { return Array("null".utf8) }
                return found.json ?? Self.quoted(found.text)
            }
            return Self.quoted(template.filled(from: &request, notes: &notes))
        case .array(let elements):
            var json: [UInt8] = [UInt8(ascii: "[")]
            for (index, element) in elements.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                json += element.filled(from: &request, notes: &notes)
            }
            return json + [UInt8(ascii: "]")]
        case .object(let members):
            var json: [UInt8] = [UInt8(ascii: "{")]
            for (index, member) in members.enumerated() {
                if index > 0 { json.append(UInt8(ascii: ",")) }
                json += Self.quoted(Array(member.name.utf8)) + [UInt8(ascii: ":")]
                json += member.value.filled(from: &request, notes: &notes)
            }
            return json + [UInt8(ascii: "}")]
        }
    }

    /// Bytes that are not UTF-8 become replacement characters.
    private static func quoted(_ text: [UInt8]) -> [UInt8] { JSONPlaces.string(Array(String(decoding: text, as: UTF8.self).utf8)) }
}
