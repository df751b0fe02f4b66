public import Foundation

extension URLEncodedFormEncoder {
    public enum DataEncoding: Sendable {
        /// As `Data` encodes itself: a list of numbers.
        case deferredToData
        case base64
        case custom(@Sendable (Data) throws -> String)

        /// Nil where the value encodes itself.
        func encode(_ data: Data) throws -> String? {
            switch self {
            case .deferredToData: nil
            case .base64: data.base64EncodedString()
            case .custom(let encode): try encode(data)
            }
        }
    }
}
