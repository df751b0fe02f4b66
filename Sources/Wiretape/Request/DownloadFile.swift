internal import Foundation
internal import Platform
internal import TapeBytes

/// The file of a download: written as bytes arrive, and moved to its destination in one step.
///
/// Only the file's owner may read it. Keeps no bytes in memory.
final class DownloadFile: Sendable {
    private struct State {
        var handle: FileHandle?
        var temporary: URL?
        var placed: URL?
        /// Whether `temporary` began as the partial file of an earlier download, whose resume data refers to it.
        var isContinued = false
        /// The request has ended: nothing more is written or moved.
        var isOver = false
        /// `temporary` stays after the end, so that another download can continue it.
        var isKept = false
    }

    private let folder: URL
    private let destination: HTTPSession.DownloadRequest.Destination?
    /// The partial download that an earlier request has left.
    let part: PartialDownload?
    // Locked while bytes are written: a cancel waits for the current write.
    private let state = Guarded(State())

    init(folder: URL?, destination: HTTPSession.DownloadRequest.Destination?, part: PartialDownload? = nil) {
        self.folder = folder ?? FileManager.default.temporaryDirectory
        self.destination = destination
        self.part = part
    }

    deinit {
        self.state.withLock { state in
            if state.isKept { try? state.handle?.close() } else { self.removeTemporary(&state) }
        }
    }

    /// The head of the response has arrived. Continues an earlier download if the response is the rest of it.
    ///
    /// - Returns: how many bytes have already been received.
    func begin(_ response: HTTPSession.Response) throws(WiretapeError) -> Int64 {
        guard let part else { return 0 }
        if response.status == 206 {
            try part.check(response)
            let handle = try part.open(in: self.folder)
            return self.state.withLock { state in
                guard !state.isOver else { return 0 }
                (state.handle, state.temporary, state.isContinued) = (handle, part.file(in: self.folder), true)
                return part.count
            }
        }
        // The representation has changed, so its beginning is useless.
        if response.status == 200 { try? FileManager.default.removeItem(at: part.file(in: self.folder)) }
        return 0
    }

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

    private func newURL() -> URL { self.folder.appendingPathComponent("wiretape-download-\(UUID().uuidString)") }

    private func create(_ state: inout State) throws -> FileHandle {
        let url = self.newURL()
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
    func restart() {
        self.state.withLock { state in
            self.removeTemporary(&state)
            state.isContinued = false
        }
    }

    /// The response is complete. Moves the file to its destination, or leaves it where it is if there is none. Does nothing after `finish`.
    func place(_ response: HTTPSession.Response) throws {
        let temporary = try self.state.withLock { state -> URL? in
            guard !state.isOver else { return nil }
            // An empty response is an empty file.
            _ = try state.handle ?? self.create(&state)
            try state.handle?.close()
            state.handle = nil
            if state.isContinued, let file = state.temporary {
                // The resume data of an earlier download refers to the file. Under a new name, that download can no longer change it.
                let own = self.newURL()
                guard rename(file.path, own.path) == 0 else { throw Self.error(errno, own) }
                (state.temporary, state.isContinued) = (own, false)
            }
            return state.temporary
        }
        guard let temporary else { return }
        // Called without the lock, because the caller's code may cancel the request.
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
    /// - Parameters:
    ///   - isKept: whether the request succeeded; otherwise a finished file in the temporary folder is removed as well, since the caller
    ///     does not know of it.
    ///   - leavesPart: whether another download may continue an unfinished file. The file is then removed with this object, unless
    ///     `takePart` was called.
    func finish(isKept: Bool = false, leavesPart: Bool = false) {
        self.state.withLock { state in
            state.isOver = true
            if leavesPart {
                try? state.handle?.close()
                state.handle = nil
            } else {
                self.removeTemporary(&state)
            }
            guard !isKept, self.destination == nil, let placed = state.placed else { return }
            try? FileManager.default.removeItem(at: placed)
            state.placed = nil
        }
    }

    /// Where the complete file is; nil before.
    var url: URL? { self.state.withLock { $0.placed } }

    /// The unfinished file and its size in bytes. The file is kept from now on. Nil if there is none, or if it is empty.
    func takePart() -> (file: URL, count: Int64)? {
        self.state.withLock { state in
            guard state.isOver, state.placed == nil, let file = state.temporary, let count = PartialDownload.size(of: file), count > 0
            else {
                return nil
            }
            state.isKept = true
            return (file, count)
        }
    }

    private func removeTemporary(_ state: inout State) {
        try? state.handle?.close()
        state.handle = nil
        // A continued file stays, because the resume data of an earlier download refers to it.
        if let temporary = state.temporary, !state.isContinued { try? FileManager.default.removeItem(at: temporary) }
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
