import Foundation
import Wiretape

/// A download that goes on where an earlier one was interrupted.
public struct ResumedDownload: Sendable {
    private let url: URL
    private let session: HTTPSession

    public init(_ url: URL, session: HTTPSession = HTTPSession()) {
        self.url = url.appendingPathComponent("album")
        self.session = session
    }

    /// Appends what is missing to the file.
    ///
    /// - Returns: its size then.
    public func resume(_ file: URL) async throws -> Int {
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int ?? 0
        let rest = try await self.session.download(self.url, headers: [.range("bytes=\(size)-")])
            .validate(statusCode: [206]).serializingDownloadedFileURL().value
        defer { try? FileManager.default.removeItem(at: rest) }
        let handle = try FileHandle(forWritingTo: file)
        defer { try? handle.close() }
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(contentsOf: rest))
        return Int(try handle.offset())
    }
}
