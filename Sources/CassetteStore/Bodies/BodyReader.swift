public import CassetteFormat
public import CassetteModel
public import TapeBytes

/// Reads the bodies next to a cassette, each checked against its digest or checksum.
///
/// Never leaves the cassette's sidecar folders: follows a symbolic link only to another file in the same folder. Any thread may use it.
public struct BodyReader: Sendable {
    /// The folder of the cassette.
    public let folder: String

    /// - Parameter cassettePath: may be a symbolic link; the bodies are next to its target.
    public init(cassettePath: String) {
        self.folder = FileLocation(CassettePlace.followed(cassettePath)).folder
    }

    /// The whole content of a sidecar.
    ///
    /// - Parameters:
    ///   - digest: a fresh SHA-256.
    ///   - limit: a larger body is refused; use `open` to read it.
    public func read(_ sidecar: Sidecar, digest: some ContentDigest, limit: Int = .max) throws(CassetteError) -> [UInt8] {
        try self.readAll(self.open(sidecar, digest: digest), limit: limit)
    }

    /// The bytes of a slice of the raw spool.
    public func read(_ slice: RawSlice, limit: Int = .max) throws(CassetteError) -> [UInt8] {
        try self.readAll(self.open(slice), limit: limit)
    }

    /// Opens a sidecar for reading in pieces.
    public func open(_ sidecar: Sidecar, digest: some ContentDigest) throws(CassetteError) -> BodyStream {
        let file = try self.openFile(sidecar.path)
        let size = try file.size()
        // The journal of an open conversation may have grown since the view was created.
        let isGrowing = FileLocation(file.path).name.hasPrefix("open-") && JournalName(FileLocation(file.path).name) != nil
        guard size == sidecar.size || isGrowing && size > sidecar.size else {
            throw CassetteError(
                .damaged, "\"\(file.path)\" has \(size) bytes where the cassette says \(sidecar.size); record the exchange again")
        }
        return BodyStream(file: file, range: 0..<sidecar.size, check: .digest(digest, expected: sidecar.sha256))
    }

    /// Opens a slice of the raw spool for reading in pieces.
    public func open(_ slice: RawSlice) throws(CassetteError) -> BodyStream {
        let file = try self.openFile(slice.path)
        let size = try file.size()
        guard slice.offset >= 0, slice.size >= 0, slice.offset <= size, slice.size <= size - slice.offset else {
            throw CassetteError(
                .damaged,
                "\"\(file.path)\" has \(size) bytes, and not the \(slice.size) bytes at byte \(slice.offset) that the cassette refers to; record the exchange again"
            )
        }
        return BodyStream(file: file, range: slice.offset..<(slice.offset + slice.size), check: .crc32(0, expected: slice.crc32))
    }

    private func readAll(_ stream: BodyStream, limit: Int) throws(CassetteError) -> [UInt8] {
        guard stream.remaining <= limit else {
            throw CassetteError(
                .tooLarge, "\"\(stream.path)\" holds a body of \(stream.remaining) bytes, more than the \(limit) allowed here")
        }
        var bytes = [UInt8](repeating: 0, count: stream.remaining)
        try bytes.withUnsafeMutableBufferPointer { (buffer) throws(CassetteError) in
            _ = try stream.read(into: UnsafeMutableRawBufferPointer(buffer))
        }
        if bytes.isEmpty { _ = try stream.read(into: UnsafeMutableRawBufferPointer(start: nil, count: 0)) }
        return bytes
    }

    /// A path inside a cassette must have the form `NAME.bodies/FILE`. A cassette is untrusted input and must not choose which files are
    /// read.
    private func openFile(_ path: String) throws(CassetteError) -> OpenFile {
        try CassetteError.checkCancellation()
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasSuffix(".bodies"), parts.allSatisfy({ FileLocation.isPlainName($0) }) else {
            throw CassetteError(
                .unsafePath, "the cassette names a body \"\(path)\", which is not a file in a \".bodies\" folder next to it; it is not read"
            )
        }
        let parent = try OpenFolder(self.folder)
        let folder = try OpenFolder(String(parts[0]), in: parent)
        return try OpenFile(body: String(parts[1]), in: folder)
    }

    /// Passes the open file of a path in the cassette.
    func withFile<Result>(
        _ path: String, _ body: (borrowing OpenFile) throws(CassetteError) -> Result
    ) throws(CassetteError) -> Result {
        try body(self.openFile(path))
    }

    // MARK: Wire bytes and content

    /// A sidecar that can be read repeatedly. Its digest is checked once in advance. The file is open only while it is read.
    public func source(_ sidecar: Sidecar, digest: some ContentDigest) throws(CassetteError) -> ByteSource {
        let check = try self.open(sidecar, digest: digest)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while try check.read(into: buffer) > 0 {}
        var box: FileBox?
        return ByteSource(size: sidecar.size, rest: { box = nil }) { offset, buffer in
            let opened = try box ?? FileBox(self.openFile(sidecar.path))
            box = opened
            return try opened.file.read(into: buffer, at: offset)
        }
    }

