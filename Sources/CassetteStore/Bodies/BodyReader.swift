public import CassetteModel
public import TapeBytes

/// Reads the bodies beside a cassette, each checked against its digest or checksum.
///
/// Follows no symbolic link and leaves the cassette's sidecar folders under no name. Any thread may use it.
public struct BodyReader: Sendable {
    /// The folder the cassette lies in.
    public let folder: String

    public init(cassettePath: String) {
        self.folder = FileLocation(cassettePath).folder
    }

    /// The whole content of a sidecar.
    ///
    /// - Parameters:
    ///   - digest: a fresh SHA-256.
    ///   - limit: a larger body is refused; read it with `open`.
    public func read(_ sidecar: Sidecar, digest: some ContentDigest, limit: Int = .max) throws(CassetteError) -> [UInt8] {
        try self.readAll(self.open(sidecar, digest: digest), limit: limit)
    }

    /// The octets of a slice of the raw spool.
    public func read(_ slice: RawSlice, limit: Int = .max) throws(CassetteError) -> [UInt8] {
        try self.readAll(self.open(slice), limit: limit)
    }

    /// A sidecar, to be read piece by piece.
    public func open(_ sidecar: Sidecar, digest: some ContentDigest) throws(CassetteError) -> BodyStream {
        let file = try self.openFile(sidecar.path)
        let size = try file.size()
        guard size == sidecar.size else {
            throw CassetteError(
                .damaged, "\"\(file.path)\" has \(size) bytes where the cassette says \(sidecar.size); record the exchange again")
        }
        return BodyStream(file: file, range: 0..<size, check: .digest(digest, expected: sidecar.sha256))
    }

    /// A slice of the raw spool, to be read piece by piece.
    public func open(_ slice: RawSlice) throws(CassetteError) -> BodyStream {
        let file = try self.openFile(slice.path)
        let size = try file.size()
        guard slice.offset >= 0, slice.size >= 0, slice.offset <= size, slice.size <= size - slice.offset else {
            throw CassetteError(
                .damaged,
                "\"\(file.path)\" has \(size) bytes and not the \(slice.size) at byte \(slice.offset) that the cassette names; record the exchange again"
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

    /// A path inside a cassette is `NAME.bodies/FILE` and nothing else: a cassette is data from elsewhere and does not choose what is read.
    func openFile(_ path: String) throws(CassetteError) -> OpenFile {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].hasSuffix(".bodies"), parts.allSatisfy({ FileLocation.isPlainName($0) }) else {
            throw CassetteError(
                .unsafePath, "the cassette names a body \"\(path)\", which is not a file in a \".bodies\" folder beside it; it is not read")
        }
        let parent = try OpenFolder(self.folder)
        let folder = try OpenFolder(String(parts[0]), in: parent)
        return try OpenFile(String(parts[1]), in: folder, for: .read)
    }
}
