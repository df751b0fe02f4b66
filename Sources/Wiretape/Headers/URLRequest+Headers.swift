#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest {
    /// The fields sorted by name: a `URLRequest` keeps neither order nor duplicates, and on Linux not the spelling of names.
    ///
    /// Setting replaces all fields; those of one name are joined. On Linux Foundation drops a field whose value has a line end.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(self.allHTTPHeaderFields ?? [:]) }
        set {
            // Assigning a dictionary keeps fields of the old one on Apple's systems.
            for name in (self.allHTTPHeaderFields ?? [:]).keys { self.setValue(nil, forHTTPHeaderField: name) }
            for (name, value) in newValue.dictionary { self.setValue(value, forHTTPHeaderField: name) }
        }
    }

    /// Nil where `httpMethod` is.
    public var method: HTTPMethod? {
        get { self.httpMethod.map(HTTPMethod.init(rawValue:)) }
        set { self.httpMethod = newValue?.rawValue }
    }

    /// - Throws: what the URL's conversion throws, or `HTTPHeaderError`.
    public init(url: any URLConvertible, method: HTTPMethod, headers: HTTPHeaders? = nil) throws {
        self.init(url: try url.asURL())
        self.method = method
        if let headers { self.headers = try headers.validated() }
    }
}
