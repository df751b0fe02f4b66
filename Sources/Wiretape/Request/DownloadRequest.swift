internal import CassetteModel
public import Dispatch
public import Foundation
internal import Platform
internal import TapeBytes

extension HTTPSession {
    /// A request whose response is written to a file as it arrives, with constant memory.
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

        /// Returns the destination of a complete, valid response. Called once, before the first handler.
        public typealias Destination =
            @Sendable (_ temporaryURL: URL, _ response: Response) -> (destinationURL: URL, options: Options)

        /// A destination in a folder, named as the response suggests: by Content-Disposition, or the last part of the URL. The name is never a
        /// path.
        public static func suggestedDownloadDestination(in folder: URL, options: Options = []) -> Destination {
            { _, response in (folder.appendingPathComponent(Self.fileName(response)), options) }
        }

        /// Where the file is: at its destination, or in the temporary folder if none was given; the caller then removes it. Nil before the end,
        /// and if the request failed.
        public var fileURL: URL? { self.data.withLock { $0.outcome?.fileURL } }

        static func fileName(_ response: Response) -> String {
            let suggested =
                response.headers.value(for: "Content-Disposition").flatMap(self.fileName(disposition:)) ?? response.url.lastPathComponent
            // Separators of all systems, so that no response chooses the folder.
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
}

extension HTTPSession.DownloadRequest: HTTPSession.ContentRequest {
    public typealias Content = URL
    public typealias TaskRequest = HTTPSession.DownloadRequest

    /// Calls a handler with the unserialized response, after all handlers added before; at once if the request has ended.
    @discardableResult
    public func response(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (HTTPSession.DownloadResponse<URL?>) -> Void
    ) -> Self {
        self.add(queue, { HTTPSession.DownloadResponse($0, $0.fileURL) }, completionHandler)
        return self
    }

    /// Calls a handler on `queue` with the value a serializer makes of the response. The serializer runs on another queue.
    @discardableResult
    public func response<Serializer: HTTPSession.DownloadResponseSerializer>(
        queue: DispatchQueue = .main, responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (HTTPSession.DownloadResponse<Serializer.SerializedObject>) -> Void
    ) -> Self {
        self.add(queue, { [core] in core.respond(download: $0, responseSerializer) }, completionHandler)
        return self
    }

    /// Calls a handler with the URL of the file.
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main, completionHandler: @escaping @Sendable (HTTPSession.DownloadResponse<URL>) -> Void
    ) -> Self {
        self.response(queue: queue, responseSerializer: HTTPSession.URLResponseSerializer(), completionHandler: completionHandler)
    }

    /// The value a serializer makes of the response.
    ///
    /// - Parameter automaticallyCancelling: whether the request is cancelled with the task that waits for it.
    public func serializing<Serializer: HTTPSession.DownloadResponseSerializer>(
        _ serializer: Serializer, automaticallyCancelling: Bool = true
    ) -> HTTPSession.DownloadTask<Serializer.SerializedObject> {
        HTTPSession.DownloadTask(self, cancelsAutomatically: automaticallyCancelling) { [core] in core.respond(download: $0, serializer) }
    }

    /// The URL of the file.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> HTTPSession.DownloadTask<URL> {
        self.serializing(HTTPSession.URLResponseSerializer(), automaticallyCancelling: automaticallyCancelling)
    }
}

/// The file of a download: written as bytes arrive, and moved to its destination in one step.
///
/// Only the file's owner may read it. Keeps no bytes in memory.
final class DownloadFile: Sendable {
    private struct State {
        var handle: FileHandle?
        var temporary: URL?
        var placed: URL?
        /// The request has ended: nothing more is written or moved.
        var isOver = false
    }

    private let folder: URL
    private let destination: HTTPSession.DownloadRequest.Destination?
    // Locked while bytes are written: a cancel waits for the current write.
    private let state = Guarded(State())

    init(folder: URL?, destination: HTTPSession.DownloadRequest.Destination?) {
        self.folder = folder ?? FileManager.default.temporaryDirectory
        self.destination = destination
    }

    deinit { if let handle = self.state.withLock({ $0.handle }) { try? handle.close() } }

    func write(_ chunk: Data) throws {
        try self.state.withLock { state in
            guard !state.isOver else { return }
            do {
                let handle = try state.handle ?? self.create(&state)
                try handle.write(contentsOf: chunk)
            } catch let error as WiretapeError {
                throw error
            } catch {
                throw WiretapeError(
                    .file,
                    "could not write \"\(state.temporary?.path ?? self.folder.path)\": free disk space, or set temporaryFolder (\(error))",
                    cause: error)
            }
        }
    }

