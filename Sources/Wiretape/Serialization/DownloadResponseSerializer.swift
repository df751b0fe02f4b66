public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Makes a value of a downloaded file.
public protocol DownloadResponseSerializer<SerializedObject>: Sendable {
    associatedtype SerializedObject: Sendable

    /// - Parameters:
    ///   - fileURL: where the body lies; nil where none came.
    ///   - error: what the request failed with; thrown as it is.
    func serializeDownload(request: URLRequest?, response: HTTPResponse?, fileURL: URL?, error: (any Error)?) throws -> SerializedObject
}
