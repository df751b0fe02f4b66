#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// What can say a whole request: a `URLRequest`, or a router with a case for each.
public protocol URLRequestConvertible: Sendable {
    /// - Throws: whatever the request is to fail with.
    func asURLRequest() throws -> URLRequest

    /// What people call the request, in a recording; nil for nothing. Not compared when requests are matched.
    ///
    /// Where nothing else is said, the name of an enum's case, never with its values.
    var requestLabel: String? { get }
}

extension URLRequestConvertible {
    public var requestLabel: String? {
        let mirror = Mirror(reflecting: self)
        guard mirror.displayStyle == .enum else { return nil }
        return mirror.children.first?.label ?? (mirror.children.isEmpty ? "\(self)" : nil)
    }

    /// The request, or nil where there is none.
    public var urlRequest: URLRequest? { try? self.asURLRequest() }
}

extension URLRequest: URLRequestConvertible {
    public func asURLRequest() throws -> URLRequest { self }
    public var requestLabel: String? { nil }
}
