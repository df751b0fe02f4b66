import Foundation

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request to `http://h/p?token=s` and its result.
enum SampleResponse {
    static func request(_ method: HTTPSession.Method = .get, _ headers: HTTPSession.Headers = [:]) throws -> URLRequest {
        try URLRequest(url: "http://h/p?token=s", method: method, headers: headers)
    }

    static func response(_ status: Int = 200, _ headers: HTTPSession.Headers = [:]) throws -> HTTPSession.Response {
        HTTPSession.Response(url: try "http://h/p?token=s".asURL(), status: status, headers: headers)
    }
}
