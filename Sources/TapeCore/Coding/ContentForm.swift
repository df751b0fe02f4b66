/// Chooses the most readable form for the octets of a content: JSON, text, base64, or a file beside the cassette.
///
/// Takes no codings off and proves nothing but that JSON can be written back.
struct ContentForm {
    /// Longer text and JSON goes to a file: a diff of more is not read by people.
    static let textLimit = 64 << 10
    /// Longer binary content goes to a file: base64 is not read at all.
    static let binaryLimit = 4 << 10

    var type: MediaType
    /// For octets that are neither text nor of the type, since a coding is still on them.
    var codedExtension: String?

    init(type: MediaType, codedExtension: String? = nil) {
        self.type = type
        self.codedExtension = codedExtension
    }

    /// Octets in memory, all of them.
    func content(_ octets: [UInt8], sink: inout some SidecarSink) throws -> BodyContent {
        // Not `.empty`: that is a body without wire octets, and this one may be the content of a coded body.
        guard let first = octets.first else { return .text([]) }
        return try octets.withUnsafeBytes { bytes in
            if octets.count <= Self.textLimit, self.mayBeJSON(first), let style = JSONBody.style(of: bytes) {
                return .json(octets, style: style)
            }
            let isText = self.type.kind != .binary && ReadableText.isReadable(bytes)
            if octets.count <= (isText ? Self.textLimit : Self.binaryLimit) { return isText ? .text(octets) : .binary(octets) }
            let fileExtension = self.fileExtension(bytes, isText: isText)
            return .file(try sink.store(fileExtension: fileExtension) { try $0(bytes) })
        }
    }

    /// The extension for octets that go to a file anyway, judged by the first of them.
    func fileExtension(prefix: UnsafeRawBufferPointer) -> String {
        var text = ReadableText()
        text.push(prefix)
        return self.fileExtension(prefix, isText: self.type.kind != .binary && text.isReadable)
    }

    private func mayBeJSON(_ first: UInt8) -> Bool {
        self.type.kind == .json || self.type.essence.isEmpty && (first == UInt8(ascii: "{") || first == UInt8(ascii: "["))
    }

    private func fileExtension(_ prefix: UnsafeRawBufferPointer, isText: Bool) -> String {
        if isText {
            return self.type.fileExtension ?? (prefix.first.map(self.mayBeJSON) == true ? "json" : "txt")
        }
        return self.codedExtension ?? self.type.fileExtension ?? MagicNumber.fileExtension(of: prefix) ?? "bin"
    }
}
