internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Where a body goes: a URL with a method and fields, or a request of somebody's.
enum UploadTarget: Sendable {
    case plain(any URLConvertible, HTTPMethod, HTTPHeaders?, RequestSource.Modifier?)
    case converted(any URLRequestConvertible)

    init(_ url: any URLConvertible, _ method: HTTPMethod, _ headers: HTTPHeaders?, _ modifier: RequestSource.Modifier?) {
        self = .plain(url, method, headers, modifier)
    }

    init(_ request: any URLRequestConvertible) { self = .converted(request) }

    func source(_ content: @escaping @Sendable () throws -> RequestContent, isBlocking: Bool, spoolFolder: URL?) -> RequestSource {
        switch self {
        case .plain(let url, let method, let headers, let modifier):
            .plain(url, method, headers, body: content, isBlocking: isBlocking, modifier)
        case .converted(let request): .converted(request, body: content, isBlocking: isBlocking, spoolFolder: spoolFolder)
        }
    }
}
