public import CassetteModel
public import CassetteStore
public import Foundation
public import TapeBytes

/// A form to be sent as `multipart/form-data` (RFC 7578): parts in order; names may repeat.
///
/// Does no I/O except a check of each file when it is appended. Line ends in values are sent unchanged.
public struct FormData: Sendable {
    /// Up to this many bytes, a form is encoded in memory. The same as Alamofire's `encodingMemoryThreshold`.
    public static let memoryThreshold = 10_000_000

    public let boundary: Boundary
    public private(set) var parts: [Part] = []
    /// Why a part could not be appended; thrown when the form is encoded.
    private var flaw: FormDataError?
    /// The exact length of the encoded form in bytes.
    public private(set) var contentLength: Int

    public init(boundary: Boundary = .random()) {
        self.boundary = boundary
        self.contentLength = boundary.text.utf8.count + 6
    }

    /// The value of the Content-Type field.
    public var contentType: String { "multipart/form-data; \(self.boundary.parameter)" }

    public mutating func append(_ part: Part) throws(FormDataError) {
        // Without a part, no line end precedes the closing delimiter.
        let size = self.head(self.parts.count, before: part).count + (self.parts.isEmpty ? 2 : 0)
        let (around, isTooMuch) = self.contentLength.addingReportingOverflow(size)
        let (all, overflow) = around.addingReportingOverflow(part.source.length)
        guard !isTooMuch, !overflow else {
            throw FormDataError(.invalidLength, "a form cannot have more than \(Int.max) bytes: append a shorter stream")
        }
        self.contentLength = all
        self.parts.append(part)
    }

    public mutating func append(_ text: String, name: String) throws(FormDataError) {
        try self.append(Array(text.utf8), name: name)
    }

    public mutating func append(
        _ bytes: [UInt8], name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        try self.append(Part(name: name, fileName: fileName, mimeType: mimeType, source: .bytes(bytes)))
    }

    public mutating func append(
        _ stream: Stream, name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        try self.append(Part(name: name, fileName: fileName, mimeType: mimeType, source: .stream(stream)))
    }

    /// A file; by default with its own name and the type of its extension.
    public mutating func append(
        _ file: File, name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        let fileName = fileName ?? file.name
        let mimeType = mimeType ?? FileMediaType.named(fileName)
        try self.append(Part(name: name, fileName: fileName, mimeType: mimeType, source: .file(file)))
    }

    public mutating func append(
        fileURL: String, name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        try self.append(File(url: fileURL), name: name, fileName: fileName, mimeType: mimeType)
    }

    // MARK: Encoding

    /// The encoded form in pieces of any size.
    public func encoder() -> FormDataEncoder { FormDataEncoder(self) }

    /// The encoded form: in memory up to the threshold, in a temporary file above it.
    ///
    /// The file is in `folder` (nil: the system's temporary folder) and is removed with the last reference to the result.
    public func encode(threshold: Int = Self.memoryThreshold, folder: String? = nil) throws -> Encoded {
        if let flaw { throw flaw }
        var encoder = self.encoder()
        guard self.contentLength > threshold else {
            var bytes = [UInt8](repeating: 0, count: self.contentLength)
            let count = try bytes.withUnsafeMutableBytes { try encoder.read(into: $0) }
            guard count == bytes.count else { throw self.wrongLength }
            return .memory(bytes)
        }
        let file = try TemporaryFile(form: folder) { write in
            let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: ByteSource.pieceSize, alignment: 16)
            defer { piece.deallocate() }
            while case let count = try encoder.read(into: piece), count > 0 {
                try write(UnsafeRawBufferPointer(rebasing: piece.prefix(count)))
            }
        }
        guard file.size == self.contentLength else { throw self.wrongLength }
        return .file(file)
    }

    private var wrongLength: FormDataError {
        FormDataError(.changed, "the form does not have the \(self.contentLength) bytes announced: append its parts again")
    }

    /// The bytes before a part's content; for the index after the last part, the closing delimiter.
    func head(_ index: Int) -> [UInt8] { self.head(index, before: self.parts.indices.contains(index) ? self.parts[index] : nil) }

    private func head(_ index: Int, before part: Part?) -> [UInt8] {
        let delimiter = (index == 0 ? "--" : "\r\n--") + self.boundary.text
        guard let part else { return Array((delimiter + "--\r\n").utf8) }
        return Array((delimiter + "\r\n").utf8) + part.headers.bytes + [13, 10]
    }
}

