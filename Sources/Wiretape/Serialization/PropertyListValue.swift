public import Foundation

/// A property list, as a value that can be handed from task to task.
public enum PropertyListValue: Sendable, Hashable {
    case string(String)
    case integer(Int)
    case real(Double)
    case bool(Bool)
    case date(Date)
    case data(Data)
    case array([PropertyListValue])
    case dictionary([String: PropertyListValue])

    /// Nil for what no property list holds.
    init?(_ object: Any) {
        switch object {
        case let date as Date: self = .date(date)
        case let data as Data: self = .data(data)
        default:
            switch FoundationValue(object) {
            case .bool(let bool): self = .bool(bool)
            case .text(let text): self = .string(text)
            case .number(let number):
                let type = String(cString: number.objCType)
                self = type == "d" || type == "f" ? .real(number.doubleValue) : .integer(number.intValue)
            case .array(let elements):
                let values = elements.compactMap(PropertyListValue.init)
                guard values.count == elements.count else { return nil }
                self = .array(values)
            case .dictionary(let members):
                let values = members.compactMapValues(PropertyListValue.init)
                guard values.count == members.count else { return nil }
                self = .dictionary(values)
            case .null, .encodable, .unknown: return nil
            }
        }
    }

    /// As `PropertyListSerialization` has it.
    public var foundationObject: Any {
        switch self {
        case .string(let value): value
        case .integer(let value): value
        case .real(let value): value
        case .bool(let value): value
        case .date(let value): value
        case .data(let value): value
        case .array(let elements): elements.map(\.foundationObject)
        case .dictionary(let members): members.mapValues(\.foundationObject)
        }
    }

    /// The member of that name; nil for what is no dictionary.
    public subscript(name: String) -> PropertyListValue? {
        guard case .dictionary(let members) = self else { return nil }
        return members[name]
    }
}
