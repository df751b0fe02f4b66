internal import Foundation
internal import TapeBytes

/// Makes a value fit for `JSONSerialization` and `PropertyListSerialization`, which end the process or say nothing useful where it is not.
struct SerializableValue {
    enum Format {
        case json
        case propertyList
    }

    let format: Format

    /// - Throws: `ParameterEncodingError` naming the place.
    func object(_ value: Any) throws(ParameterEncodingError) -> Any { try self.object(value, path: []) }

    private func object(_ value: Any, path: [any CodingKey]) throws(ParameterEncodingError) -> Any {
        guard path.count <= FormValueEncoder.depthLimit else {
            throw ParameterEncodingError(
                .tooDeep, "\(self.shown(path)) has more than \(FormValueEncoder.depthLimit) values within values: send a value that ends")
        }
        switch (FoundationValue(value), self.format) {
        case (.null, .json): return NSNull()
        case (.null, .propertyList): throw self.unsupported(path, "nil, which a property list cannot say: leave it out")
        case (.bool(let bool), _): return bool
        case (.text(let text), _): return text
        case (.number(let number), .json):
            guard number.doubleValue.isFinite else {
                throw self.unsupported(path, "the number \(number), which JSON cannot say: leave it out, or send a text")
            }
            return number
        case (.number(let number), .propertyList): return number
        case (.array(let elements), _):
            var objects: [Any] = []
            for (index, element) in elements.enumerated() { objects.append(try self.object(element, path: path + [FormKey(index: index)])) }
            return objects
        case (.dictionary(let dictionary), _):
            var objects: [String: Any] = [:]
            for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) {
                objects[name] = try self.object(value, path: path + [FormKey(name)])
            }
            return objects
        case (.encodable(let value), .propertyList) where value is Date || value is Data: return value
        case (.encodable(let value), _): return try self.encoded(value, path)
        case (.unknown(let type), _):
            throw self.unsupported(path, "the type \"\(type)\": make it a text, a number, a list, a dictionary or Encodable")
        }
    }

    /// What the value's own encoder makes of it.
    private func encoded(_ value: any Encodable, _ path: [any CodingKey]) throws(ParameterEncodingError) -> Any {
        do {
            switch self.format {
            // In a list, since text alone was no JSON once, and is no property list.
            case .json:
                let list = try JSONSerialization.jsonObject(with: try JSONEncoder().encode([AnyEncodable(value)])) as? [Any]
                return list?.first ?? NSNull()
            case .propertyList:
                let data = try PropertyListEncoder().encode([AnyEncodable(value)])
                return (try PropertyListSerialization.propertyList(from: data, format: nil) as? [Any])?.first ?? ""
            }
        } catch {
            throw ParameterEncodingError(.notEncodable, "\(self.shown(path)) could not be encoded: \(error)", underlying: error)
        }
    }

    private struct AnyEncodable: Encodable {
        let value: any Encodable

        init(_ value: any Encodable) { self.value = value }

        // By the encoder, which knows dates and URLs, where the value's own method does not.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self.value)
        }
    }

    private func unsupported(_ path: [any CodingKey], _ what: String) -> ParameterEncodingError {
        ParameterEncodingError(.unsupportedValue, "\(self.shown(path)) has \(what)")
    }

    private func shown(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the value" : "\"\(PlainText.escape(FormKey.text(of: path).utf8, limit: 200))\""
    }
}
