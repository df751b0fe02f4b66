internal import CassetteStore
internal import Foundation

/// A body with its type, and its temporary file if it has one.
struct RequestContent: Sendable {
    var body: RequestBody
    /// The value of Content-Type; nil if unknown.
    var type: String?
    var spool: TemporaryFile?

    static var none: RequestContent { RequestContent(body: .none) }

    init(body: RequestBody, type: String? = nil, spool: TemporaryFile? = nil) {
        self.body = body
        self.type = type
        self.spool = spool
    }

    /// A file of the caller, read when it is sent.
    init(file: URL) throws {
        guard file.isFileURL else {
            throw WiretapeError(.requestBody, "\"\(file.absoluteString)\" is no file: make its URL with URL(fileURLWithPath:)")
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            throw WiretapeError(.requestBody, "there is no file \"\(file.path)\": give the path of one that can be read")
        }
        guard !isFolder.boolValue else { throw WiretapeError(.requestBody, "\"\(file.path)\" is a folder: give the path of a file in it") }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        guard let size = (attributes[.size] as? NSNumber)?.intValue, FileManager.default.isReadableFile(atPath: file.path) else {
            throw WiretapeError(.requestBody, "the file \"\(file.path)\" cannot be read: give the path of one that can")
        }
        self.init(body: .file(file, size: size))
    }

    init(spooling stream: InputStream, folder: URL?) throws {
        let file = try stream.spooled(in: folder)
        self.init(body: .file(URL(fileURLWithPath: file.path), size: file.size), spool: file)
    }

    /// A form: in memory up to the threshold in bytes, in a file above it.
    init(_ form: MultipartFormData, threshold: Int, folder: URL?) throws {
        switch try form.encode(threshold: threshold, folder: folder?.path) {
        case .memory(let octets): self.init(body: .data(Data(octets)), type: form.contentType)
        case .file(let file):
            self.init(body: .file(URL(fileURLWithPath: file.path), size: file.size), type: form.contentType, spool: file)
        }
    }
}

extension InputStream {
    /// Bytes read at once.
    private static let pieceSize = 64 << 10

    /// All bytes, in memory.
    func contents() throws -> Data {
        var result = Data()
        try self.read { result.append(contentsOf: $0) }
        return result
    }

    /// All bytes, in a file that is removed with the last reference to it.
    func spooled(in folder: URL?) throws -> TemporaryFile {
        try TemporaryFile(form: folder?.path) { write in try self.read { try write($0) } }
    }

    /// Never asks for `streamError`: if there is none, Foundation on Linux crashes.
    private func read(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard self.streamStatus == .notOpen else {
            throw WiretapeError(
                .requestBody, "the stream of the body has been opened already, and cannot be read twice: give the data or a file")
        }
        self.open()
        defer { self.close() }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        guard let start = piece.baseAddress else { return }
        while true {
            let count = self.read(start.assumingMemoryBound(to: UInt8.self), maxLength: piece.count)
            guard count >= 0 else {
                throw WiretapeError(.requestBody, "the stream of the body could not be read to its end: give the data or a file")
            }
            guard count > 0 else { return }
            try take(UnsafeRawBufferPointer(rebasing: piece.prefix(count)))
        }
    }
}
