internal import CassetteModel
internal import CassetteStore
internal import TapeBytes
internal import TapeYAML

/// A recording that is read value by value, so that only one exchange is in memory.
protocol ValueStream: AnyObject {
    /// Enters an object or mapping; false if the next value is neither.
    func enterMembers() throws(CassetteError) -> Bool
    /// The name of the next member of the innermost object; nil at its end, which leaves the object.
    func nextName() throws(CassetteError) -> String?
    /// Enters a list; false if the next value is not a list.
    func enterList() throws(CassetteError) -> Bool
    /// Whether the innermost list has another element; if not, leaves the list.
    func nextElement() throws(CassetteError) -> Bool
    func value() throws(CassetteError) -> SourceValue
    func skip() throws(CassetteError)
    /// Throws if anything follows the outermost value.
    func end() throws(CassetteError)
}

extension ValueStream {
    /// Reads the elements of a list one by one, with their placeholders filled in.
    func forEachElement(_ context: ImportContext, _ what: String, _ body: (SourceValue) throws -> Void) throws {
        guard try self.enterList() else {
            let value = try self.value()
            guard value.isNothing else { throw context.error(value, what, "expected a list, found \(value.kind)") }
            return
        }
        while try self.nextElement() {
            context.entry += 1
            try body(context.placeholders.filled(try self.value()))
        }
    }
}

/// JSON (RFC 8259) as a stream.
final class JSONStream: ValueStream {
    /// The number of bytes that are read at once.
    private static let piece = 256 << 10
    /// The most bytes of one complete value: an exchange with both bodies. Memory holds all of it, several times over.
    static let valueLimit = 256 << 20

    private let file: any SourceBytes
    private let context: ImportContext
    private let countLimit: Int
    private var buffer: [UInt8] = []
    /// The next byte in the buffer.
    private var start = 0
    private var isAtEnd = false
    /// The line of the next byte.
    private(set) var line = 1
    /// Whether each open container has had a member or element; the innermost is last.
    private var open: [Bool] = []

    /// - Parameter countLimit: the most values in one complete value.
    init(_ file: any SourceBytes, _ context: ImportContext, countLimit: Int = SourceValue.countLimit) throws(CassetteError) {
        self.countLimit = countLimit
        self.file = file
        self.context = context
        _ = try self.fill()
        if self.buffer.starts(with: [0xEF, 0xBB, 0xBF]) { self.start = 3 }
    }

    func enterMembers() throws(CassetteError) -> Bool { try self.enter(UInt8(ascii: "{")) }

    func enterList() throws(CassetteError) -> Bool { try self.enter(UInt8(ascii: "[")) }

    private func enter(_ bracket: UInt8) throws(CassetteError) -> Bool {
        guard try self.peek() == bracket else { return false }
        self.start += 1
        self.open.append(false)
        return true
    }

    func nextName() throws(CassetteError) -> String? {
        guard try self.goesOn(before: UInt8(ascii: "}")) else { return nil }
        guard try self.peek() == UInt8(ascii: "\"") else { throw self.error("expected a member's name in quotes") }
        let name = try self.value().string ?? ""
        guard try self.peek() == UInt8(ascii: ":") else { throw self.error("expected ':'") }
        self.start += 1
        return name
    }

    func nextElement() throws(CassetteError) -> Bool { try self.goesOn(before: UInt8(ascii: "]")) }

    private func goesOn(before bracket: UInt8) throws(CassetteError) -> Bool {
        let next = try self.peek()
        if next == bracket {
            self.start += 1
            self.open.removeLast()
            return false
        }
        if self.open.last == true {
            guard next == UInt8(ascii: ",") else {
                throw self.error("expected ',' or '\(Character(UnicodeScalar(bracket)))'")
            }
            self.start += 1
        } else {
            self.open[self.open.count - 1] = true
        }
        return true
    }

    func value() throws(CassetteError) -> SourceValue {
        _ = try self.peek()
        var scanner = JSONValueScanner()
        var scanned = 0
        while true {
            let (found, count) = self.scan(&scanner, from: self.start + scanned)
            scanned += count
            if found { break }
            guard scanned <= Self.valueLimit else {
                throw self.error("more than \(Self.valueLimit >> 20) MiB in one value", .tooLarge, "leave that exchange out")
            }
            if try !self.fill() {
                if scanner.isScalar { break }
                throw self.cutShort
            }
        }
        let text = Array(self.buffer[self.start..<self.start + scanned])
        let document: JSONDocument
        do {
            document = try JSONDocument(text)
        } catch {
            throw self.context.error(line: self.line + error.line - 1, "", "\(error.reason)")
        }
        let value: SourceValue
        do throws(SourceValue.TooMany) {
            value = try SourceValue(document, line: self.line, limit: self.countLimit) {
                self.context.losses.note(.surrogates, at: self.context.place(self.line))
            }
        } catch {
            throw self.error("more than \(self.countLimit) values in one value", .tooLarge, "leave that exchange out")
        }
        self.pass(scanned)
        return value
    }

