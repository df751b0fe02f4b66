internal import CassetteModel
internal import CassetteStore

/// A form to be sent as `multipart/form-data` (RFC 7578): parts in order, names as often as they are wanted.
///
/// A value without I/O but the look at a file when it is appended. Sends what it is given: no line ends are changed in values.
public struct MultipartFormData: Sendable {
    /// Octets up to which a form is encoded in memory: Alamofire's `encodingMemoryThreshold`.
    public static let memoryThreshold = 10_000_000

    public let boundary: FormDataBoundary
    public private(set) var parts: [FormDataPart] = []
    /// Octets of the encoded form, exactly.
    public private(set) var contentLength: Int

    public init(boundary: FormDataBoundary = .random()) {
        self.boundary = boundary
        self.contentLength = boundary.text.utf8.count + 6
    }

    /// The value of the Content-Type field.
    public var contentType: String { "multipart/form-data; \(self.boundary.parameter)" }

    public mutating func append(_ part: FormDataPart) throws(FormDataError) {
        // Without a part the closing delimiter has no line end in front.
        let size = self.head(self.parts.count, before: part).count + (self.parts.isEmpty ? 2 : 0)
        let (around, isTooMuch) = self.contentLength.addingReportingOverflow(size)
        let (all, overflow) = around.addingReportingOverflow(part.source.length)
        guard !isTooMuch, !overflow else {
            throw FormDataError(.invalidLength, "a form cannot have more than \(Int.max) octets: append a shorter stream")
        }
        self.contentLength = all
        self.parts.append(part)
    }

    /// A field: a name and its value.
    public mutating func append(_ text: String, name: String) throws(FormDataError) {
        try self.append(Array(text.utf8), name: name)
    }

    public mutating func append(
        _ octets: [UInt8], name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        try self.append(FormDataPart(name: name, fileName: fileName, mimeType: mimeType, source: .octets(octets)))
    }

    public mutating func append(
        _ stream: FormDataStream, name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        try self.append(FormDataPart(name: name, fileName: fileName, mimeType: mimeType, source: .stream(stream)))
    }

    /// A file under its own name and the type of its extension, where no other is given.
    public mutating func append(
        _ file: FormDataFile, name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        let fileName = fileName ?? file.name
        let mimeType = mimeType ?? FileMediaType.named(fileName)
        try self.append(FormDataPart(name: name, fileName: fileName, mimeType: mimeType, source: .file(file)))
    }

    public mutating func append(
        fileURL: String, name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        try self.append(FormDataFile(url: fileURL), name: name, fileName: fileName, mimeType: mimeType)
    }

    // MARK: Encoding

    /// The octets in pieces of any size.
    public func encoder() -> FormDataEncoder { FormDataEncoder(self) }

    /// All octets: in memory up to the threshold, in a temporary file beyond it.
    ///
    /// The file lies in `folder`, or where the system keeps such files, and is removed with the last reference to the result.
    public func encode(threshold: Int = Self.memoryThreshold, folder: String? = nil) throws -> EncodedFormData {
        var encoder = self.encoder()
        guard self.contentLength > threshold else {
            var octets = [UInt8](repeating: 0, count: self.contentLength)
            let count = try octets.withUnsafeMutableBytes { try encoder.read(into: $0) }
            guard count == octets.count else { throw self.wrongLength }
            return .memory(octets)
        }
        let file = try TemporaryFile(form: folder) { write in
            let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: OctetSource.pieceSize, alignment: 16)
            defer { piece.deallocate() }
            while case let count = try encoder.read(into: piece), count > 0 {
                try write(UnsafeRawBufferPointer(rebasing: piece.prefix(count)))
            }
        }
        guard file.size == self.contentLength else { throw self.wrongLength }
        return .file(file)
    }

    private var wrongLength: FormDataError {
        FormDataError(.changed, "the form has other than the \(self.contentLength) octets announced: append its parts anew")
    }

    /// What stands in front of a part's octets, or behind those of the last one.
    func head(_ index: Int) -> [UInt8] { self.head(index, before: self.parts.indices.contains(index) ? self.parts[index] : nil) }

    private func head(_ index: Int, before part: FormDataPart?) -> [UInt8] {
        let delimiter = (index == 0 ? "--" : "\r\n--") + self.boundary.text
        guard let part else { return Array((delimiter + "--\r\n").utf8) }
        return Array((delimiter + "\r\n").utf8) + part.headers.bytes + [13, 10]
    }
}
