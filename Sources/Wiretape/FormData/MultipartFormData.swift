public import CassetteModel
public import CassetteStore
internal import Foundation
internal import TapeBytes

#if canImport(UniformTypeIdentifiers)
internal import UniformTypeIdentifiers
#endif

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

extension MultipartFormData {
    /// Appends a part for each value in an object, named as `URLEncodedFormEncoder` names them: `name`, `list[]`, `object[key]`, sorted.
    ///
    /// `Data` becomes a part with its octets as they are, without a file name; all other values are text.
    ///
    /// - Parameter encoder: says how names, dates, `Bool` and nil are written.
    /// - Throws: `ParameterEncodingError` or `FormDataError`; nothing is appended then.
    public mutating func append(fieldsOf value: some Encodable, encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()) throws {
        let leaves = encoder.leaves
        let raw = FormLeaves(bool: leaves.bool, data: { .octets($0) }, date: leaves.date, null: leaves.null)
        var form = self
        for pair in try encoder.fields.pairs(of: try FormValueEncoder.value(of: value, raw)) {
            switch pair.value {
            case .text(let text): try form.append(text, name: pair.name)
            case .octets(let octets): try form.append([UInt8](octets), name: pair.name)
            }
        }
        self = form
    }
}

/// An encoded form: its octets can be read again and again, as for a retry or a redirect.
public enum EncodedFormData: Sendable {
    case memory([UInt8])
    /// Removed with the last reference to it.
    case file(TemporaryFile)

    public var size: Int {
        switch self {
        case .memory(let octets): octets.count
        case .file(let file): file.size
        }
    }

    public var source: OctetSource {
        switch self {
        case .memory(let octets): OctetSource(octets)
        case .file(let file): file.formSource
        }
    }
}

extension TemporaryFile {
    /// For the bytes of a form, in `folder`, or where the system keeps such files. What `write` throws is passed on.
    convenience init(form folder: String?, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        do {
            try self.init(in: folder, write)
        } catch let error as CassetteError {
            throw FormDataError(.unwritable, error.message)
        }
    }

    /// The bytes; what goes wrong is an error of the form.
    fileprivate var formSource: OctetSource {
        OctetSource(size: self.size) { offset, buffer in
            do throws(CassetteError) {
                return try self.read(into: buffer, at: offset)
            } catch {
                throw FormDataError(.unreadable, error.message)
            }
        }
    }
}

/// What separates the parts of a form: a text that RFC 2046, 5.1.1, allows, so that it can break neither header nor body.
///
/// Does not look for itself in the parts: 128 random bits are in no file by chance.
public struct FormDataBoundary: Sendable, Hashable {
    /// RFC 2046, 5.1.1
    public static let longest = 70

    public let text: String