    func skip() throws(CassetteError) {
        _ = try self.peek()
        var scanner = JSONValueScanner()
        while true {
            let (found, count) = self.scan(&scanner, from: self.start)
            self.pass(count)
            if found { return }
            if try !self.fill() {
                if scanner.isScalar { return }
                throw self.cutShort
            }
        }
    }

    func end() throws(CassetteError) {
        guard try self.peekOrEnd() == nil else { throw self.error("expected nothing more after the outermost value") }
    }

    // MARK: Bytes

    private func scan(_ scanner: inout JSONValueScanner, from offset: Int) -> (isFound: Bool, count: Int) {
        self.buffer.withUnsafeBytes { scanner.scan(UnsafeRawBufferPointer(rebasing: $0[offset...])) }
    }

    private func pass(_ count: Int) {
        let passed = self.start..<self.start + count
        self.line += self.buffer.withUnsafeBytes {
            ByteScan.count(of: 10, in: UnsafeRawBufferPointer(rebasing: $0[passed]), upTo: count)
        }
        self.start += count
    }

    private func peek() throws(CassetteError) -> UInt8 {
        guard let byte = try self.peekOrEnd() else { throw self.cutShort }
        return byte
    }

    /// The next byte that is not white space.
    private func peekOrEnd() throws(CassetteError) -> UInt8? {
        while true {
            while self.start < self.buffer.count {
                switch self.buffer[self.start] {
                case 10: self.line += 1
                case 32, 9, 13: break
                default: return self.buffer[self.start]
                }
                self.start += 1
            }
            guard try self.fill() else { return nil }
        }
    }

    /// - Returns: whether there were more bytes.
    private func fill() throws(CassetteError) -> Bool {
        guard !self.isAtEnd else { return false }
        if self.start == self.buffer.count {
            self.buffer.removeAll(keepingCapacity: self.buffer.capacity <= 4 * Self.piece)
            self.start = 0
        } else if self.start > 0 {
            self.buffer.removeFirst(self.start)
            self.start = 0
        }
        // Reads more at once for a long value, so that it is not moved too often.
        let bytes = try self.file.read(max(Self.piece, self.buffer.count / 2))
        self.isAtEnd = bytes.isEmpty
        self.buffer += bytes
        return !bytes.isEmpty
    }

    private var cutShort: CassetteError {
        self.error("the file ends early", .damaged, "it was cut short: save or copy it again")
    }

    private func error(_ reason: String, _ code: CassetteError.Code = .damaged, _ next: String = "correct it, or save it again")
        -> CassetteError
    {
        self.context.error(line: self.line, "", reason, code, next)
    }
}

/// Finds the end of a JSON value by its quotes and brackets, without checking the grammar.
struct JSONValueScanner {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var hasBegun = false
    /// A number or word, which ends where something else begins.
    private(set) var isScalar = false

    /// - Returns: whether the bytes contain the value's end, and how many of them belong to the value.
    mutating func scan(_ bytes: UnsafeRawBufferPointer) -> (isFound: Bool, count: Int) {
        var offset = 0
        while offset < bytes.count {
            if self.isInString {
                if self.isEscaped {
                    self.isEscaped = false
                    offset += 1
                    continue
                }
                offset = ByteScan.endOfPlain(bytes, from: offset, stopAtDelete: false)
                guard offset < bytes.count else { break }
                switch bytes[offset] {
                case UInt8(ascii: "\\"): self.isEscaped = true
                case UInt8(ascii: "\""):
                    self.isInString = false
                    if self.depth == 0 { return (true, offset + 1) }
                default: break
                }
                offset += 1
                continue
            }
            switch bytes[offset] {
            case UInt8(ascii: "\""): self.isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["): self.depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if self.depth == 0 { return (true, offset) }
                self.depth -= 1
                if self.depth == 0 { return (true, offset + 1) }
            case UInt8(ascii: ","), UInt8(ascii: ":"), 32, 9, 10, 13:
                if self.depth == 0, self.hasBegun { return (true, offset) }
            default:
                if !self.hasBegun { self.isScalar = true }
            }
            self.hasBegun = true
            offset += 1
        }
        return (false, bytes.count)
    }
}

/// YAML 1.1 as a stream: one document, whose tags distinguish no more than text and bytes.
final class YAMLStream: ValueStream {
    /// The most text bytes of one exchange. Values and bytes count at each use of an alias, because aliases of aliases would exhaust
    /// memory.
    private static let byteLimit = 256 << 20
    private static let depthLimit = 64
    /// Anchored values are kept until the end of the file.
    private static let anchorLimit = 100_000
    /// For the file, as one scalar may fill it.
    private static let fileLimit = 512 << 20

