/// A parsed JSON text (RFC 8259): the text itself, and where each value of it lies.
///
/// Exact: order, duplicates and spelling are those of the text. Decodes a value only when asked to.
public final class JSONDocument: Sendable {
    struct Node {
        var start: UInt32
        var end: UInt32
        /// Index of the first node behind this one and all it holds.
        var next: UInt32
        var kind: JSONValue.Kind
        var isEscaped: Bool
    }

    public let bytes: [UInt8]
    let nodes: [Node]

    public var root: JSONValue { JSONValue(document: self, index: 0) }

    /// Deeper than this is not read.
    public static let depthLimit = JSONTokenizer.depthLimit
    /// Offsets have 32 bits.
    public static let sizeLimit = Int(Int32.max)

    public init(_ bytes: [UInt8]) throws(JSONSyntaxError) {
        switch bytes.withUnsafeBytes(Self.parse) {
        case .success(let nodes): self.nodes = nodes
        case .failure(let error): throw error
        }
        self.bytes = bytes
    }

    private static func parse(_ bytes: UnsafeRawBufferPointer) -> Result<[Node], JSONSyntaxError> {
        guard bytes.count <= self.sizeLimit else {
            return .failure(JSONSyntaxError(reason: "longer than 2 GiB", offset: self.sizeLimit, line: 1))
        }
        var validator = UTF8Validator()
        let invalid = validator.firstInvalid(in: bytes)
        if let offset = invalid ?? (validator.isAtCharacterEnd ? nil : bytes.count) {
            let line = ByteScan.count(of: 10, in: bytes, upTo: offset) + 1
            return .failure(JSONSyntaxError(reason: "expected UTF-8", offset: offset, line: line))
        }

        var nodes: [Node] = []
        nodes.reserveCapacity(min(bytes.count / 16, 4096) + 8)
        // While a container is open, its `next` holds the index of the container around it.
        var parent = UInt32.max
        var tokenizer = JSONTokenizer(bytes)
        while let token = tokenizer.next() {
            let kind: JSONValue.Kind
            switch token.kind {
            case .end: return .success(nodes)
            case .colon, .comma: continue
            case .beginObject, .beginArray:
                let index = UInt32(nodes.count)
                let kind: JSONValue.Kind = token.kind == .beginObject ? .object : .array
                nodes.append(Node(start: UInt32(token.start), end: 0, next: parent, kind: kind, isEscaped: false))
                parent = index
                continue
            case .endObject, .endArray:
                let index = Int(parent)
                parent = nodes[index].next
                nodes[index].end = UInt32(token.end)
                nodes[index].next = UInt32(nodes.count)
                continue
            case .name, .string: kind = .string
            case .number: kind = .number
            case .yes: kind = .true
            case .no: kind = .false
            case .null: kind = .null
            }
            nodes.append(
                Node(
                    start: UInt32(token.start), end: UInt32(token.end), next: UInt32(nodes.count + 1), kind: kind,
                    isEscaped: token.isEscaped))
        }
        return .failure(tokenizer.error)
    }
}