    public init(_ text: String) throws(FormDataError) {
        let octets = text.utf8
        guard (1...Self.longest).contains(octets.count), octets.last != 32, octets.allSatisfy(Self.isAllowed) else {
            throw FormDataError(
                .invalidBoundary,
                "\"\(PlainText.escape(text.utf8, limit: 200))\" cannot be a boundary: take 1 to \(Self.longest) ASCII letters, digits and \"-\""
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

    public static func random() -> FormDataBoundary {
        var generator = SystemRandomNumberGenerator()
        return FormDataBoundary(using: &generator)
    }

    /// The same for the same seed, everywhere: for tests, and for recordings that are to be compared.
    public static func seeded(_ seed: UInt64) -> FormDataBoundary {
        var generator = SplitMix64(seed: seed)
        return FormDataBoundary(using: &generator)
    }

    /// As the parameter of a Content-Type: quoted where it is not a token (RFC 9110, 5.6.2).
    public var parameter: String {
        let isToken = self.text.utf8.allSatisfy { Self.isAlphanumeric($0) || "'+_-.".utf8.contains($0) }
        return isToken ? "boundary=\(self.text)" : "boundary=\"\(self.text)\""
    }

    private static func isAlphanumeric(_ octet: UInt8) -> Bool {
        (48...57).contains(octet) || (65...90).contains(octet) || (97...122).contains(octet)
    }

    private static func isAllowed(_ octet: UInt8) -> Bool { Self.isAlphanumeric(octet) || "'()+_,-./:=? ".utf8.contains(octet) }
}

/// The media type of a file by the extension of its name. Does not look into the file.
public enum FileMediaType {
    /// RFC 2046, 4.5.1: what nothing is known of.
    public static let unknown = "application/octet-stream"

    /// The table comes first, so that a recording is the same on every system; Apple's systems are asked for what is not in it.
    public static func named(_ fileName: String) -> String {
        let name = FileLocation(fileName).name
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else { return self.unknown }
        let fileExtension = name[name.utf8.index(after: dot)...].lowercased()
        if let known = self.types[fileExtension] { return known }
        #if canImport(UniformTypeIdentifiers)
        if let known = UTType(filenameExtension: fileExtension)?.preferredMIMEType { return known }
        #endif
        return self.unknown
    }

    /// From Debian's media-types 10.0, which follows IANA's registry. Other than there: what browsers say of `ts`, `wav`, `aiff` and `sh`,
    /// Keynote for `key`, gzip alone for `tgz`, and what IANA or common use has where Debian has nothing or an older name (`yaml`, `toml`,
    /// `gpx`, `jsonl`, `ndjson`, `midi`, `bz2`, `rss`, `srt`, `mka`, `weba`, `3gp`, `3g2`, `log`, `plist`, `swift`).
    private static let types: [String: String] = [
        "3g2": "video/3gpp2", "3gp": "video/3gpp", "7z": "application/x-7z-compressed", "aac": "audio/aac", "aif": "audio/aiff",
        "aiff": "audio/aiff", "apk": "application/vnd.android.package-archive", "apng": "image/apng", "atom": "application/atom+xml",
        "avi": "video/x-msvideo", "avif": "image/avif", "bin": "application/octet-stream", "bmp": "image/bmp",
        "bz2": "application/x-bzip2", "c": "text/x-csrc", "cbor": "application/cbor", "cer": "application/pkix-cert",
        "cpp": "text/x-c++src", "crl": "application/pkix-crl", "crt": "application/x-x509-ca-cert", "css": "text/css", "csv": "text/csv",
        "deb": "application/vnd.debian.binary-package", "dmg": "application/x-apple-diskimage", "doc": "application/msword",
        "docm": "application/vnd.ms-word.document.macroEnabled.12",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template", "dtd": "application/xml-dtd",
        "eml": "message/rfc822", "eot": "application/vnd.ms-fontobject", "eps": "application/postscript", "epub": "application/epub+zip",
        "flac": "audio/flac", "flv": "video/x-flv", "geojson": "application/geo+json", "gif": "image/gif", "glb": "model/gltf-binary",
        "gltf": "model/gltf+json", "gpx": "application/gpx+xml", "gz": "application/gzip", "h": "text/x-chdr", "heic": "image/heic",
        "heics": "image/heic-sequence", "heif": "image/heif", "htm": "text/html", "html": "text/html", "ico": "image/vnd.microsoft.icon",
        "ics": "text/calendar", "iso": "application/x-iso9660-image", "jar": "application/java-archive", "java": "text/x-java",
        "jfif": "image/jpeg", "jpe": "image/jpeg", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
        "json": "application/json", "jsonl": "application/jsonl", "jsonld": "application/ld+json", "jxl": "image/jxl",
        "key": "application/vnd.apple.keynote", "kml": "application/vnd.google-earth.kml+xml", "kmz": "application/vnd.google-earth.kmz",
        "log": "text/plain", "m2ts": "video/mp2t", "m3u": "audio/mpegurl", "m3u8": "application/vnd.apple.mpegurl", "m4a": "audio/mp4",
        "m4v": "video/mp4", "markdown": "text/markdown", "md": "text/markdown", "mid": "audio/midi", "midi": "audio/midi",
        "mjs": "text/javascript", "mka": "audio/x-matroska", "mkv": "video/x-matroska", "mov": "video/quicktime", "mp2": "audio/mpeg",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpd": "application/dash+xml", "mpeg": "video/mpeg", "mpg": "video/mpeg",
        "ndjson": "application/x-ndjson", "numbers": "application/vnd.apple.numbers",
        "odp": "application/vnd.oasis.opendocument.presentation", "ods": "application/vnd.oasis.opendocument.spreadsheet",
        "odt": "application/vnd.oasis.opendocument.text", "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg",
        "otf": "font/otf", "p12": "application/pkcs12", "p7m": "application/pkcs7-mime", "p7s": "application/pkcs7-signature",
        "pages": "application/vnd.apple.pages", "pdf": "application/pdf", "pem": "application/pem-certificate-chain",
        "pfx": "application/pkcs12", "plist": "application/x-plist", "png": "image/png",
        "ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow", "ppt": "application/vnd.ms-powerpoint",
        "pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "ps": "application/postscript",
        "psd": "image/vnd.adobe.photoshop", "py": "text/x-python", "rar": "application/vnd.rar", "rdf": "application/rdf+xml",
        "rss": "application/rss+xml", "rtf": "application/rtf", "sh": "application/x-sh", "sql": "application/sql",
        "sqlite": "application/vnd.sqlite3", "sqlite3": "application/vnd.sqlite3", "srt": "application/x-subrip", "svg": "image/svg+xml",
        "swift": "text/x-swift", "tar": "application/x-tar", "tgz": "application/gzip", "tif": "image/tiff", "tiff": "image/tiff",
        "toml": "application/toml", "ts": "video/mp2t", "tsv": "text/tab-separated-values", "ttc": "font/collection", "ttf": "font/ttf",
        "txt": "text/plain", "usdz": "model/vnd.usdz+zip", "vcard": "text/vcard", "vcf": "text/vcard", "vsd": "application/vnd.visio",
        "vtt": "text/vtt", "wasm": "application/wasm", "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm",
        "webmanifest": "application/manifest+json", "webp": "image/webp", "wma": "audio/x-ms-wma", "wmv": "video/x-ms-wmv",
        "woff": "font/woff", "woff2": "font/woff2", "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsb": "application/vnd.ms-excel.sheet.binary.macroEnabled.12", "xlsm": "application/vnd.ms-excel.sheet.macroEnabled.12",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "xsl": "application/xslt+xml", "xslt": "application/xslt+xml", "xz": "application/x-xz", "yaml": "application/yaml",
        "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]
}
