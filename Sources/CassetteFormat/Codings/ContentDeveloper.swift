internal import CassetteModel

/// Gives the content of a message its most readable form, parts included, however long it is.
///
/// Takes no codings off.
struct ContentDeveloper {
    private let form: ContentForm
    private let parts: MultipartDeveloper?
    let isComplete: Bool

    init(headers: HeaderFields, isComplete: Bool) {
        self.form = ContentForm(field: headers.firstIndex(of: "content-type").map(headers.valueBytes))
        self.parts = self.form.type.isMultipart ? MultipartDeveloper(headers: headers) : nil
        self.isComplete = isComplete
    }

    /// The form, and what is wrong with a multipart that is not what it claims.
    func content(_ octets: OctetSource, _ sink: inout some SidecarSink) throws -> (content: BodyContent, note: String?) {
        guard let parts = self.parts, octets.size > 0 else { return (try self.form.content(octets, sink: &sink), nil) }
        let (body, note) = try parts.body(octets, isComplete: self.isComplete, &sink)
        guard let body else { return (try self.form.content(octets, sink: &sink), note) }
        return (.multipart(body), note)
    }

    func fileExtension(beginning: [UInt8]) -> String {
        beginning.withUnsafeBytes(self.form.fileExtension(prefix:))
    }
}

extension ContentForm {
    /// Octets that may be too many for memory.
    func content(_ octets: OctetSource, sink: inout some SidecarSink) throws -> BodyContent {
        if let memory = octets.memory { return try self.content(memory, sink: &sink) }
        guard octets.size > Self.textLimit else { return try self.content(try octets.load(), sink: &sink) }
        return .file(try self.file(octets, sink: &sink))
    }

    /// A file, whatever else the octets could be.
    func file(_ octets: OctetSource, sink: inout some SidecarSink) throws -> Sidecar {
        var prefix = [UInt8](repeating: 0, count: min(octets.size, OctetSource.pieceSize))
        try prefix.withUnsafeMutableBytes { try octets.read(at: 0, into: $0) }
        let fileExtension = prefix.withUnsafeBytes(self.fileExtension(prefix:))
        return try sink.store(fileExtension: fileExtension) { try octets.forEachPiece($0) }
    }
}
