public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Where the downloaded file lies.
public struct URLResponseSerializer: DownloadResponseSerializer {
    public init() {}

    public func serializeDownload(request: URLRequest?, response: HTTPResponse?, fileURL: URL?, error: (any Error)?) throws -> URL {
        if let error { throw error }
        guard let fileURL else {
            throw SerializationError(.unreadableFile, "nothing was downloaded: look at the response's status")
        }
        return fileURL
    }
}

extension DownloadResponseSerializer where Self == URLResponseSerializer {
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}
