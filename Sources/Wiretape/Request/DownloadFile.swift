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
        /// The request has ended: nothing more is written or moved.
        var isOver = false
    }

    private let folder: URL
    private let destination: DownloadRequest.Destination?
    // Locked while bytes are written: a cancel waits for the current write.
    private let state = Guarded(State())

    init(folder: URL?, destination: DownloadRequest.Destination?) {
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
                    "could not write \"\(state.temporary?.path ?? self.folder.path)\": make room there, or set temporaryFolder (\(error))",
                    underlying: error)
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

    /// The answer is complete: the file moves to its destination, or stays if there is none. Does nothing after `finish`.
    func place(_ response: HTTPResponse) throws {
        let temporary = try self.state.withLock { state -> URL? in
            guard !state.isOver else { return nil }
            // An empty answer is an empty file.
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

    private static func move(_ source: URL, to target: URL, _ options: DownloadRequest.Options) throws {
        guard target.isFileURL else {
            throw WiretapeError(.file, "\"\(target.absoluteString)\" is no file: give a destination made with URL(fileURLWithPath:)")
        }
        let folder = target.deletingLastPathComponent()
        if options.contains(.createIntermediateDirectories) {
            do {
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            } catch {
                throw WiretapeError(
                    .file, "could not create the folder \"\(folder.path)\": give a destination elsewhere (\(error))", underlying: error)
            }
        }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: target.path, isDirectory: &isFolder) {
            guard !isFolder.boolValue else { throw WiretapeError(.file, "\"\(target.path)\" is a folder: give the file's name as well") }
            guard options.contains(.removePreviousFile) else {
                throw WiretapeError(
                    .file, "\"\(target.path)\" is there already: add the option removePreviousFile, or give another destination")
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
            throw error as? WiretapeError ?? Self.error(ENOSPC, target)
        }
    }

    private static func error(_ number: Int32, _ target: URL) -> WiretapeError {
        let advice = number == ENOENT ? "add the option createIntermediateDirectories" : "give a destination that can be written"
        return WiretapeError(.file, "could not put the download at \"\(target.path)\": \(advice) (\(String(cString: strerror(number))))")
    }
}
