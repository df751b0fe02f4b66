internal import Foundation
internal import TapeBytes

/// Parameters on their way into a form: a tree with names.
enum FormValue: Sendable, Equatable {
    case leaf(FormLeaf)
    case array([FormValue])
    /// In the order in which they came.
    case object([Member])

    struct Member: Sendable, Equatable {
        var name: String
        var value: FormValue
    }
}

extension FormValue {
    /// A dictionary as an object, sorted by name since it has no order. Nil and `NSNull` are left out or written as `leaves` say.
    ///
    /// - Throws: `ParameterEncodingError` naming the parameter.
    init(_ dictionary: [String: Any], _ leaves: FormLeaves) throws(ParameterEncodingError) {
        self = try Self.object(dictionary, path: [], leaves)
    }

    private static func object(
        _ dictionary: [String: Any], path: [any CodingKey], _ leaves: FormLeaves
    ) throws(ParameterEncodingError) -> FormValue {
        var members: [Member] = []
        for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
            guard let value = try self.value(value, path: path + [FormKey(name)], leaves) else { continue }
            members.append(Member(name: name, value: value))
        }
        return .object(members)
    }

    private static func value(
        _ value: Any, path: [any CodingKey], _ leaves: FormLeaves
    ) throws(ParameterEncodingError) -> FormValue? {
        guard path.count <= FormValueEncoder.depthLimit else {
            throw ParameterEncodingError(
                .tooDeep, "\(self.shown(path)) has more than \(FormValueEncoder.depthLimit) values within values: send it as JSON")
        }
        switch FoundationValue(value) {
        case .null: return leaves.null().map { .leaf(.text($0)) }
        case .bool(let bool): return .leaf(.text(leaves.bool(bool)))
        case .text(let text): return .leaf(.text(text))
        case .number(let number): return .leaf(.text(FoundationValue.text(of: number)))
        case .dictionary(let dictionary): return try self.object(dictionary, path: path, leaves)
        case .array(let elements):
            var values: [FormValue] = []
            for (index, element) in elements.enumerated() {
                guard let value = try self.value(element, path: path + [FormKey(index: index)], leaves) else { continue }
                values.append(value)
            }
            return .array(values)
        case .encodable(let value): return try FormValueEncoder.value(of: value, leaves)
        case .unknown(let type):
            throw ParameterEncodingError(
                .unsupportedValue,
                "\(self.shown(path)) has the type \"\(type)\": make it a text, a number, a list, a dictionary or Encodable")
        }
    }

    private static func shown(_ path: [any CodingKey]) -> String { "\"\(PlainText.escape(FormKey.text(of: path).utf8, limit: 200))\"" }
}
