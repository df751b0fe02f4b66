internal import CassetteModel
internal import TapeBytes

/// A skel of Subversion (`application/vnd.svn-skel`) as JSON: nested lists of atoms, each a word or `LENGTH BYTES` (Subversion,
/// notes/skel.txt).
///
/// A list of lists and atoms becomes an array. A list of names and values, which clients send in any order, becomes an object.
struct SkelText {
    private indirect enum Node {
        case atom([UInt8])
        case list([Node])
    }

    private static let depthLimit = 16

    private let bytes: [UInt8]
    private var offset = 0

    /// Nil if the bytes are not one skel.
    static func json(_ bytes: [UInt8]) -> [UInt8]? {
        var text = SkelText(bytes: bytes)
        text.skipSpace()
        guard let node = text.node(depth: 0) else { return nil }
        text.skipSpace()
        guard text.offset == bytes.count else { return nil }
        var json: [UInt8] = []
        Self.write(node, isInner: false, into: &json)
        return json
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private static func isSpace(_ byte: UInt8) -> Bool { [9, 10, 12, 13, 32].contains(byte) }

    private mutating func skipSpace() {
        while self.offset < self.bytes.count, Self.isSpace(self.bytes[self.offset]) { self.offset += 1 }
    }

    private mutating func node(depth: Int) -> Node? {
        guard self.offset < self.bytes.count, depth < Self.depthLimit else { return nil }
        guard self.bytes[self.offset] == UInt8(ascii: "(") else { return self.atom() }
        self.offset += 1
        var nodes: [Node] = []
        while true {
            self.skipSpace()
            guard self.offset < self.bytes.count else { return nil }
            if self.bytes[self.offset] == UInt8(ascii: ")") {
                self.offset += 1
                return .list(nodes)
            }
            guard let node = self.node(depth: depth + 1) else { return nil }
            nodes.append(node)
        }
    }

    private mutating func atom() -> Node? {
        let start = self.offset
        let isCounted = self.bytes[start] >= 48 && self.bytes[start] <= 57
        while self.offset < self.bytes.count, !Self.isSpace(self.bytes[self.offset]), !"()[]".utf8.contains(self.bytes[self.offset]) {
            self.offset += 1
        }
        let word = self.bytes[start..<self.offset]
        guard isCounted else { return word.isEmpty ? nil : .atom(Array(word)) }
        guard let count = Int(String(decoding: word, as: UTF8.self)), count >= 0, self.offset < self.bytes.count,
            Self.isSpace(self.bytes[self.offset]), count <= self.bytes.count - self.offset - 1
        else { return nil }
        let first = self.offset + 1
        self.offset = first + count
        return .atom(Array(self.bytes[first..<self.offset]))
    }

    // MARK: JSON

    private static func write(_ node: Node, isInner: Bool, into json: inout [UInt8]) {
        switch node {
        case .atom(let bytes): self.write(bytes, into: &json)
        case .list(let nodes):
            let properties = isInner ? self.properties(nodes) : nil
            json.append(UInt8(ascii: properties == nil ? "[" : "{"))
            for (index, node) in nodes.enumerated() {
                if index > 0 { json.append(UInt8(ascii: properties != nil && index % 2 == 1 ? ":" : ",")) }
                self.write(node, isInner: true, into: &json)
            }
            json.append(UInt8(ascii: properties == nil ? "]" : "}"))
        }
    }

    /// The names, if the nodes are names and values in turn.
    private static func properties(_ nodes: [Node]) -> Set<[UInt8]>? {
        guard !nodes.isEmpty, nodes.count % 2 == 0 else { return nil }
        var names: Set<[UInt8]> = []
        for (index, node) in nodes.enumerated() {
            guard case .atom(let bytes) = node else { return nil }
            if index % 2 == 0, !names.insert(bytes).inserted { return nil }
        }
        return names
    }

    /// Bytes that are no UTF-8 become the characters of Latin-1.
    private static func write(_ bytes: [UInt8], into json: inout [UInt8]) {
        let isText = bytes.withUnsafeBytes { UTF8Validator.isValid($0) }
        json.append(UInt8(ascii: "\""))
        for byte in bytes {
            if byte < 32 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || !isText && byte >= 128 {
                json += Array("\\u00".utf8) + [Hex.digit(byte >> 4), Hex.digit(byte & 15)]
            } else {
                json.append(byte)
            }
        }
        json.append(UInt8(ascii: "\""))
    }
}
