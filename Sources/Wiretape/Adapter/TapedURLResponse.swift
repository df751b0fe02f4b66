internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// The response that a session of others is given: what URLSession itself would have made of it, with the head as it came beside it.
final class TapedURLResponse: HTTPURLResponse, @unchecked Sendable {
    // SAFETY: unchecked as its superclass is; immutable.

    /// While a load is finished with a 401, on the thread that does it.
    ///
    /// URLSession of Linux makes a challenge of a 401 that asks for Basic credentials, and the challenge hangs (Swift before 6.3.2) or sends
    /// the request to the network behind our back. It makes none for a response without a URL, so for that moment there is none.
    @TaskLocal static var isFinishing = false

    let head: HTTPResponse

    /// Nil where URLSession takes no such response.
    init?(_ head: HTTPResponse) {
        self.head = head
        super.init(url: head.url, statusCode: head.status, httpVersion: "HTTP/1.1", headerFields: Self.fields(head.headers))
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override var url: URL? { Self.isFinishing ? nil : super.url }

    /// Duplicates joined as URLSession joins those of the wire (RFC 9110, 5.3), under the spelling that came first.
    static func fields(_ headers: HTTPHeaders) -> [String: String] {
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
