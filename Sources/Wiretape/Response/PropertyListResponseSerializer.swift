public import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPSession {
    /// The body as a property list, in XML or binary; an empty dictionary if there is none and none is required.
    public struct PropertyListResponseSerializer: ResponseSerializer {
        public let dataPreprocessor: any DataPreprocessor
        public let emptyRequestMethods: Set<Method>
        public let emptyResponseCodes: Set<Int>

        public init(
            dataPreprocessor: any DataPreprocessor = .passthrough, emptyRequestMethods: Set<Method> = [.head],
            emptyResponseCodes: Set<Int> = [204, 205]
        ) {
            self.dataPreprocessor = dataPreprocessor
            self.emptyRequestMethods = emptyRequestMethods
            self.emptyResponseCodes = emptyResponseCodes
        }

        public func serialize(request: URLRequest?, response: Response?, data: Data?, error: (any Error)?) throws -> PropertyListValue {
            guard let data = try self.body(request: request, response: response, data: data, error: error) else { return .dictionary([:]) }
            var format = PropertyListSerialization.PropertyListFormat.xml
            do {
                let object = try PropertyListSerialization.propertyList(from: data, options: [], format: &format)
                // A single word is valid in the OpenStep format, so much other text would be accepted.
                guard format != .openStep else { throw CocoaError(.propertyListReadCorrupt) }
                if let value = PropertyListValue(object) { return value }
            } catch {
                throw SerializationError(
                    .invalidPropertyList, "the \(data.count)-byte body is not an XML or binary property list: look at it as text",
                    cause: error)
            }
            throw SerializationError(
                .invalidPropertyList, "the property list has a value of an unknown type: decode it into a type of your own")
        }
    }
}

extension HTTPSession.DownloadResponseSerializer where Self == HTTPSession.PropertyListResponseSerializer {
    public static var propertyList: HTTPSession.PropertyListResponseSerializer { HTTPSession.PropertyListResponseSerializer() }
}

extension HTTPSession {
    /// A property list as a `Sendable` value.
    public enum PropertyListValue: Sendable, Hashable {
        case string(String)
        case integer(Int)
        case real(Double)
        case bool(Bool)
        case date(Date)
        case data(Data)
        case array([PropertyListValue])
        case dictionary([String: PropertyListValue])

        /// Nil if no property list can hold it.
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

        /// The same as objects of `PropertyListSerialization`.
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

        /// The member with that name; nil if there is none or this is not a dictionary.
        public subscript(name: String) -> PropertyListValue? {
            guard case .dictionary(let members) = self else { return nil }
            return members[name]
        }
    }
}
