internal import Foundation
internal import TapeBytes

/// A value of dynamic type, classified the same way on every platform.
///
/// Foundation on Linux casts a number 1 to `Bool` and a `Bool` to `NSNumber`: types are compared, not cast.
enum FoundationValue {
    case null
    case bool(Bool)
    case text(String)
    case number(NSNumber)
    case array([Any])
    case dictionary([String: Any])
    /// Date, Data, URL, UUID and the caller's own types.
    case encodable(any Encodable)
    /// The name of its type.
    case unknown(String)

    init(_ value: Any) {
        // A value in an `Any` may be an optional.
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional {
            self = mirror.children.first.map { FoundationValue($0.value) } ?? .null
            return
        }
        switch value {
        case is NSNull: self = .null
        case let number as NSNumber where type(of: value) is NSNumber.Type:
            self = type(of: number) == type(of: NSNumber(value: true)) ? .bool(number.boolValue) : .number(number)
        case let bool as Bool where type(of: value) == Bool.self: self = .bool(bool)
        case let text as String: self = .text(text)
        case let number as any BinaryInteger:
            let known = Int64(exactly: number).map { NSNumber(value: $0) } ?? UInt64(exactly: number).map { NSNumber(value: $0) }
            self = known.map { .number($0) } ?? .unknown("\(type(of: value))")
        // By its shortest text: converted to a double, 1.1 would be 1.10000002384186.
        case let number as Float: self = .number(NSNumber(value: Double("\(number)") ?? Double(number)))
        case let number as any BinaryFloatingPoint: self = .number(NSNumber(value: Double(number)))
        case let number as Decimal: self = .number(NSDecimalNumber(decimal: number))
        case let dictionary as [String: Any]: self = .dictionary(dictionary)
        case let array as [Any]: self = .array(array)
        case let value as any Encodable: self = .encodable(value)
        default: self = .unknown("\(type(of: value))")
        }
    }

    /// `1` for a whole number of any type: `stringValue` of 1.0 is "1" on Apple's systems and "1.0" on Linux.
    static func text(of number: NSNumber) -> String {
        guard ["d", "f"].contains(String(cString: number.objCType)) else { return number.stringValue }
        // 2 to the power of 53: above it, not every whole number is a double.
        let limit = 9_007_199_254_740_992.0
        let double = number.doubleValue
        guard double.magnitude < limit, double == double.rounded() else { return "\(double)" }
        return "\(Int(double))"
    }
}

/// Converts a value for `JSONSerialization` and `PropertyListSerialization`, which trap or give useless errors if they cannot write it.
struct SerializableValue {
    enum Format {
        case json
        case propertyList
    }

    let format: Format

    /// - Throws: `ParameterEncodingError` with the path of the value.
    func object(_ value: Any) throws(ParameterEncodingError) -> Any { try self.object(value, path: []) }

    private func object(_ value: Any, path: [any CodingKey]) throws(ParameterEncodingError) -> Any {
        guard path.count <= FormValueEncoder.depthLimit else {
            throw ParameterEncodingError(
                .tooDeep, "\(self.shown(path)) is nested more than \(FormValueEncoder.depthLimit) levels deep: send a value without cycles")
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
            throw self.unsupported(
                path, "has the unsupported type \"\(type)\": use a string, a number, an array, a dictionary or an Encodable value")
        }
    }

    /// The value as the format's own encoder writes it.
    private func encoded(_ value: any Encodable, _ path: [any CodingKey]) throws(ParameterEncodingError) -> Any {
        do {
            switch self.format {
            // In a list, since older JSON encoders and property lists take no bare text.
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

        // Through the encoder, which has its own forms for dates and URLs; the value's own method has not.
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(self.value)
        }
    }

    private func unsupported(_ path: [any CodingKey], _ what: String) -> ParameterEncodingError {
        ParameterEncodingError(.unsupportedValue, "\(self.shown(path)) \(what)")
    }

    private func shown(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the value" : "\"\(PlainText.escape(FormKey.text(of: path).utf8, limit: 200))\""
    }
}