    /// A sidecar whose bytes are not compared with their digest, for displaying a small part of a large file. The file is open only while
    /// it is read.
    package func uncheckedSource(_ sidecar: Sidecar) throws(CassetteError) -> ByteSource {
        let size = try self.withFile(sidecar.path) { file throws(CassetteError) in try file.size() }
        guard size >= sidecar.size else {
            throw CassetteError(
                .damaged, "\"\(sidecar.path)\" has \(size) bytes where the cassette says \(sidecar.size); record the exchange again")
        }
        var box: FileBox?
        return ByteSource(size: sidecar.size, rest: { box = nil }) { offset, buffer in
            let opened = try box ?? FileBox(self.openFile(sidecar.path))
            box = opened
            return try opened.file.read(into: buffer, at: offset)
        }
    }

    /// Allows a closure to hold an open file.
    private final class FileBox {
        let file: OpenFile

        init(_ file: consuming OpenFile) { self.file = file }
    }

    /// The wire bytes of a body without codings whose parts may be in files. Their digests are checked once in advance.
    public func uncodedSource(
        of body: Body, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ByteSource {
        do {
            return try BodyRestorer.uncoded(
                body, file: { try self.source($0, digest: digest()) }, raw: { ByteSource(try self.read($0)) })
        } catch {
            throw CassetteError(restoring: error)
        }
    }

    /// The content of a body without its codings. The digests of its files are checked once in advance.
    public func contentSource(
        of body: Body, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> ByteSource {
        do {
            return try BodyRestorer.decoded(
                of: body, file: { try self.source($0, digest: digest()) }, raw: { ByteSource(try self.read($0)) })
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(.unreadable, "a body cannot be read (\(error)); record the exchange again", cause: error)
        }
    }

    /// The wire bytes of any body, in pieces. The digests of its files are checked once in advance.
    public func restoredStream(of body: Body, digest: @escaping () -> any ContentDigest) throws(CassetteError) -> RestoredStream {
        do {
            return try BodyRestorer.open(
                body, file: { try self.source($0, digest: digest()) }, raw: { ByteSource(try self.read($0)) })
        } catch {
            throw CassetteError(restoring: error)
        }
    }

    /// The bytes of a body as they crossed the wire.
    public func wireBytes(
        of body: Body, digest: @escaping () -> any ContentDigest
    ) throws(CassetteError) -> BodyRestorer.Restored {
        do {
            return try BodyRestorer.wireBytes(
                of: body, file: { try self.read($0, digest: digest()) }, raw: { try self.read($0) }, digest: digest())
        } catch {
            throw CassetteError(restoring: error)
        }
    }
}

/// A body on disk, read in pieces.
///
/// The last piece is returned only after the whole body was verified, so that no caller mistakes a wrong body for a complete one.
public final class BodyStream {
    enum Check {
        case digest(any ContentDigest, expected: String)
        case crc32(UInt32, expected: UInt32)
    }

    /// Bytes not returned yet.
    public private(set) var remaining: Int
    var path: String { self.file.path }
    private let file: OpenFile
    private var offset: Int
    private var check: Check
    private var isProven = false

    init(file: consuming OpenFile, range: Range<Int>, check: Check) {
        self.file = file
        self.offset = range.lowerBound
        self.remaining = range.count
        self.check = check
    }

    /// The next bytes, as many as fit; 0 at the end. Throws instead of returning the last ones if the digest or checksum differs from the
    /// recorded one.
    public func read(into bytes: UnsafeMutableRawBufferPointer) throws(CassetteError) -> Int {
        try CassetteError.checkCancellation()
        let count = min(bytes.count, self.remaining)
        let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
        guard try self.file.read(into: piece, at: self.offset) == count else {
            throw CassetteError(.damaged, "\"\(self.path)\" ended while it was read; record the exchange again")
        }
        self.feed(UnsafeRawBufferPointer(piece))
        if self.remaining == count { try self.prove() }
        self.offset += count
        self.remaining -= count
        return count
    }

    private func feed(_ bytes: UnsafeRawBufferPointer) {
        switch self.check {
        case .digest(var digest, let expected):
            digest.update(bytes)
            self.check = .digest(digest, expected: expected)
        case .crc32(let value, let expected):
            self.check = .crc32(CRC32.value(of: bytes, after: value), expected: expected)
        }
    }

    private func prove() throws(CassetteError) {
        guard !self.isProven else { return }
        switch self.check {
        case .digest(var digest, let expected):
            guard Hex.encode(digest.finalize()) == expected else {
                throw CassetteError(
                    .damaged, "\"\(self.path)\" does not have the SHA-256 that the cassette names; restore it, or record the exchange again"
                )
            }
        case .crc32(let value, let expected):
            guard value == expected else {
                throw CassetteError(
                    .damaged,
                    "\"\(self.path)\" does not have the CRC-32 that the cassette names at byte \(self.offset); record the exchange again")
            }
        }
        self.isProven = true
    }
}

extension CassetteError {
    /// A recorded body cannot be restored from the cassette.
    ///
    /// - Parameter error: the error that was thrown; an error about the cassette is used unchanged.
    package init(restoring error: any Error) {
        self =
            error as? CassetteError
            ?? CassetteError(.unreadable, "a body cannot be restored (\(error)); record the exchange again", cause: error)
    }
}
