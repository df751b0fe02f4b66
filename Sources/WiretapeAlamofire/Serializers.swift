public import Foundation
public import Wiretape

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Makes a value of a response's body, with Alamofire's signature.
public protocol ResponseSerializer<SerializedObject>: HTTPSession.ResponseSerializer {
    associatedtype SerializedObject

    func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> SerializedObject
}

extension ResponseSerializer {
    public func serialize(request: URLRequest?, response: HTTPSession.Response?, data: Data?, error: (any Error)?) throws
        -> SerializedObject
    {
        try self.serialize(request: request, response: try response?.foundation(), data: data, error: error)
    }
}

extension HTTPSession.ResponseSerializer {
    /// With Foundation's response, which has joined duplicate fields.
    @_disfavoredOverload
    public func serialize(request: URLRequest?, response: HTTPURLResponse?, data: Data?, error: (any Error)?) throws -> SerializedObject {
        try self.serialize(request: request, response: response.map { HTTPSession.Response(of: $0) }, data: data, error: error)
    }
}

extension HTTPSession.Response {
    fileprivate init(of response: HTTPURLResponse) {
        if let exact = response.exactHead {
            self = exact
            return
        }
        let fields = response.allHeaderFields.map { HTTPSession.Header(name: "\($0.key)", value: "\($0.value)") }
        // An HTTP response has a URL, although Foundation's type allows nil.
        self.init(
            url: response.url ?? URL(fileURLWithPath: "/"), status: response.statusCode,
            headers: HTTPSession.Headers(fields.sorted { $0.name < $1.name }))
    }
}