    /// A value, and its cost for each use.
    private struct Anchored {
        var value: SourceValue
        var count: Int
        var bytes: Int
    }

    private let context: ImportContext
    private let countLimit: Int
    private let aliasLimit: Int
    private var events: YAMLEvents
    private var next: (event: YAMLEvents.Event, line: Int)
    private var anchors: [String: Anchored] = [:]
    private var count = 0
    private var bytes = 0
    private var aliased = 0

    /// - Parameters:
    ///   - countLimit: the most values of one exchange.
    ///   - aliasLimit: the most bytes that aliases may expand to in the entire file, as each use is written to the cassette.
    init(
        _ file: any SourceBytes, _ context: ImportContext, countLimit: Int = SourceValue.countLimit, aliasLimit: Int = 1 << 30
    ) throws(CassetteError) {
        self.context = context
        self.countLimit = countLimit
        self.aliasLimit = aliasLimit
        var size = 0
        do throws(YAMLEvents.Problem) {
            self.events = try YAMLEvents { count in
                let bytes = try file.read(count)
                size += bytes.count
                guard size <= Self.fileLimit else {
                    throw CassetteError(.tooLarge, "\"\(context.file)\" has more than \(Self.fileLimit >> 20) MiB of YAML: split it")
                }
                return bytes
            }
        } catch {
            throw context.error(line: error.line ?? 1, "", error.reason)
        }
        self.next = (.end, 1)
        try self.advance()
        if case .documentStart = self.next.event { try self.advance() }
    }

    private func advance() throws(CassetteError) {
        do throws(YAMLEvents.Problem) {
            self.next = try self.events.next()
        } catch {
            if let failure = self.events.failure as? CassetteError { throw failure }
            throw self.context.error(line: error.line ?? self.next.line, "", error.reason)
        }
    }

    func enterMembers() throws(CassetteError) -> Bool {
        guard case .mappingStart(let properties) = self.next.event else { return false }
        try self.check(properties.tag, among: ["map"])
        try self.advance()
        return true
    }

    func nextName() throws(CassetteError) -> String? {
        if case .mappingEnd = self.next.event {
            try self.advance()
            return nil
        }
        return try self.key()
    }

    func enterList() throws(CassetteError) -> Bool {
        guard case .sequenceStart(let properties) = self.next.event else { return false }
        try self.check(properties.tag, among: ["seq", "python/tuple"])
        try self.advance()
        return true
    }

    func nextElement() throws(CassetteError) -> Bool {
        guard case .sequenceEnd = self.next.event else { return true }
        try self.advance()
        return false
    }

    func value() throws(CassetteError) -> SourceValue {
        (self.count, self.bytes) = (0, 0)
        return try self.value(depth: 0)
    }

    func skip() throws(CassetteError) { try self.skip(depth: 0) }

    /// Keeps only anchored values, which may be used later.
    private func skip(depth: Int) throws(CassetteError) {
        guard depth <= Self.depthLimit else { throw self.error("nested more than \(Self.depthLimit) levels deep") }
        switch self.next.event {
        case .sequenceStart(let properties) where properties.anchor == nil:
            _ = try self.enterList()
            while try self.nextElement() { try self.skip(depth: depth + 1) }
        case .mappingStart(let properties) where properties.anchor == nil:
            _ = try self.enterMembers()
            while try self.nextName() != nil { try self.skip(depth: depth + 1) }
        default:
            (self.count, self.bytes) = (0, 0)
            _ = try self.value(depth: depth)
        }
    }

    func end() throws(CassetteError) {
        // YAML readers take the first document of a file, and so did the recorder's own reader.
        if case .end = self.next.event { return }
        self.context.losses.note(.document, at: self.context.place(self.next.line))
    }

    // MARK: Values

    private func value(depth: Int) throws(CassetteError) -> SourceValue {
        guard depth <= Self.depthLimit else { throw self.error("nested more than \(Self.depthLimit) levels deep") }
        let line = self.next.line
        let (count, bytes) = (self.count, self.bytes)
        try self.spend(values: 1, bytes: 0)
        let value: SourceValue
        let name: String?
        switch self.next.event {
        case .scalar(let text, let isPlain, let properties):
            value = SourceValue(line: line, content: try self.scalar(text, isPlain: isPlain, tag: properties.tag))
            name = properties.anchor
            try self.advance()
        case .sequenceStart(let properties):
            name = properties.anchor
            _ = try self.enterList()
            var list: [SourceValue] = []
            while try self.nextElement() { list.append(try self.value(depth: depth + 1)) }
            value = SourceValue(line: line, content: .list(list))
        case .mappingStart(let properties):
            name = properties.anchor
            _ = try self.enterMembers()
            var members: [SourceValue.Member] = []
            while let key = try self.nextName() { members.append(.init(name: key, value: try self.value(depth: depth + 1))) }
            value = SourceValue(line: line, content: .members(members))
        case .alias(let anchor):
            guard let anchored = self.anchors[anchor] else { throw self.error("the alias \"*\(anchor)\" has no anchor before it") }
            try self.spend(values: anchored.count, bytes: anchored.bytes)
            self.aliased += anchored.count + anchored.bytes
            guard self.aliased <= self.aliasLimit else {
                throw self.error("the aliases stand for more than \(self.aliasLimit >> 20) MiB", "write less of it with aliases", .tooLarge)
            }
            value = anchored.value
            name = nil
            try self.advance()
        case .documentStart, .end, .sequenceEnd, .mappingEnd: throw self.error("a value is missing")
        }
        if let name {
            guard self.anchors.count < Self.anchorLimit else { throw self.error("more than \(Self.anchorLimit) anchors", "write them out") }
            self.anchors[name] = Anchored(value: value, count: self.count - count, bytes: self.bytes - bytes)
        }
        return value
    }

