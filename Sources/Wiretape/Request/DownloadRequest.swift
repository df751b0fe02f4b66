internal import CassetteModel
public import Dispatch
public import Foundation
internal import TapeBytes

/// A request whose answer goes into a file, octet by octet: memory stays flat whatever comes.
// SAFETY: see Request; nothing is stored here.
public final class DownloadRequest: Request, @unchecked Sendable {
    /// What may be done to put a file in its place.
    public struct Options: OptionSet, Sendable, Hashable {
        /// Creates the folders on the way to the destination.
        public static let createIntermediateDirectories = Options(rawValue: 1)
        /// Takes the place of a file that is there, in one step.
        public static let removePreviousFile = Options(rawValue: 2)

        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }
    }

    /// Says where a whole, acceptable answer goes. Called once, before the first handler.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPResponse) -> (destinationURL: URL, options: Options)

    /// Into a folder, under the name that the answer suggests (Content-Disposition, or the last part of the URL), which is never a path.
    public static func suggestedDownloadDestination(in folder: URL, options: Options = []) -> Destination {
        { _, response in (folder.appendingPathComponent(Self.fileName(response)), options) }
    }

    /// Where the file is: in its place, or in the temporary folder where no destination was given; then it is the caller's to remove. Nil
    /// before the end, and where the request failed.
    public var fileURL: URL? { self.data.withLock { $0.outcome?.fileURL } }

    static func fileName(_ response: HTTPResponse) -> String {
        let suggested =
            response.headers.value(for: "Content-Disposition").flatMap(self.fileName(disposition:)) ?? response.url.lastPathComponent
        // Separators of all systems, so that no answer chooses the folder.
        let name = suggested.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        return name.isEmpty || name.allSatisfy { $0 == "." } ? "unknown" : name
    }

    /// The extended name before the plain one (RFC 6266, 4.3). Foundation's own reading gives "Unknown" on Linux where nothing is said.
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

    /// Calls a handler with the answer as it is, behind all handlers that were added before; at once where the request is over.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DownloadResponse<URL?>) -> Void
    ) -> Self {
        self.add(queue, { DownloadResponse($0, $0.fileURL) }, completionHandler)
        return self
    }

    /// What a serializer makes of the answer. It works off the queue; the handler is called on it.
    @discardableResult
    public func response<Serializer: DownloadResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        self.add(queue, { [core] in core.respond(download: $0, responseSerializer) }, completionHandler)
        return self
    }

    /// Where the file is.
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (DownloadResponse<URL>) -> Void
    ) -> Self {
        self.response(queue: queue, responseSerializer: URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// What a serializer makes of the answer.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializing<Serializer: DownloadResponseSerializer>(
        _ serializer: Serializer, automaticallyCancelling: Bool = true
    ) -> DownloadTask<Serializer.SerializedObject> {
        DownloadTask(self, cancelsAutomatically: automaticallyCancelling) { [core] in core.respond(download: $0, serializer) }
    }

    /// Where the file is.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> DownloadTask<URL> {
        self.serializing(URLResponseSerializer(), automaticallyCancelling: automaticallyCancelling)
    }
}
