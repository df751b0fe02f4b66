internal import TapeBytes

/// A value of another tool's recording in any notation, with its line.
struct SourceValue: Sendable {
    enum Content: Sendable {
        case nothing
        case bool(Bool)
        /// A scalar without quotes: a number in JSON, any plain scalar in YAML.
        case word([UInt8])
        case text([UInt8])
        /// From a notation that distinguishes bytes from text.
        case bytes([UInt8])
        case list([SourceValue])
        case members([Member])
    }

    struct Member: Sendable {
        var name: String
        var value: SourceValue
    }

    /// Counts from 1.
    var line: Int
    var content: Content

    // MARK: Scalars

    var isNothing: Bool { if case .nothing = self.content { true } else { false } }

    /// The bytes of a scalar as it is written; nil for null, truth values and containers.
    var data: [UInt8]? {
        switch self.content {
        case .word(let bytes), .text(let bytes), .bytes(let bytes): bytes
        case .nothing, .bool, .list, .members: nil
        }
    }

    var string: String? { self.data.map { String(decoding: $0, as: UTF8.self) } }

    var int: Int? { self.data.flatMap { JSONNumber.int($0[...]) } ?? self.double.flatMap { Int(exactly: $0.rounded()) } }

    /// The value of a number, or of a text that contains one.
    var double: Double? {
        guard let text = self.string, let number = Double(text), number.isFinite else { return nil }
        return number
    }

    var bool: Bool? {
        switch self.content {
        case .bool(let value): value
        case .word: self.string == "true" ? true : self.string == "false" ? false : nil
        case .nothing, .text, .bytes, .list, .members: nil
        }
    }

    // MARK: Containers

    var list: [SourceValue]? { if case .list(let list) = self.content { list } else { nil } }

    var members: [Member]? { if case .members(let members) = self.content { members } else { nil } }

    /// The first member of that name, unless it is null.
    subscript(name: String) -> SourceValue? {
        guard let value = self.members?.first(where: { $0.name == name })?.value, !value.isNothing else { return nil }
        return value
    }

    /// The first of these members that exists.
    func first(_ names: String...) -> SourceValue? { names.lazy.compactMap { self[$0] }.first }

    /// The kind of value, for messages.
    var kind: String {
        switch self.content {
        case .nothing: "null"
        case .bool: "true or false"
        case .word: "a number or word"
        case .text: "text"
        case .bytes: "bytes"
        case .list: "a list"
        case .members: "an object"
        }
    }
}

extension SourceValue {
    /// The most values in a JSON text.
    ///
    /// For one exchange. Each value takes about 80 bytes of memory, however short it is.
    static let countLimit = 1_000_000

    /// There are more values than may be held in memory.
    struct TooMany: Error {}

    /// - Parameter line: the line on which the text begins.
    init(_ document: JSONDocument, line: Int, limit: Int, surrogates: () -> Void) throws(TooMany) {
        var converter = JSONConverter(bytes: document.bytes, line: line, limit: limit)
        self = try converter.value(document.root, surrogates)
    }

    /// The value as JSON, for values that are kept as they are.
    func json() -> [UInt8] {
        var writer = JSONWriter()
        self.write(into: &writer)
        return writer.bytes
    }

    /// Writes no white space, like most programs that write bodies.
    private func write(into writer: inout JSONWriter) {
        switch self.content {
        case .nothing: writer.raw("null")
        case .bool(let value): writer.bool(value)
        case .word(let word):
            // A number, or one of JSON's words.
            if let value = try? JSONDocument(word), value.root.kind != .string {
                writer.raw(word)
            } else {
                word.withUnsafeBytes { writer.string(utf8: $0) }
            }
        case .text(let text): text.withUnsafeBytes { writer.string(utf8: $0) }
        case .bytes(let bytes): bytes.withUnsafeBytes { writer.base64($0) }
        case .list(let list):
            writer.raw("[")
            for (index, value) in list.enumerated() {
                if index > 0 { writer.raw(",") }
                value.write(into: &writer)
            }
            writer.raw("]")
        case .members(let members):
            writer.raw("{")
            for (index, member) in members.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.string(member.name)
                writer.raw(":")
                member.value.write(into: &writer)
            }
            writer.raw("}")
        }
    }
}

/// Makes values from a parsed JSON text, and counts its lines at the same time.
private struct JSONConverter {
    let bytes: [UInt8]
    /// The line of the byte at `offset`.
    var line: Int
    var offset = 0
    /// The number of values that may still follow.
    private var room: Int

    init(bytes: [UInt8], line: Int, limit: Int) {
        self.bytes = bytes
        self.line = line
        self.room = limit
    }

    mutating func value(_ value: JSONValue, _ surrogates: () -> Void) throws(SourceValue.TooMany) -> SourceValue {
        guard self.room > 0 else { throw SourceValue.TooMany() }
        self.room -= 1
        let start = value.range.lowerBound
        let passed = self.offset..<start
        self.line += self.bytes.withUnsafeBytes { bytes in
            ByteScan.count(of: 10, in: UnsafeRawBufferPointer(rebasing: bytes[passed]), upTo: passed.count)
        }
        self.offset = start
        let line = self.line
        let content: SourceValue.Content
        switch value.kind {
        case .null: content = .nothing
        case .true: content = .bool(true)
        case .false: content = .bool(false)
        case .number: content = .word(Array(value.raw))
        case .string: content = .text(Self.text(value, surrogates))
        case .array:
            var list: [SourceValue] = []
            for element in value.elements { list.append(try self.value(element, surrogates)) }
            content = .list(list)
        case .object:
            var members: [SourceValue.Member] = []
            for member in value.members {
                let name = String(decoding: Self.text(member.name, surrogates), as: UTF8.self)
                members.append(SourceValue.Member(name: name, value: try self.value(member.value, surrogates)))
            }
            content = .members(members)
        }
        return SourceValue(line: line, content: content)
    }

    /// Replaces half of a surrogate pair, which UTF-8 cannot express, by U+FFFD.
    private static func text(_ value: JSONValue, _ surrogates: () -> Void) -> [UInt8] {
        if let text = value.utf8 { return text }
        surrogates()
        var whole: [UInt8] = []
        let raw = value.raw.dropFirst().dropLast()
        var start = raw.startIndex
        while start < raw.endIndex {
            // An escape is at most a pair of `\uXXXX`. A single half is decoded by itself, which fails.
            guard raw[start] == UInt8(ascii: "\\") else {
                whole.append(raw[start])
                start += 1
                continue
            }
            let length = raw[start + 1] == UInt8(ascii: "u") ? 6 : 2
            let pair = raw[start..<min(start + 12, raw.endIndex)]
            if length == 6, pair.count == 12, let both = JSONStringDecoder.decode(pair), both.count == 4 {
                whole += both
                start += 12
                continue
            }
            whole += JSONStringDecoder.decode(raw[start..<start + length]) ?? UTF8.encodedReplacementCharacter.map { $0 }
            start += length
        }
        return whole
    }
}
