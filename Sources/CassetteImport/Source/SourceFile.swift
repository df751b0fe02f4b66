internal import CassetteFormat
internal import CassetteModel
internal import CassetteStore
internal import Platform
internal import TapeBytes

/// The imported bytes, read from the beginning to the end.
protocol SourceBytes: AnyObject {
    /// The next bytes, at most `count`; none at the end.
    func read(_ count: Int) throws(CassetteError) -> [UInt8]
}

extension SourceBytes {
    /// All remaining bytes, at most `limit`.
    func rest(of path: String, limit: Int = NamedFile.limit) throws(CassetteError) -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let piece = try self.read(1 << 20)
            guard !piece.isEmpty else { return bytes }
            bytes += piece
            guard bytes.count <= limit else {
                throw CassetteError(
                    .tooLarge, "\"\(path)\" has more than \(limit >> 20) MiB, the limit for such a file: split it, or shorten it.")
            }
        }
    }
}

/// Opens a file, and decompresses it if its content is gzip, whatever its name is.
enum SourceInput {
    static func open(_ path: String) throws(CassetteError) -> any SourceBytes {
        let file = try SourceFile(path)
        let magic = try file.read(2)
        file.rewind()
        return magic == [0x1F, 0x8B] ? try GzipBytes(file) : file
    }
}

/// The content of a gzip file (RFC 1952) of one or more members, decompressed as it is read.
final class GzipBytes: SourceBytes {
    private static let piece = 64 << 10

    private let file: SourceFile
    private let chain: DecoderChain
    private var held: [UInt8] = []
    private var start = 0
    private var isEnded = false

    init(_ file: SourceFile) throws(CassetteError) {
        self.file = file
        guard let chain = DecoderChain([.gzip], limits: .file(codedSize: try file.size())) else {
            throw CassetteError(.damaged, "\"\(file.path)\" cannot be decompressed: use gunzip first.")
        }
        self.chain = chain
    }

    func read(_ count: Int) throws(CassetteError) -> [UInt8] {
        while self.start == self.held.count, !self.isEnded { try self.inflate() }
        let end = min(self.held.count, self.start + count)
        defer { self.start = end }
        return Array(self.held[self.start..<end])
    }

    private func inflate() throws(CassetteError) {
        self.held.removeAll(keepingCapacity: self.held.count < 4 << 20)
        self.start = 0
        let coded = try self.file.read(Self.piece)
        guard !coded.isEmpty else {
            self.isEnded = true
            guard self.chain.finish() else { throw self.damaged("the compressed data ends early, or is not gzip") }
            return
        }
        // The closure does not throw, so `push` does not either.
        let goesOn = try? coded.withUnsafeBytes { try self.chain.push($0) { self.held += $0 } }
        guard goesOn == true else { throw self.damaged("the compressed data is damaged, or far larger than the file") }
    }

    private func damaged(_ reason: String) -> CassetteError {
        CassetteError(.damaged, "\"\(self.file.path)\" cannot be decompressed (\(reason)): use gunzip, and import its output.")
    }
}

/// Bytes in memory.
final class MemoryBytes: SourceBytes {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.rest = bytes[...] }

    func read(_ count: Int) throws(CassetteError) -> [UInt8] {
        defer { self.rest = self.rest.dropFirst(count) }
        return Array(self.rest.prefix(count))
    }
}

/// A file.
final class SourceFile: SourceBytes {
    /// The path that the caller gave.
    let path: String
    private let file: OpenFile
    private var offset = 0

    init(_ path: String) throws(CassetteError) {
        self.path = path
        self.file = try OpenFile(path, for: .read)
    }

    init(_ path: String, _ file: consuming OpenFile) {
        self.path = path
        self.file = file
    }

    func read(_ count: Int) throws(CassetteError) -> [UInt8] {
        let bytes = try self.bytes(count, at: self.offset)
        self.offset += bytes.count
        return bytes
    }

    /// All of the file, at most `limit` bytes.
    func all(limit: Int) throws(CassetteError) -> [UInt8] {
        let bytes = try self.bytes(limit + 1, at: 0)
        guard bytes.count <= limit else {
            throw CassetteError(
                .tooLarge, "\"\(self.path)\" has more than \(limit >> 20) MiB, the limit for such a file: leave it out, or shorten it")
        }
        return bytes
    }

    func rewind() { self.offset = 0 }

    func size() throws(CassetteError) -> Int { try self.file.size() }

    private func bytes(_ count: Int, at offset: Int) throws(CassetteError) -> [UInt8] {
        let room = min(count, max(try self.file.size() - offset, 0) + 1)
        var failure: CassetteError?
        let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, filled in
            do throws(CassetteError) {
                // SAFETY: `read` has filled as many bytes as it returns.
                filled = try self.file.read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
                filled = 0
            }
        }
        if let failure { throw failure }
        return bytes.count > count ? Array(bytes.prefix(count)) : bytes
    }
}

/// A file that another file names: must be below that file's folder, and is not reached through symbolic links.
enum NamedFile {
    /// In bytes.
    static let limit = 256 << 20

    /// - Parameters:
    ///   - name: the name as given, with slashes for folders.
    ///   - folder: the folder that must contain the file.
    ///   - inner: a folder in `folder` that the name is relative to.
    static func read(_ name: String, below folder: String, in inner: String? = nil) throws(CassetteError) -> [UInt8] {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        let plain = [inner].compactMap { $0 } + parts.dropLast().drop { $0 == "." } + parts.suffix(1)
        return try self.open(plain, below: folder).all(limit: self.limit)
    }

    /// - Parameter parts: the names of the folders on the way, and the file's name.
    static func open(_ parts: [String], below folder: String) throws(CassetteError) -> SourceFile {
        let file = try Self.open(parts.last ?? "", parts.dropLast(), in: OpenFolder(folder))
        return SourceFile("\(folder)/\(parts.joined(separator: "/"))", file)
    }

    private static func open(_ name: String, _ folders: ArraySlice<String>, in folder: consuming OpenFolder) throws(CassetteError)
        -> OpenFile
    {
        guard let next = folders.first else { return try OpenFile(name, in: folder, for: .read) }
        return try Self.open(name, folders.dropFirst(), in: OpenFolder(next, in: folder))
    }
}
