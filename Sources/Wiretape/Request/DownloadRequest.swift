internal import CassetteModel
public import Dispatch
public import Foundation
internal import TapeBytes

/// A request whose answer is written to a file as it arrives, with constant memory.
// SAFETY: see Request; nothing is stored here.
public final class DownloadRequest: Request, @unchecked Sendable {
    /// What may be done to move a file to its destination.
    public struct Options: OptionSet, Sendable, Hashable {
        /// Creates the folders of the destination.
        public static let createIntermediateDirectories = Options(rawValue: 1)
        /// Replaces an existing file, in one step.
        public static let removePreviousFile = Options(rawValue: 2)

        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Returns where a complete, valid answer goes. Called once, before the first handler.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPResponse) -> (destinationURL: URL, options: Options)

    /// A destination in a folder, named as the answer suggests: by Content-Disposition, or the last part of the URL. The name is never a
    /// path.
    public static func suggestedDownloadDestination(in folder: URL, options: Options = []) -> Destination {
        { _, response in (folder.appendingPathComponent(Self.fileName(response)), options) }
    }

    /// Where the file is: at its destination, or in the temporary folder if none was given; the caller then removes it. Nil before the end,
    /// and if the request failed.
    public var fileURL: URL? { self.data.withLock { $0.outcome?.fileURL } }

    static func fileName(_ response: HTTPResponse) -> String {
        let suggested =
            response.headers.value(for: "Content-Disposition").flatMap(self.fileName(disposition:)) ?? response.url.lastPathComponent
        // Separators of all systems, so that no answer chooses the folder.
        let name = suggested.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        return name.isEmpty || name.allSatisfy { $0 == "." } ? "unknown" : name
    }

    /// Prefers the extended name to the plain one (RFC 6266, 4.3). Foundation's own `suggestedFilename` is "Unknown" on Linux if there is
    /// none.
    private static func fileName(disposition: String) -> String? {
        let parameters = MIMEParameters(disposition.utf8).parameters
        if let extended = parameters.first(where: { $0.name == "filename*" }) {
            let parts = String(decoding: extended.value, as: UTF8.self).split(
                separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
            if parts.count == 3, parts[0].lowercased() == "utf-8", let name = String(parts[2]).removingPercentEncoding { return name }
        }
        return parameters.first { $0.name == "filename" }.map { String(decoding: $0.value, as: UTF8.self) }
    }
}

extension DownloadRequest: ContentRequest {
    public typealias Content = URL
    public typealias TaskRequest = DownloadRequest

    /// Calls a handler with the answer as it is, after all handlers added before; at once if the request has ended.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DownloadResponse<URL?>) -> Void
    ) -> Self {
        self.add(queue, { DownloadResponse($0, $0.fileURL) }, completionHandler)
        return self
    }

    /// Calls a handler on `queue` with the value a serializer makes of the answer. The serializer runs on another queue.
    @discardableResult
    public func response<Serializer: DownloadResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        self.add(queue, { [core] in core.respond(download: $0, responseSerializer) }, completionHandler)
        return self
    }

    /// Calls a handler with the URL of the file.
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DownloadResponse<URL>) -> Void
    ) -> Self {
        self.response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// The value a serializer makes of the answer.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializing<Serializer: DownloadResponseSerializer>(
        _ serializer: Serializer, automaticallyCancelling: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(self, cancelsAutomatically: automaticallyCancelling) { [core] in core.respond(download: $0, serializer) }
    }

    /// The URL of the file.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> DownloadTask<URL> {
        self.serializing(URLResponseSerializer(), automaticallyCancelling: automaticallyCancelling)
    }
}
