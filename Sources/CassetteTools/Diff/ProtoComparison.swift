internal import CassetteModel

/// Compares two Protocol Buffers messages by path: fields with different numbers in any order, those with the same number in order.
struct ProtoComparison {
    /// Places in the form used by rules: `grpc:/1:user/2:name`.
    private(set) var changes: [FieldChange] = []
    /// Whether the numbers of placeholders are compared.
    private let showsAll: Bool

    init(_ old: ProtoMessage, _ new: ProtoMessage, showsAll: Bool = false) {
        self.showsAll = showsAll
        self.compare(old, new, at: "grpc:", isSecret: false)
    }

    private mutating func compare(_ old: ProtoMessage, _ new: ProtoMessage, at path: String, isSecret: Bool) {
        var rest: [Int: [ProtoField]] = [:]
        for field in new.fields.reversed() { rest[field.number, default: []].append(field) }
        for field in old.fields { self.compare(field, rest[field.number]?.popLast(), at: path, isSecret) }
        for field in new.fields {
            guard let left = rest[field.number]?.popLast() else { continue }
            self.compare(nil, left, at: path, isSecret)
        }
    }

    private mutating func compare(_ old: ProtoField?, _ new: ProtoField?, at path: String, _ isSecret: Bool) {
        guard self.changes.count <= JSONComparison.limit, let field = old ?? new, old?.value != new?.value else { return }
        let name = old?.name ?? new?.name
        let inner = "\(path)/\(field.number)" + (name.map { ":\($0)" } ?? "")
        let isSecret = isSecret || name.map(SecretShapes.isSecretName) == true
        if let one = old?.value.inner, let other = new?.value.inner { return self.compare(one, other, at: inner, isSecret: isSecret) }
        let (one, other) = (Self.words(old), Self.words(new))
        if !self.showsAll, let one, let other, PlaceholderNumbers.leftOut(one) == PlaceholderNumbers.leftOut(other) { return }
        self.changes.append(FieldChange(inner, one, other, isSecret: isSecret))
    }

    /// A value on one line.
    private static func words(_ field: ProtoField?) -> String? {
        guard let field else { return nil }
        guard let inner = field.value.inner else { return ProtoText.value(field.value) + (field.label.map { " (\($0))" } ?? "") }
        return inner.fields.isEmpty ? "{}" : "a message of \(inner.fields.count == 1 ? "1 field" : "\(inner.fields.count) fields")"
    }
}

extension ProtoValue {
    /// The content of a nested message.
    fileprivate var inner: ProtoMessage? {
        switch self {
        case .message(let message), .entry(let message), .group(let message): message
        case .varint, .fixed32, .fixed64, .text, .packed, .bytes: nil
        }
    }
}
