public import Foundation

/// Makes values of octets: `JSONDecoder`, `PropertyListDecoder`, or one of one's own.
public protocol DataDecoder: Sendable {
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension JSONDecoder: DataDecoder {}
extension PropertyListDecoder: DataDecoder {}
