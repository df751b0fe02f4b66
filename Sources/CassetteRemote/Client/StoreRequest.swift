internal import CassetteModel
internal import TapeBytes

/// The bytes of an upload, with their digests.
package struct Payload: Sendable {
    /// One PUT can have no more.
    static let sizeLimit = 5 << 30

    private enum Content: Sendable {
        case bytes([UInt8])
        case file(LocalFile)
    }

    private let content: Content
    package let size: Int
    /// In hex.
    package let sha256: String
    /// In base64; nil if MD5 is forbidden here.
    let md5: String?

    package init(_ bytes: [UInt8]) throws(StoreError) { try self.init(.bytes(bytes), size: bytes.count) }

    /// Reads the file once.
    package init(file: LocalFile) throws(StoreError) { try self.init(.file(file), size: file.size()) }

    private init(_ content: Content, size: Int) throws(StoreError) {
        guard size <= Self.sizeLimit else {
            throw StoreError(
                .tooLarge, "a file of \(size) bytes is too large: a store takes up to 5 GiB in one object. Leave it out of the cassette.")
        }
        self.content = content
        self.size = size
        guard let sha256 = DigestContext.sha256() else {
            throw StoreError(.unsupported, "OpenSSL does not provide SHA-256 here: check its configuration.")
        }
        let md5 = DigestContext.md5()
        var offset = 0
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize * 4, alignment: 16)
        defer { buffer.deallocate() }
        while offset < size {
            let count = try Self.read(content, into: buffer, at: offset)
            guard count > 0 else { throw StoreError(.damaged, "a file became shorter while it was read: run the command again.") }
            let piece = UnsafeRawBufferPointer(rebasing: buffer[..<count])
            sha256.update(piece)
            md5?.update(piece)
            offset += count
        }
        self.sha256 = Hex.encode(sha256.finalize())
        var text: [UInt8] = []
        md5?.finalize().withUnsafeBytes { Base64.encode($0, into: &text) }
        self.md5 = text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }

    /// The SHA-256 of bytes in memory, in hex.
    package static func digest(of bytes: [UInt8]) -> String { MemoryDigest.hex(bytes) }

    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(StoreError) -> Int {
        let end = min(self.size, offset + buffer.count)
        guard offset < end else { return 0 }
        return try Self.read(self.content, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<(end - offset)]), at: offset)
    }

    private static func read(
        _ content: Content, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) throws(StoreError) -> Int {
        switch content {
        case .file(let file): return try file.read(into: buffer, at: offset)
        case .bytes(let bytes):
            let end = min(bytes.count, offset + buffer.count)
            guard offset < end else { return 0 }
            bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<end])) }
            return end - offset
        }
    }
}

/// A request as a transport sends it.
package struct StoreRequest: Sendable {
    package var method: String
    package var url: String
    /// The host's own address, which no proxy may carry.
    package var isLoopback: Bool
    package var fields: [(name: String, value: String)]
    package var body: Payload?
    /// The most bytes of a successful answer; more ends the request with an error.
    package var limit: Int
    /// The time for everything.
    package var seconds: Int
}

/// The head of an answer, and the beginning of its text if it reports an error.
package struct StoreAnswer: Sendable {
    package var status: Int
    /// Names in lower case; the last one of a name.
    package var fields: [String: String]
    /// Empty for a success.
    package var errorText: [UInt8]

    package init(status: Int, fields: [String: String] = [:], errorText: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.errorText = errorText
    }
}

/// Why no whole answer came.
package struct TransportFailure: Error, Sendable {
    package enum Kind: Sendable {
        /// Nobody listens there, or the name does not exist.
        case noConnection
        /// The server's certificate, or its TLS.
        case tls
        /// It broke off, or took too long.
        case broken
        /// It sent more than allowed.
        case tooLarge
    }

    package var kind: Kind
    /// For people; without a URL.
    package var reason: String
}

/// Sends requests. Any thread may use it, and several at once.
package protocol StoreTransport: Sendable {
    /// - Parameter sink: receives the body of an answer with a status from 200 to 299, piece by piece.
    /// - Throws: `TransportFailure`, or what `sink` throws.
    func send(_ request: StoreRequest, _ sink: (UnsafeRawBufferPointer) throws(StoreError) -> Void) throws -> StoreAnswer
}
