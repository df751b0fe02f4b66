internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Where form-encoded parameters go.
public enum ParameterDestination: Sendable, Hashable {
    /// Into the query for GET, HEAD and DELETE, else into the body.
    case methodDependent
    /// Behind the query that is there.
    case queryString
    /// In place of the body that is there.
    case httpBody

    func isQuery(for method: HTTPMethod) -> Bool {
        switch self {
        case .methodDependent: [.get, .head, .delete].contains(method)
        case .queryString: true
        case .httpBody: false
        }
    }

    /// - Parameter form: percent-encoded.
    func put(_ form: String, into request: URLRequest) throws -> URLRequest {
        var request = request
        if self.isQuery(for: request.method ?? .get) {
            guard let url = request.url else {
                throw ParameterEncodingError(.missingURL, "the request has no URL to put a query into: make it with one")
            }
            request.url = try url.appending(query: form)
        } else {
            request.fillBody(Data(form.utf8), contentType: "application/x-www-form-urlencoded; charset=utf-8")
        }
        return request
    }
}
