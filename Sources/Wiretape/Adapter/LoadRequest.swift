internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Makes the request of a load into one for a transport, and back for a delegate that is asked about a redirect.
///
/// `URLRequest` keeps its fields in no order and without duplicates: they go out sorted by name, so that recordings are alike.
enum LoadRequest {
    /// - Parameter additional: the session's `httpAdditionalHeaders`, which the request does not show on Linux; the request's own win.
    static func transportRequest(_ request: URLRequest, url: URL, additional: [AnyHashable: Any]?, body: RequestBody) -> TransportRequest {
        var fields: [(name: String, value: String)] = (request.allHTTPHeaderFields ?? [:]).map { ($0.key, $0.value) }
        if let additional, !additional.isEmpty {
            let own = Set(fields.map { $0.name.lowercased() })
            for (name, value) in additional {
                guard let name = name as? String, !own.contains(name.lowercased()) else { continue }
                fields.append((name, value as? String ?? String(describing: value)))
            }
        }
        let method = request.httpMethod ?? "GET"
        if Self.needsFormType(method: method, body: body), !fields.contains(where: { $0.name.lowercased() == "content-type" }) {
            // URLSession itself says so where nobody else does.
            fields.append(("Content-Type", "application/x-www-form-urlencoded"))
        }
        fields.sort { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
        let headers = HTTPHeaders(fields.map { HTTPHeader(name: $0.name, value: $0.value) })
        return TransportRequest(method: method, url: url, headers: headers, body: body)
    }

    private static func needsFormType(method: String, body: RequestBody) -> Bool {
        switch body {
        case .none, .file: false
        case .data(let data): method == "POST" && !data.isEmpty
        }
    }

    /// What a delegate is shown of a redirect's next request; a body in a file is not in it.
    static func urlRequest(_ request: TransportRequest) -> URLRequest {
        var shown = URLRequest(url: request.url)
        shown.httpMethod = request.method
        for (name, value) in TapedURLResponse.fields(request.headers) { shown.setValue(value, forHTTPHeaderField: name) }
        if case .data(let data) = request.body { shown.httpBody = data }
        return shown
    }

    /// What the delegate made of it.
    ///
    /// - Parameter proposed: what it was shown: its body goes along where the method is still the same and no other was put in.
    static func transportRequest(_ answer: URLRequest, insteadOf proposed: TransportRequest) -> TransportRequest {
        let method = answer.httpMethod ?? "GET"
        let body: RequestBody =
            if let data = answer.httpBody { .data(data) } else if method == proposed.method, case .file = proposed.body { proposed.body } else { .none }
        return Self.transportRequest(answer, url: answer.url ?? proposed.url, additional: nil, body: body)
    }
}
