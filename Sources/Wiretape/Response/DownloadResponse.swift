public import Foundation

/// What came of a download.
public typealias DownloadResponse<Value: Sendable> = ContentResponse<URL, Value>

extension ContentResponse where Content == URL {
    /// Where the file is; nil where the request failed.
    public var fileURL: URL? { self.outcome.fileURL }
}