extension FormData {
    /// Appends bytes as a field, or as a file if a file name is given.
    ///
    /// Does not throw, as in Alamofire. If the form would have more bytes than an `Int` holds, encoding it is an error.
    public mutating func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
        do throws(FormDataError) {
            try self.append([UInt8](data), name: name, fileName: fileName, mimeType: mimeType)
        } catch {
            self.flaw = error
        }
    }

    /// Appends a file; by default with its own name and the type of its extension. It is read when the form is sent.
    public mutating func append(
        _ fileURL: URL, withName name: String, fileName: String? = nil, mimeType: String? = nil
    ) throws(FormDataError) {
        guard fileURL.isFileURL else { return try self.append(fileURL: fileURL.absoluteString, name: name) }
        try self.append(File(path: fileURL.path), name: name, fileName: fileName, mimeType: mimeType)
    }

    /// Appends a stream, which is read when the form is encoded; encoding the form a second time is an error.
    ///
    /// - Parameters:
    ///   - stream: not opened yet, and not read elsewhere.
    ///   - length: the number of bytes that it will deliver; more or fewer are an error.
    public mutating func append(
        _ stream: InputStream, withLength length: UInt64, name: String, fileName: String, mimeType: String
    ) throws(FormDataError) {
        try self.append(Self.source(stream, length), name: name, fileName: fileName, mimeType: mimeType)
    }

    /// Appends a stream with the caller's own header fields. It is read once.
    public mutating func append(_ stream: InputStream, withLength length: UInt64, headers: HTTPSession.Headers) throws(FormDataError) {
        try self.append(Part(headers: headers.headerFields, source: .stream(Self.source(stream, length))))
    }

    private static func source(_ stream: InputStream, _ length: UInt64) throws(FormDataError) -> Stream {
        guard let length = Int(exactly: length) else {
            throw FormDataError(.invalidLength, "a stream cannot have \(length) bytes: pass the number that it will deliver")
        }
        let reader = InputStreamReader(stream)
        return Stream(length: length) { try reader.open() }
    }

    /// Appends a part for each value in an object, named as `HTTPSession.URLEncodedFormEncoder` names them: `name`, `list[]`, `object[key]`, sorted.
    ///
    /// `Data` becomes a part with its bytes unchanged, without a file name; all other values are text.
    ///
    /// - Parameter encoder: decides how names, dates, `Bool` and nil are written.
    /// - Throws: `ParameterEncodingError` or `FormDataError`; nothing is appended then.
    public mutating func append(
        fieldsOf value: some Encodable, encoder: HTTPSession.URLEncodedFormEncoder = HTTPSession.URLEncodedFormEncoder()
    ) throws {
        let leaves = encoder.leaves
        let raw = FormValue.LeafRule(bool: leaves.bool, data: { .bytes($0) }, date: leaves.date, null: leaves.null)
        var form = self
        for pair in try encoder.fields.pairs(of: try FormValueEncoder.value(of: value, raw)) {
            switch pair.value {
            case .text(let text): try form.append(text, name: pair.name)
            case .bytes(let bytes): try form.append([UInt8](bytes), name: pair.name)
            }
        }
        self = form
    }
}

extension FormData {
    /// An encoded form: it can be read repeatedly, as for a retry or a redirect.
    public enum Encoded: Sendable {
        case memory([UInt8])
        /// Removed with the last reference to it.
        case file(TemporaryFile)

        public var size: Int {
            switch self {
            case .memory(let bytes): bytes.count
            case .file(let file): file.size
            }
        }

        public var source: ByteSource {
            switch self {
            case .memory(let bytes): ByteSource(bytes)
            case .file(let file): file.formSource
            }
        }
    }
}

extension TemporaryFile {
    /// Holds an encoded form. Rethrows what `write` throws, a `CassetteError` as a `FormDataError`.
    ///
    /// - Parameter folder: nil for the system's temporary folder.
    convenience init(form folder: String?, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        do {
            try self.init(in: folder, write)
        } catch let error as CassetteError {
            throw FormDataError(.unwritable, error.message, cause: error)
        }
    }

    /// The file's bytes; errors become `FormDataError`.
    fileprivate var formSource: ByteSource {
        ByteSource(size: self.size) { offset, buffer in
            do throws(CassetteError) {
                return try self.read(into: buffer, at: offset)
            } catch {
                throw FormDataError(.unreadable, error.message, cause: error)
            }
        }
    }
}

extension FormData {
    /// The boundary between the parts of a form: valid by RFC 2046, 5.1.1, so that it can break neither header nor body.
    ///
    /// The parts are not searched for it: 128 random bits do not occur by chance.
    public struct Boundary: Sendable, Hashable {
        /// RFC 2046, 5.1.1
        public static let longest = 70

        public let text: String

        public init(_ text: String) throws(FormDataError) {
            let bytes = text.utf8
            guard (1...Self.longest).contains(bytes.count), bytes.last != 32, bytes.allSatisfy(Self.isAllowed) else {
                throw FormDataError(
                    .invalidBoundary,
                    "\"\(PlainText.escape(text.utf8, limit: 200))\" is not a boundary: use 1 to \(Self.longest) ASCII letters, digits and \"-\""
                )
            }
            self.text = text
        }

        public init(using generator: inout some RandomNumberGenerator) {
            let digits = [generator.next(), generator.next()].map { number in
                let digits = String(number as UInt64, radix: 16)
                return String(repeating: "0", count: 16 - digits.utf8.count) + digits
            }
            self.text = "wiretape-" + digits.joined()
        }

        public static func random() -> Boundary {
            var generator = SystemRandomNumberGenerator()
            return Boundary(using: &generator)
        }

        /// The same for the same seed on every platform: for tests, and for recordings that are to be compared.
        public static func seeded(_ seed: UInt64) -> Boundary {
            var generator = SplitMix64(seed: seed)
            return Boundary(using: &generator)
        }

        /// The parameter of a Content-Type: quoted unless it is a token (RFC 9110, 5.6.2).
        public var parameter: String {
            let isToken = self.text.utf8.allSatisfy { Self.isAlphanumeric($0) || "'+_-.".utf8.contains($0) }
            return isToken ? "boundary=\(self.text)" : "boundary=\"\(self.text)\""
        }

        private static func isAlphanumeric(_ byte: UInt8) -> Bool {
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        }

        private static func isAllowed(_ byte: UInt8) -> Bool { Self.isAlphanumeric(byte) || "'()+_,-./:=? ".utf8.contains(byte) }
    }
}