    private func create(_ state: inout State) throws -> FileHandle {
        let url = self.folder.appendingPathComponent("wiretape-download-\(UUID().uuidString)")
        guard FileManager.default.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw WiretapeError(
                .file,
                "could not create a file in \"\(self.folder.path)\": make the folder writable, or set temporaryFolder of the configuration")
        }
        state.temporary = url
        let handle = try FileHandle(forWritingTo: url)
        state.handle = handle
        return handle
    }

    /// Removes what was written, before another attempt.
    func restart() { self.state.withLock { self.removeTemporary(&$0) } }

    /// The response is complete: the file moves to its destination, or stays if there is none. Does nothing after `finish`.
    func place(_ response: HTTPSession.Response) throws {
        let temporary = try self.state.withLock { state -> URL? in
            guard !state.isOver else { return nil }
            // An empty response is an empty file.
            _ = try state.handle ?? self.create(&state)
            try state.handle?.close()
            state.handle = nil
            return state.temporary
        }
        guard let temporary else { return }
        // The caller's code: it may cancel the request.
        let target = self.destination.map { $0(temporary, response) }
        try self.state.withLock { state in
            guard !state.isOver else { return }
            if let (url, options) = target { try Self.move(temporary, to: url, options) }
            state.placed = target?.destinationURL ?? temporary
            state.temporary = nil
        }
    }

    /// Ends writing, and removes an unfinished file.
    ///
    /// - Parameter isKept: whether the request succeeded; otherwise a finished file in the temporary folder is removed too, since the
    ///   caller does not know of it.
    func finish(isKept: Bool = false) {
        self.state.withLock { state in
            state.isOver = true
            self.removeTemporary(&state)
            guard !isKept, self.destination == nil, let placed = state.placed else { return }
            try? FileManager.default.removeItem(at: placed)
            state.placed = nil
        }
    }

    /// Where the complete file is; nil before.
    var url: URL? { self.state.withLock { $0.placed } }

    private func removeTemporary(_ state: inout State) {
        try? state.handle?.close()
        state.handle = nil
        if let temporary = state.temporary { try? FileManager.default.removeItem(at: temporary) }
        state.temporary = nil
    }

    // MARK: Placing

    private static func move(_ source: URL, to target: URL, _ options: HTTPSession.DownloadRequest.Options) throws {
        guard target.isFileURL else {
            throw WiretapeError(.file, "\"\(target.absoluteString)\" is not a file URL: use a destination made with URL(fileURLWithPath:)")
        }
        let folder = target.deletingLastPathComponent()
        if options.contains(.createIntermediateDirectories) {
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            } catch {
                throw WiretapeError(
                    .file, "could not create the folder \"\(folder.path)\": choose another destination (\(error))", cause: error)
            }
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: target.path, isDirectory: &isFolder) {
            guard !isFolder.boolValue else { throw WiretapeError(.file, "\"\(target.path)\" is a folder: add the file name") }
            guard options.contains(.removePreviousFile) else {
                throw WiretapeError(
                    .file, "\"\(target.path)\" already exists: add the option removePreviousFile, or choose another destination")
            }
        }
        // Replaces an existing file in the same step.
        if rename(source.path, target.path) == 0 { return }
        guard errno == EXDEV else { throw Self.error(errno, target) }
        // Another file system: copy under a temporary name first.
        let neighbour = folder.appendingPathComponent(".\(target.lastPathComponent).\(UUID().uuidString)")
        do {
            try FileManager.default.copyItem(at: source, to: neighbour)
            guard rename(neighbour.path, target.path) == 0 else { throw Self.error(errno, target) }
            try? FileManager.default.removeItem(at: source)
        } catch {
            try? FileManager.default.removeItem(at: neighbour)
            throw error as? WiretapeError
                ?? WiretapeError(
                    .file, "could not copy the download to \"\(target.path)\": choose another destination (\(error))", cause: error)
        }
    }

    private static func error(_ number: Int32, _ target: URL) -> WiretapeError {
        let advice = number == ENOENT ? "add the option createIntermediateDirectories" : "choose a writable destination"
        return WiretapeError(.file, "could not move the download to \"\(target.path)\": \(advice) (\(String(cString: strerror(number))))")
    }
}
