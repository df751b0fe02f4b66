package import Foundation

/// A value of dynamic type, classified the same way on every platform.
///
/// Foundation on Linux casts a number 1 to `Bool` and a `Bool` to `NSNumber`, so types are compared, not cast.
package enum FoundationValue {
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

    package init(_ value: Any) {
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
        // Converted through its shortest text: as a plain double, 1.1 would be 1.10000002384186.
        case let number as Float: self = .number(NSNumber(value: Double("\(number)") ?? Double(number)))
        case let number as any BinaryFloatingPoint: self = .number(NSNumber(value: Double(number)))
        case let number as Decimal: self = .number(NSDecimalNumber(decimal: number))
        case let dictionary as [String: Any]: self = .dictionary(dictionary)
        case let array as [Any]: self = .array(array)
        case let value as any Encodable: self = .encodable(value)
        default: self = .unknown("\(type(of: value))")
        }
    }

    package var isNull: Bool {
        if case .null = self { true } else { false }
    }

    /// `1` for a whole number of any type: `stringValue` of 1.0 is "1" on Apple's systems and "1.0" on Linux.
    package static func text(of number: NSNumber) -> String {
        guard ["d", "f"].contains(String(cString: number.objCType)) else { return number.stringValue }
        // 2 to the power of 53: above it, not every whole number is a double.
        let limit = 9_007_199_254_740_992.0
        let double = number.doubleValue
        guard double.magnitude < limit, double == double.rounded() else { return "\(double)" }
        return "\(Int(double))"
    }
}