    private func key() throws(CassetteError) -> String {
        switch self.next.event {
        case .scalar(let text, _, let properties):
            // A key that is a Ruby symbol is still a name.
            if let anchor = properties.anchor {
                let value = SourceValue(line: self.next.line, content: .text(Array(text.utf8)))
                self.anchors[anchor] = Anchored(value: value, count: 1, bytes: text.utf8.count)
            }
            try self.advance()
            return text
        case .alias(let anchor):
            if let text = self.anchors[anchor]?.value.string {
                try self.advance()
                return text
            }
        case .documentStart, .end, .sequenceStart, .sequenceEnd, .mappingStart, .mappingEnd: break
        }
        throw self.error("a key is not text")
    }

    private func scalar(_ text: String, isPlain: Bool, tag: String?) throws(CassetteError) -> SourceValue.Content {
        let bytes = Array(text.utf8)
        try self.spend(values: 0, bytes: bytes.count)
        let name = try self.check(
            tag, among: ["str", "binary", "int", "float", "bool", "null", "timestamp", "python/unicode", "python/str"])
        switch name {
        case "binary":
            guard let decoded = LooseBase64.decode(bytes[...]) else { throw self.error("a value that is tagged as binary is not base64") }
            return .bytes(decoded)
        case "str", "python/unicode", "python/str": return .text(bytes)
        default:
            guard isPlain else { return .text(bytes) }
            if ["", "~", "null", "Null", "NULL"].contains(text) { return .nothing }
            return .word(bytes)
        }
    }

    /// - Returns: the tag's name without YAML's prefix; nil if there is no tag.
    @discardableResult
    private func check(_ tag: String?, among known: [String]) throws(CassetteError) -> String? {
        guard let tag, tag != "!" else { return nil }
        let prefix = "tag:yaml.org,2002:"
        let name = tag.hasPrefix(prefix) ? String(tag.dropFirst(prefix.count)) : tag == "!binary" ? "binary" : tag
        guard known.contains(name) else {
            throw self.error(
                "the tag \"\(tag.prefix(100))\" names an object of a program", "such objects are never created: remove the tag")
        }
        return name
    }

    private func spend(values: Int, bytes: Int) throws(CassetteError) {
        self.count = self.count.addingReportingOverflow(values).partialValue
        self.bytes = self.bytes.addingReportingOverflow(bytes).partialValue
        guard self.count <= self.countLimit, self.bytes <= Self.byteLimit else {
            throw self.error(
                "more than \(self.countLimit) values or \(Self.byteLimit >> 20) MiB in one exchange, aliases included",
                "leave that exchange out", .tooLarge)
        }
    }

    private func error(
        _ reason: String, _ next: String = "correct it, or save it again", _ code: CassetteError.Code = .damaged
    ) -> CassetteError { self.context.error(line: self.next.line, "", reason, code, next) }
}

/// Base64 as other tools write it: with line ends, without padding, or with the URL-safe alphabet.
enum LooseBase64 {
    static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var bits: UInt32 = 0
        var held = 0
        var (digits, padding) = (0, 0)
        for character in text {
            switch character {
            case 10, 13, 32, 9: continue
            case UInt8(ascii: "="):
                padding += 1
                continue
            case UInt8(ascii: "-"): bits = bits << 6 | 62
            case UInt8(ascii: "_"): bits = bits << 6 | 63
            default:
                guard let value = Base64.value(character) else { return nil }
                bits = bits << 6 | UInt32(value)
            }
            // Nothing follows the padding.
            guard padding == 0 else { return nil }
            digits += 1
            held += 6
            guard held >= 8 else { continue }
            held -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(held)))
        }
        // One digit alone is no byte.
        return digits % 4 == 1 || padding > 0 && (digits + padding) % 4 != 0 ? nil : bytes
    }
}
