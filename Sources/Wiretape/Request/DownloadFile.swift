internal import Foundation
internal import Platform
internal import TapeBytes

/// The file of a download: written as octets come, and put in its place in one step.
///
/// Nobody but its user may read it. Octets pass through: none are kept.
final class DownloadFile: Sendable {
    private struct State {
        var handle: FileHandle?
        var temporary: URL?
        var placed: URL?
        /// The request has ended: nothing more is written or placed.
        var isOver = false
    }

    private let folder: URL
    private let destination: DownloadRequest.Destination?
    // Held while octets are written: a cancel waits for those in hand.
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

    /// Forgets what was written: another attempt comes.
    func restart() { self.state.withLock { self.removeTemporary(&$0) } }

    /// The answer is whole: the file goes to where the destination wants it, or stays where it is. Nothing happens behind `finish`.
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

    /// Removes what is not in its place, for good.
    ///
    /// - Parameter isKept: whether the request ended well; else a file that nobody was told of goes too.
    func finish(isKept: Bool = false) {
        self.state.withLock { state in
            state.isOver = true
            self.removeTemporary(&state)
            guard !isKept, self.destination == nil, let placed = state.placed else { return }
            try? FileManager.default.removeItem(at: placed)
            state.placed = nil
        }
    }

    /// Where the whole file is, if it is.
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
        // Takes the place of a file that is there in the same step.
        if rename(source.path, target.path) == 0 { return }
        guard errno == EXDEV else { throw Self.error(errno, target) }
        // On another disk: whole under another name first.
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
