public import TapeCore

/// Header fields in order: duplicates and spelling are kept, names are compared without regard to case (RFC 9110, 5.1).
public struct HTTPHeaders: Sendable, Hashable {
    private var fields: [HTTPHeader] = []

    public init() {}

    public init(_ fields: [HTTPHeader]) { self.fields = fields }

    /// Octets outside UTF-8 show as replacement characters.
    public init(_ fields: HeaderFields) {
        self.fields = (0..<fields.count).map { HTTPHeader(name: fields.name(at: $0), value: fields.value(at: $0)) }
    }

    /// The same fields as lines of a message.
    public var headerFields: HeaderFields {
        var result = HeaderFields()
        for field in self.fields { result.append(name: field.name, value: field.value) }
        return result
    }

    /// Appends a field, whatever others of its name there are.
    public mutating func add(name: String, value: String) { self.fields.append(HTTPHeader(name: name, value: value)) }

    /// All values of that name, in order.
    public func values(for name: String) -> [String] {
        self.fields.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }

    /// The first value of that name.
    public func value(for name: String) -> String? { self.values(for: name).first }
}

extension HTTPHeaders: RandomAccessCollection {
    public var startIndex: Int { self.fields.startIndex }
    public var endIndex: Int { self.fields.endIndex }
    public subscript(position: Int) -> HTTPHeader { self.fields[position] }
}
