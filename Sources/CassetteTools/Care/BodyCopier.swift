internal import CassetteModel
internal import CassetteStore
internal import TapeBytes

/// Copies what a body has beside its cassette into the store of another, and names it anew.
struct BodyCopier {
    private let reader: BodyReader
    private let store: BodyStore
    private let digest: () -> any ContentDigest

    init(from path: String, to store: BodyStore, digest: @escaping () -> any ContentDigest) {
        self.reader = BodyReader(cassettePath: path)
        self.store = store
        self.digest = digest
    }

    func copy(_ body: Body) throws -> Body {
        var body = body
        if let original = body.original { body.original = try self.copy(original) }
        switch body.content {
        case .file(let sidecar): body.content = .file(try self.copy(sidecar))
        case .multipart(let parts):
            body.content = .multipart(
                try parts.mapData { content in
                    guard case .file(let sidecar) = content else { return content }
                    return .file(try self.copy(sidecar))
                })
        case .raw(let slice): body.content = .raw(try self.copy(slice))
        case .empty, .text, .encodedText, .json, .form, .lines, .events, .binary: break
        }
        return body
    }

    /// Checked against its digest on the way.
    private func copy(_ sidecar: Sidecar) throws -> Sidecar {
        func open(_ digest: some ContentDigest) throws -> BodyStream { try self.reader.open(sidecar, digest: digest) }
        let stream = try open(self.digest())
        let spool = try self.store.makeSpool()
        try Self.forEachPiece(of: stream) { try spool.write($0) }
        let name = sidecar.path.split(separator: "/").last ?? ""
        let fileExtension = name.split(separator: ".").dropFirst().last.map(String.init) ?? "bin"
        return try spool.finish(sha256: sidecar.sha256, ext: fileExtension)
    }

    private func copy(_ slice: RawSlice) throws -> RawSlice {
        let spool = try self.store.rawSpool()
        var copy = try spool.append([])
        try Self.forEachPiece(of: self.reader.open(slice)) { try spool.append($0, to: &copy) }
        return copy
    }

    private static func forEachPiece(of stream: BodyStream, _ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: OctetSource.pieceSize, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try stream.read(into: buffer)
            guard count > 0 else { return }
            try take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
