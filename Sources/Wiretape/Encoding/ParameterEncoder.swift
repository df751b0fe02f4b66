#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Puts `Encodable` parameters into a request.
public protocol ParameterEncoder: Sendable {
    /// - Parameter parameters: nil leaves the request as it is.
    /// - Throws: `ParameterEncodingError`, `URLConversionError`, or an error of the encoder's own.
    func encode<Parameters: Encodable & Sendable>(_ parameters: Parameters?, into request: URLRequest) throws -> URLRequest
}
