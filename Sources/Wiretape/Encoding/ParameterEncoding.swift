#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Parameters that are known when the program runs: texts, numbers, `Bool`, lists and dictionaries of them, and `Encodable` values.
public typealias Parameters = [String: any Sendable]

/// Puts a dictionary of parameters into a request.
public protocol ParameterEncoding: Sendable {
    /// - Parameter parameters: nil leaves the request as it is.
    /// - Throws: what the request throws, `ParameterEncodingError`, `URLConversionError`, or an error of the encoding's own.
    func encode(_ request: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}
