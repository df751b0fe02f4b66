import Foundation

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request to `http://h/p?token=s` and what came of it.
enum SampleResponse {
    static func request(_ method: HTTPMethod = .get, _ headers: HTTPHeaders = [:]) throws -> URLRequest {
        try URLRequest(url: "http://h/p?token=s", method: method, headers: headers)
    }

    static func response(_ status: Int = 200, _ headers: HTTPHeaders = [:]) throws -> HTTPResponse {
        HTTPResponse(url: try "http://h/p?token=s".asURL(), status: status, headers: headers)
    }
}
