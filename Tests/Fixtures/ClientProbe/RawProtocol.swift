import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A URLProtocol as people write it: the test sets its startLoading before the first request.
final class RawProtocol: URLProtocol {
    // SAFETY: set once, before the first request.
    nonisolated(unsafe) static var loading: (RawProtocol) -> Void = { _ in }
    nonisolated(unsafe) static var stopping: () -> Void = {}

    override class func canInit(with request: URLRequest) -> Bool { true }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func startLoading() { Self.loading(self) }
    override func stopLoading() { Self.stopping() }

    static func configuration(_ loading: @escaping (RawProtocol) -> Void) -> URLSessionConfiguration {
        Self.loading = loading
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [RawProtocol.self]
        configuration.urlCache = nil
        return configuration
    }

    func respond(_ status: Int = 200, _ headers: [String: String] = [:]) {
        guard let url = self.request.url,
            let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers)
        else { return }
        self.client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    func load(_ text: String) { self.client?.urlProtocol(self, didLoad: Data(text.utf8)) }

    func finish() { self.client?.urlProtocolDidFinishLoading(self) }
}
