/// Splits an XML document (XML 1.0, Namespaces in XML 1.0) into tokens and checks that it is well-formed at the same time.
///
/// Takes UTF-8 without a byte order mark. Reads no external entity and expands no entity of a document type: such a reference stays as it
/// is spelled. Takes time and memory linear in the document.
package struct XMLReader {
    package enum Token {
        case start(XMLName, [XMLAttribute])
        case end
        /// `count` bytes of characters were appended to the caller's text. Adjacent characters may arrive in several tokens.
        case text(count: Int)
        case instruction(target: Range<Int>, data: [UInt8])
        /// The entire declaration, with its internal subset.
        case documentType(Range<Int>)
        case endOfDocument
    }

    /// Documents with deeper elements are rejected. A pointer to an attribute then has as many segments as a pointer into JSON.
    package static let depthLimit = JSONTokenizer.depthLimit - 1
    /// Precedes a reference that is not expanded. Never occurs in UTF-8, so no other text equals it.
    package static let referenceMark: UInt8 = 0xFF

    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var open: [Open] = []
    private var hasRoot = false
    package private(set) var hasDocumentType = false
    /// The position of the last characters, as they are spelled.
    package private(set) var textRange = 0..<0
    private var isEmptyElement = false
    /// The declarations of the element that ended last, which stay in effect until the next token.
    private var ended = 0
    private var isAtStart = true
    package private(set) var namespaces = XMLNamespaces()

    private struct Open {
        /// The name as it is spelled, with its prefix.
        var name: Range<Int>
        var declarations: Int
    }

    package init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
    }

    /// The next token, or `.endOfDocument` after the last; nil if the document is not well-formed.
    package mutating func next(_ text: inout [UInt8]) -> Token? {
        self.namespaces.forget(self.ended)
        self.ended = 0
        if self.isAtStart {
            self.isAtStart = false
            guard self.skipDeclaration() else { return nil }
        }
        if self.isEmptyElement {
            self.isEmptyElement = false
            return self.close()
        }
        while true {
            guard self.offset < self.bytes.count else { return self.hasRoot && self.open.isEmpty ? .endOfDocument : nil }
            guard self.bytes[self.offset] == UInt8(ascii: "<") else { return self.characters(&text) }
            guard self.offset + 1 < self.bytes.count else { return nil }
            switch self.bytes[self.offset + 1] {
            case UInt8(ascii: "/"): return self.endTag()
            case UInt8(ascii: "?"): return self.instruction()
            case UInt8(ascii: "!"):
                if self.isNext("<!--") {
                    guard self.skipComment() else { return nil }
                } else if self.isNext("<![CDATA[") {
                    return self.section(&text)
                } else {
                    return self.documentType()
                }
            case _: return self.startTag()
            }
        }
    }

    // MARK: Prolog

    /// The XML declaration (XML 1.0, 2.8). Rejects documents of another version: XML 1.1 has other line ends and names.
    private mutating func skipDeclaration() -> Bool {
        guard self.isNext("<?xml"), self.offset + 5 < self.bytes.count, Self.isSpace(self.bytes[self.offset + 5]) else { return true }
        guard let end = self.find("?>", from: self.offset + 5) else { return false }
        var reader = self
        reader.offset += 5
        var names: [[UInt8]] = []
        while true {
            let hasSpace = reader.skipSpace()
            if reader.offset == end { break }
            guard hasSpace, let name = reader.name(), reader.skipEquals(), let value = reader.quoted(), reader.offset <= end else {
                return false
            }
            let word = Array(self.bytes[name])
            names.append(word)
            let text = self.bytes[value]
            switch String(decoding: word, as: UTF8.self) {
            case "version": guard text.elementsEqual("1.0".utf8) else { return false }
            case "encoding": guard !text.isEmpty else { return false }
            case "standalone": guard text.elementsEqual("yes".utf8) || text.elementsEqual("no".utf8) else { return false }
            default: return false
            }
        }
        let known = ["version", "encoding", "standalone"].map { Array($0.utf8) }
        guard names.first == known[0], names == known.filter({ names.contains($0) }) else { return false }
        self.offset = end + 2
        return true
    }

    /// Passes on the entire declaration and follows nothing in it (2.8, 4.2.2).
    private mutating func documentType() -> Token? {
        let start = self.offset
        guard self.isNext("<!DOCTYPE"), !self.hasRoot, !self.hasDocumentType else { return nil }
        self.offset += 9
        var isInSubset = false
        while self.offset < self.bytes.count {
            let byte = self.bytes[self.offset]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                let end = ByteScan.index(of: byte, in: self.bytes, from: self.offset + 1)
                guard end < self.bytes.count else { return nil }
                self.offset = end + 1
            case UInt8(ascii: "<"):
                guard isInSubset else { return nil }
                if self.isNext("<!--") {
                    guard self.skipComment() else { return nil }
                } else if self.isNext("<?") {
                    guard let end = self.find("?>", from: self.offset + 2) else { return nil }
                    self.offset = end + 2
                } else {
                    self.offset += 1
                }
            case UInt8(ascii: "["):
                // A conditional section is not allowed in an internal subset (3.4).
                guard !isInSubset else { return nil }
                isInSubset = true
                self.offset += 1
            case UInt8(ascii: "]"):
                guard isInSubset else { return nil }
                isInSubset = false
                self.offset += 1
            case UInt8(ascii: ">") where !isInSubset:
                self.offset += 1
                self.hasDocumentType = true
                return .documentType(start..<self.offset)
            case _: self.offset += 1
            }
        }
        return nil
    }

    private mutating func skipComment() -> Bool {
        // Two hyphens end a comment (2.5).
        guard let end = self.find("--", from: self.offset + 4), end + 2 < self.bytes.count, self.bytes[end + 2] == UInt8(ascii: ">"),
            self.areCharacters(self.offset..<end)
        else { return false }
        self.offset = end + 3
        return true
    }

    private mutating func instruction() -> Token? {
        self.offset += 2
        guard let target = self.name(), !self.bytes[target].contains(UInt8(ascii: ":")),
            !(target.count == 3 && self.bytes[target].map { $0 | 0x20 }.elementsEqual("xml".utf8)),
            let end = self.find("?>", from: self.offset), self.areCharacters(self.offset..<end)
        else { return nil }
        guard self.skipSpace() || self.offset == end else { return nil }
        let data = self.offset < end ? Self.withLineFeeds(self.bytes[self.offset..<end]) : []
        self.offset = end + 2
        return .instruction(target: target, data: data)
    }

    // MARK: Tags

    private mutating func startTag() -> Token? {
        guard !self.open.isEmpty || !self.hasRoot, self.open.count < Self.depthLimit else { return nil }
        self.offset += 1
        guard let name = self.name() else { return nil }
        var raw: [(name: Range<Int>, value: [UInt8], range: Range<Int>)] = []
        var declared = 0
        while true {
            let hasSpace = self.skipSpace()
            guard self.offset < self.bytes.count else { return nil }
            if self.bytes[self.offset] == UInt8(ascii: ">") {
                self.offset += 1
                break
            }
            if self.isNext("/>") {
                self.offset += 2
                self.isEmptyElement = true
                break
            }
            guard hasSpace, let name = self.name(), self.skipEquals(), let range = self.quoted(),
                let value = self.attributeValue(range)
            else { return nil }
            if let prefix = Self.declaredPrefix(self.bytes[name]) {
                guard self.namespaces.declare(prefix, value, amongLast: declared) else { return nil }
                declared += 1
            } else {
                raw.append((name, value, range))
            }
        }
        guard let element = self.expanded(name, isAttribute: false) else { return nil }
        var attributes: [XMLAttribute] = []
        attributes.reserveCapacity(raw.count)
        for (name, value, range) in raw {
            guard let name = self.expanded(name, isAttribute: true) else { return nil }
            attributes.append(XMLAttribute(name: name, value: value, range: range))
        }
        guard self.areDistinct(attributes) else { return nil }
        self.hasRoot = true
        self.open.append(Open(name: name, declarations: declared))
        return .start(element, attributes)
    }

    private mutating func endTag() -> Token? {
        self.offset += 2
        guard let name = self.name(), let last = self.open.last, self.bytes[name].elementsEqual(self.bytes[last.name]) else { return nil }
        _ = self.skipSpace()
        guard self.isNext(">") else { return nil }
        self.offset += 1
        return self.close()
    }

    private mutating func close() -> Token? {
        guard let last = self.open.popLast() else { return nil }
        self.ended = last.declarations
        return .end
    }

    /// `xmlns` declares the empty prefix, `xmlns:p` declares the prefix `p`; nil for any other attribute.
    private static func declaredPrefix(_ name: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        guard name.starts(with: "xmlns".utf8) else { return nil }
        if name.count == 5 { return [] }
        return name[name.startIndex + 5] == UInt8(ascii: ":") ? Array(name.dropFirst(6)) : nil
    }

    /// Nil if the prefix is not declared, or there is more than one colon.
    private func expanded(_ name: Range<Int>, isAttribute: Bool) -> XMLName? {
        guard let colon = self.bytes[name].firstIndex(of: UInt8(ascii: ":")) else {
            return XMLName(prefix: name.lowerBound..<name.lowerBound, local: name, namespace: isAttribute ? 0 : self.namespaces.ofDefault)
        }
        let (prefix, local) = (name.lowerBound..<colon, colon + 1..<name.upperBound)
        guard !prefix.isEmpty, let first = self.bytes[local].first, Self.beginsName(first),
            !self.bytes[local].contains(UInt8(ascii: ":")), let namespace = self.namespaces[Array(self.bytes[prefix])]
        else { return nil }
        return XMLName(prefix: prefix, local: local, namespace: namespace)
    }

    /// Up to this many attributes, each is compared with all others.
    private static let fewAttributes = 8

    private func areDistinct(_ attributes: [XMLAttribute]) -> Bool {
        guard attributes.count > Self.fewAttributes else {
            for (index, attribute) in attributes.enumerated() {
                let isTwice = attributes[..<index].contains {
                    $0.name.namespace == attribute.name.namespace
                        && self.bytes[$0.name.local].elementsEqual(self.bytes[attribute.name.local])
                }
                if isTwice { return false }
            }
            return true
        }
        struct Key: Hashable {
            var namespace: Int
            var local: [UInt8]
        }
        let keys = Set(attributes.map { Key(namespace: $0.name.namespace, local: Array(self.bytes[$0.name.local])) })
        return keys.count == attributes.count
    }

    // MARK: Characters

    private mutating func characters(_ text: inout [UInt8]) -> Token? {
        let end = ByteScan.index(of: UInt8(ascii: "<"), in: self.bytes, from: self.offset)
        let range = self.offset..<end
        self.textRange = range
        self.offset = end
        let start = text.count
        guard self.areCharacters(range), self.append(range, to: &text) else { return nil }
        guard self.open.isEmpty else { return .text(count: text.count - start) }
        // Only white space may be outside the root element.
        guard self.bytes[range].allSatisfy(Self.isSpace) else { return nil }
        text.removeLast(text.count - start)
        return .text(count: 0)
    }

    private mutating func section(_ text: inout [UInt8]) -> Token? {
        guard !self.open.isEmpty, let end = self.find("]]>", from: self.offset + 9), self.areCharacters(self.offset..<end) else {
            return nil
        }
        self.textRange = self.offset + 9..<end
        let content = Self.withLineFeeds(self.bytes[self.textRange])
        text += content
        self.offset = end + 3
        return .text(count: content.count)
    }

    /// Appends character data with its references decoded and its line ends normalised (2.11).
    private func append(_ range: Range<Int>, to text: inout [UInt8]) -> Bool {
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = self.bytes[index]
            switch byte {
            case UInt8(ascii: "&"):
                guard let end = self.reference(at: index, within: range.upperBound, to: &text) else { return false }
                index = end
                continue
            case 13:
                text.append(10)
                if index + 1 < range.upperBound, self.bytes[index + 1] == 10 { index += 1 }
            case UInt8(ascii: ">"):
                // "]]>" must be escaped (2.4).
                if index >= range.lowerBound + 2, self.bytes[index - 1] == UInt8(ascii: "]"), self.bytes[index - 2] == UInt8(ascii: "]") {
                    return false
                }
                text.append(byte)
            case _: text.append(byte)
            }
            index += 1
        }
        return true
    }

    /// An attribute's value: references decoded, white space replaced by spaces (3.3.3, for CDATA).
    private func attributeValue(_ range: Range<Int>) -> [UInt8]? {
        guard self.areCharacters(range) else { return nil }
        var value: [UInt8] = []
        value.reserveCapacity(range.count)
        var index = range.lowerBound
        while index < range.upperBound {
            switch self.bytes[index] {
            case UInt8(ascii: "<"): return nil
            case UInt8(ascii: "&"):
                guard let end = self.reference(at: index, within: range.upperBound, to: &value) else { return nil }
                index = end
                continue
            case 9, 10: value.append(32)
            case 13:
                value.append(32)
                if index + 1 < range.upperBound, self.bytes[index + 1] == 10 { index += 1 }
            case let byte: value.append(byte)
            }
            index += 1
        }
        return value
    }

    /// Appends what `&…;` stands for and returns its end; nil if it is malformed (4.1, 4.6).
    private func reference(at start: Int, within end: Int, to text: inout [UInt8]) -> Int? {
        let semicolon = ByteScan.index(of: UInt8(ascii: ";"), in: UnsafeRawBufferPointer(rebasing: self.bytes[..<end]), from: start + 1)
        guard semicolon < end, semicolon > start + 1 else { return nil }
        let name = self.bytes[start + 1..<semicolon]
        if name.first == UInt8(ascii: "#") {
            guard let scalar = Self.scalar(name.dropFirst()) else { return nil }
            text += UTF8.encode(scalar).map(Array.init) ?? []
            return semicolon + 1
        }
        switch name.count {
        case 2 where name.elementsEqual("lt".utf8): text.append(UInt8(ascii: "<"))
        case 2 where name.elementsEqual("gt".utf8): text.append(UInt8(ascii: ">"))
        case 3 where name.elementsEqual("amp".utf8): text.append(UInt8(ascii: "&"))
        case 4 where name.elementsEqual("apos".utf8): text.append(UInt8(ascii: "'"))
        case 4 where name.elementsEqual("quot".utf8): text.append(UInt8(ascii: "\""))
        case _:
            // Only a document type declares others.
            guard self.hasDocumentType, let first = name.first, Self.beginsName(first), name.allSatisfy(Self.isNamePart) else { return nil }
            text.append(Self.referenceMark)
            text += self.bytes[start...semicolon]
        }
        return semicolon + 1
    }

    private static func scalar(_ digits: Slice<UnsafeRawBufferPointer>) -> Unicode.Scalar? {
        let isHex = digits.first == UInt8(ascii: "x")
        let digits = isHex ? digits.dropFirst() : digits
        guard !digits.isEmpty else { return nil }
        var value: UInt32 = 0
        for byte in digits {
            guard let digit = Hex.value(byte), isHex || digit < 10 else { return nil }
            value = value * (isHex ? 16 : 10) + UInt32(digit)
            guard value <= 0x10FFFF else { return nil }
        }
        guard value >= 32 || value == 9 || value == 10 || value == 13, value != 0xFFFE, value != 0xFFFF else { return nil }
        return Unicode.Scalar(value)
    }

    /// Whether the range has no control character that XML forbids (2.2).
    private func areCharacters(_ range: Range<Int>) -> Bool {
        self.bytes[range].allSatisfy { $0 >= 32 || $0 == 10 || $0 == 9 || $0 == 13 }
    }

    private static func withLineFeeds(_ bytes: Slice<UnsafeRawBufferPointer>) -> [UInt8] {
        guard bytes.contains(13) else { return Array(bytes) }
        var result: [UInt8] = []
        var previous: UInt8 = 0
        for byte in bytes {
            if byte == 13 { result.append(10) } else if byte != 10 || previous != 13 { result.append(byte) }
            previous = byte
        }
        return result
    }

    // MARK: Words

    private func isNext(_ text: StaticString) -> Bool {
        let count = text.utf8CodeUnitCount
        return self.bytes.count - self.offset >= count && (0..<count).allSatisfy { self.bytes[self.offset + $0] == text.utf8Start[$0] }
    }

    private func find(_ text: StaticString, from start: Int) -> Int? {
        let word = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        var offset = start
        while true {
            offset = ByteScan.index(of: word[0], in: self.bytes, from: offset)
            guard offset + word.count <= self.bytes.count else { return nil }
            if self.bytes[offset..<offset + word.count].elementsEqual(word) { return offset }
            offset += 1
        }
    }

    private mutating func skipSpace() -> Bool {
        let start = self.offset
        while self.offset < self.bytes.count, Self.isSpace(self.bytes[self.offset]) { self.offset += 1 }
        return self.offset > start
    }

    private mutating func skipEquals() -> Bool {
        _ = self.skipSpace()
        guard self.isNext("=") else { return false }
        self.offset += 1
        _ = self.skipSpace()
        return true
    }

    /// The inside of a quoted value.
    private mutating func quoted() -> Range<Int>? {
        guard self.offset < self.bytes.count, self.bytes[self.offset] == UInt8(ascii: "\"") || self.bytes[self.offset] == UInt8(ascii: "'")
        else { return nil }
        let end = ByteScan.index(of: self.bytes[self.offset], in: self.bytes, from: self.offset + 1)
        guard end < self.bytes.count else { return nil }
        defer { self.offset = end + 1 }
        return self.offset + 1..<end
    }

    private mutating func name() -> Range<Int>? {
        let start = self.offset
        guard start < self.bytes.count, Self.beginsName(self.bytes[start]) else { return nil }
        while self.offset < self.bytes.count, Self.isNamePart(self.bytes[self.offset]) { self.offset += 1 }
        return start..<self.offset
    }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 10 || byte == 9 || byte == 13 }

    /// Characters beyond ASCII are not distinguished (2.3): names that are not well-formed are compared as they are spelled.
    private static func beginsName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"), UInt8(ascii: ":"),
            0x80...0xFF:
            true
        default: false
        }
    }

    private static func isNamePart(_ byte: UInt8) -> Bool {
        self.beginsName(byte) || (byte >= 48 && byte <= 57) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
    }
}

/// The name of an element or attribute, as ranges of the document and the number of its namespace.
package struct XMLName: Sendable, Hashable {
    /// Empty if there is none.
    package var prefix: Range<Int>
    package var local: Range<Int>
    /// An index into `XMLNamespaces.names`; 0 is no namespace.
    package var namespace: Int
}

/// An attribute that does not declare a namespace.
package struct XMLAttribute: Sendable, Hashable {
    package var name: XMLName
    /// Normalised (XML 1.0, 3.3.3).
    package var value: [UInt8]
    /// The position of the value, without its quotes.
    package var range: Range<Int>
}
