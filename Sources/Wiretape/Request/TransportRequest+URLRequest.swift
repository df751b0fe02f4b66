internal import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest {
    /// A view that keeps neither order nor duplicates of fields, nor a body that is in a file.
    public init(_ request: TransportRequest) {
        self.init(url: request.url)
        self.httpMethod = request.method
        self.headers = request.headers
        if case .data(let data) = request.body { self.httpBody = data }
    }
}

extension TransportRequest {
    /// Fields sorted by name, since a `URLRequest` has no order. A stream for a body is not read here.
    public init(_ request: URLRequest, label: String? = nil) throws {
        guard let url = request.url else {
            throw WiretapeError(.invalidRequest, "a URLRequest without a URL cannot be sent: give it one")
        }
        self.init(
            method: request.httpMethod ?? "GET", url: url, headers: request.headers, body: request.httpBody.map { .data($0) } ?? .none,
            label: label)
    }

    /// The request after somebody has worked on a `URLRequest` made from it: what was left alone stays as it is, duplicates, order and
    /// files included; new fields come last, by name.
    func adapted(from view: URLRequest, to adapted: URLRequest) throws -> TransportRequest {
        guard let url = adapted.url else {
            throw WiretapeError(.adapter, "an adapter took the URL out of the request: let it return a request with one")
        }
        var result = self
        result.url = url
        result.method = adapted.httpMethod ?? "GET"
        result.headers = self.headers.changed(from: view.headers, to: adapted.headers)
        if let stream = adapted.httpBodyStream {
            result.body = .data(try stream.contents())
        } else if adapted.httpBody != view.httpBody {
            result.body = adapted.httpBody.map { .data($0) } ?? .none
        }
        return result
    }
}
