internal import Foundation
internal import TapeBytes
internal import Wiretape

/// Converts a value for `JSONSerialization` and `PropertyListSerialization`, which trap or give useless errors if they cannot write it.
struct SerializableValue {
    enum Format {
        case json
        case propertyList
    }

    /// Levels of nesting: far more than parameters have, and far fewer than fit on the stack.
    private static let depthLimit = 128

    let format: Format

    /// `user[names][0]`, for people.
    static func text(of path: [String]) -> String { (path.first ?? "") + path.dropFirst().map { "[\($0)]" }.joined() }

    /// - Throws: `ParameterEncodingError` with the path of the value.
    func object(_ value: Any) throws(ParameterEncodingError) -> Any { try self.object(value, path: []) }

    private func object(_ value: Any, path: [String]) throws(ParameterEncodingError) -> Any {
        guard path.count <= Self.depthLimit else {
            throw ParameterEncodingError(
                .tooDeep, "\(self.shown(path)) is nested more than \(Self.depthLimit) levels deep: send a value without cycles")
        }
        switch (FoundationValue(value), self.format) {
        case (.null, .json): return NSNull()
        case (.null, .propertyList): throw self.unsupported(path, "is nil, which a property list cannot express: leave it out")
        case (.bool(let bool), _): return bool
        case (.text(let text), _): return text
        case (.number(let number), .json):
            guard number.doubleValue.isFinite else {
                throw self.unsupported(path, "is \(number), which JSON cannot express: leave it out, or send it as a string")
            }
            return number
        case (.number(let number), .propertyList): return number
        case (.array(let elements), _):
            var objects: [Any] = []
            for (index, element) in elements.enumerated() { objects.append(try self.object(element, path: path + ["\(index)"])) }
            return objects
        case (.dictionary(let dictionary), _):
            var objects: [String: Any] = [:]
            for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
                objects[name] = try self.object(value, path: path + [name])
            }
            return objects
        case (.encodable(let value), .propertyList) where value is Date || value is Data: return value
        case (.encodable(let value), _): return try self.encoded(value, path)
        case (.unknown(let type), _):
            throw self.unsupported(
                path, "has the unsupported type \"\(type)\": use a string, a number, an array, a dictionary or an Encodable value")
        }
    }

    /// The value as the format's own encoder writes it.
    private func encoded(_ value: any Encodable, _ path: [String]) throws(ParameterEncodingError) -> Any {
        do {
            switch self.format {
            // In a list, since older JSON encoders and property lists do not accept a single string.
            case .json:
                let list = try JSONSerialization.jsonObject(with: try JSONEncoder().encode([AnyEncodable(value)])) as? [Any]
                return list?.first ?? NSNull()
            case .propertyList:
                let data = try PropertyListEncoder().encode([AnyEncodable(value)])
                return (try PropertyListSerialization.propertyList(from: data, format: nil) as? [Any])?.first ?? ""
            }
        } catch {
            throw ParameterEncodingError(.notEncodable, "\(self.shown(path)) could not be encoded: \(error)", cause: error)
        }
    }

    private struct AnyEncodable: Encodable {
        let value: any Encodable

        init(_ value: any Encodable) { self.value = value }

        // Uses the encoder, which has its own forms for dates and URLs, instead of the value's own method.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self.value)
        }
    }

    private func unsupported(_ path: [String], _ what: String) -> ParameterEncodingError {
        ParameterEncodingError(.unsupportedValue, "\(self.shown(path)) \(what)")
    }

    private func shown(_ path: [String]) -> String {
        path.isEmpty ? "the value" : "\"\(PlainText.escape(Self.text(of: path).utf8, limit: 200))\""
    }
}
