#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPURLResponse {
    /// The head exactly as received, with duplicate fields, the original order and spelling, and its source. Nil for a response that did
    /// not come from a transport, or that the system has replaced with a copy.
    public var exactHead: HTTPSession.Response? { (self as? TapedURLResponse)?.head }
}

/// The response given to a foreign `URLSession`: the one that URLSession itself would have created, plus the head as received.
final class TapedURLResponse: HTTPURLResponse, @unchecked Sendable {
    // SAFETY: unchecked as its superclass is; immutable.

    /// True while a load with a 401 finishes, on the thread that finishes it.
    ///
    /// On Linux, URLSession turns a 401 that asks for Basic credentials into a challenge, which hangs (Swift before 6.3.2) or sends the
    /// request to the network. It does not do so for a response without a URL, so the URL is nil for that moment.
    @TaskLocal static var isFinishing = false

    let head: HTTPSession.Response

    /// Nil if URLSession does not accept such a response.
    init?(_ head: HTTPSession.Response) {
        self.head = head
        super.init(url: head.url, statusCode: head.status, httpVersion: "HTTP/1.1", headerFields: Self.fields(head.headers))
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override var url: URL? { Self.isFinishing ? nil : super.url }

    /// Duplicates are joined as URLSession joins them (RFC 9110, 5.3), under the first spelling.
    static func fields(_ headers: HTTPSession.Headers) -> [String: String] {
        var fields: [String: String] = [:]
        var spellings: [String: String] = [:]
        for header in headers {
            let name = spellings[header.name.lowercased()] ?? header.name
            spellings[header.name.lowercased()] = name
            fields[name] = fields[name].map { "\($0), \(header.value)" } ?? header.value
        }
        return fields
    }
}

/// Converts the request of a load for a transport, and back for a delegate that is asked about a redirect.
///
/// The fields of a `URLRequest` have no order and no duplicates: they are sorted by name, so that recordings are reproducible.
enum LoadRequest {
    /// - Parameter additional: the session's `httpAdditionalHeaders`, which the request does not show on Linux; the request's fields win.
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
            // URLSession adds it, too.
            fields.append(("Content-Type", "application/x-www-form-urlencoded"))
        }
        fields.sort { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
        let headers = HTTPSession.Headers(fields.map { HTTPSession.Header(name: $0.name, value: $0.value) })
        return TransportRequest(method: method, url: url, headers: headers, body: body)
    }

    private static func needsFormType(method: String, body: RequestBody) -> Bool {
        switch body {
        case .none, .file, .unobservable: false
        case .data(let data): method == "POST" && !data.isEmpty
        }
    }

    /// The next request of a redirect, to show to a delegate. A body in a file is left out.
    static func urlRequest(_ request: TransportRequest) -> URLRequest {
        var shown = URLRequest(url: request.url)
        shown.httpMethod = request.method
        for (name, value) in TapedURLResponse.fields(request.headers) { shown.setValue(value, forHTTPHeaderField: name) }
        if case .data(let data) = request.body { shown.httpBody = data }
        return shown
    }

    /// Converts the request that a delegate has returned.
    ///
    /// - Parameter proposed: the request that the delegate was shown. Its body is kept if the answer has the same method and no body.
    static func transportRequest(_ answer: URLRequest, insteadOf proposed: TransportRequest) -> TransportRequest {
        let method = answer.httpMethod ?? "GET"
        return Self.transportRequest(
            answer, url: answer.url ?? proposed.url, additional: nil,
            body: Self.body(answer.httpBody, method == proposed.method ? proposed.body : .none))
    }

    private static func body(_ data: Data?, _ proposed: RequestBody) -> RequestBody {
        if let data { return .data(data) }
        switch proposed {
        // `urlRequest` shows these two without a body.
        case .file, .unobservable: return proposed
        case .none, .data: return .none
        }
    }
}
