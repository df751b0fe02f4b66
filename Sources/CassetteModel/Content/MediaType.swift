/// What a Content-Type field says about a body (RFC 9110, 8.3.1): enough to choose a form and a file extension.
///
/// Does not know parameters besides telling them apart from the type.
public struct MediaType: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case json
        case text
        /// Never text, whatever its octets look like.
        case binary
        /// The octets decide.
        case unknown
    }

    /// `type/subtype` in lower case; empty for a field that is absent or not of that form.
    public let essence: String

    public init(_ field: ArraySlice<UInt8>?) {
        var essence: [UInt8] = []
        // Longer ones are not in any table (RFC 6838, 4.2: 127 characters each).
        for byte in field?.prefix(255) ?? [] {
            if byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") { break }
            if byte == 32 || byte == 9 { continue }
            essence.append(byte >= 65 && byte <= 90 ? byte | 32 : byte)
        }
        self.essence = essence.contains(UInt8(ascii: "/")) ? String(decoding: essence, as: UTF8.self) : ""
    }

    public var kind: Kind {
        let essence = self.essence.utf8
        guard let slash = essence.firstIndex(of: UInt8(ascii: "/")) else { return .unknown }
        let subtype = self.essence[essence.index(after: slash)...]
        if subtype == "json" || subtype.hasSuffix("+json") { return .json }
        if subtype.hasSuffix("+xml") || Self.textSubtypes.contains(subtype) { return .text }
        switch self.essence[..<slash] {
        case "text": return .text
        case "image", "audio", "video", "font": return .binary
        default: return Self.binarySubtypes.contains(subtype) ? .binary : .unknown
        }
    }

    package var isForm: Bool { self.essence == "application/x-www-form-urlencoded" }

    public var isMultipart: Bool { self.essence.hasPrefix("multipart/") }

    /// A JSON text on each line.
    package var isJSONLines: Bool {
        ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/jsonlines"]
            .contains(self.essence)
    }

    /// The extension under which desktop programs open such a file; nil where the table has none.
    public var fileExtension: String? {
        if let known = Self.extensions[self.essence] { return known }
        if self.essence.hasSuffix("+json") { return "json" }
        if self.essence.hasSuffix("+xml") { return "xml" }
        if self.essence.hasSuffix("+zip") { return "zip" }
        return nil
    }

    private static let textSubtypes: Set<Substring> = [
        "xml", "javascript", "x-javascript", "ecmascript", "x-www-form-urlencoded", "graphql", "x-ndjson", "ndjson", "jsonl", "jsonlines",
        "x-jsonlines", "yaml",
        "x-yaml", "toml", "sql", "x-sh", "rtf", "jwt",
    ]

    private static let binarySubtypes: Set<Substring> = [
        "pdf", "zip", "gzip", "x-gzip", "x-tar", "x-bzip2", "x-xz", "zstd", "x-7z-compressed", "x-rar-compressed", "vnd.rar", "wasm",
        "protobuf", "x-protobuf", "grpc", "grpc+proto", "msgpack", "x-msgpack", "vnd.msgpack", "cbor", "java-archive", "msword",
        "vnd.ms-excel", "vnd.ms-powerpoint", "vnd.android.package-archive", "x-apple-diskimage", "vnd.sqlite3", "x-font-ttf",
        "ocsp-response", "pkix-crl", "pkix-cert",
    ]

    private static let extensions: [String: String] = [
        "application/json": "json", "text/json": "json", "application/problem+json": "json", "application/x-ndjson": "ndjson",
        "application/geo+json": "geojson", "application/manifest+json": "webmanifest", "application/xml": "xml", "text/xml": "xml",
        "application/xhtml+xml": "xhtml", "application/rss+xml": "rss", "application/atom+xml": "atom", "text/html": "html",
        "text/css": "css", "text/csv": "csv", "text/plain": "txt", "text/markdown": "md", "text/calendar": "ics", "text/vcard": "vcf",
        "text/javascript": "js", "application/javascript": "js", "application/x-javascript": "js", "text/event-stream": "txt",
        "application/x-www-form-urlencoded": "txt", "application/yaml": "yaml", "text/yaml": "yaml", "application/x-yaml": "yaml",
        "application/toml": "toml", "application/sql": "sql", "application/graphql": "graphql", "application/rtf": "rtf",
        "text/rtf": "rtf", "image/png": "png", "image/jpeg": "jpg", "image/jpg": "jpg", "image/gif": "gif", "image/webp": "webp",
        "image/avif": "avif", "image/heic": "heic", "image/bmp": "bmp", "image/tiff": "tiff", "image/svg+xml": "svg",
        "image/x-icon": "ico", "image/vnd.microsoft.icon": "ico", "image/jxl": "jxl", "audio/mpeg": "mp3", "audio/mp4": "m4a",
        "audio/aac": "aac", "audio/ogg": "ogg", "audio/wav": "wav", "audio/x-wav": "wav", "audio/flac": "flac", "audio/webm": "weba",
        "video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov", "video/mpeg": "mpeg", "video/mp2t": "ts",
        "video/x-matroska": "mkv", "application/vnd.apple.mpegurl": "m3u8", "application/x-mpegurl": "m3u8", "font/woff": "woff",
        "font/woff2": "woff2", "font/ttf": "ttf", "font/otf": "otf", "application/font-woff": "woff", "application/pdf": "pdf",
        "application/zip": "zip", "application/gzip": "gz", "application/x-gzip": "gz", "application/x-tar": "tar",
        "application/x-bzip2": "bz2", "application/x-xz": "xz", "application/zstd": "zst", "application/x-7z-compressed": "7z",
        "application/vnd.rar": "rar", "application/wasm": "wasm", "application/java-archive": "jar", "application/msword": "doc",
        "application/vnd.ms-excel": "xls", "application/vnd.ms-powerpoint": "ppt",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
        "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx", "application/epub+zip": "epub",
        "application/vnd.android.package-archive": "apk", "application/x-apple-diskimage": "dmg", "application/vnd.sqlite3": "sqlite",
        "application/protobuf": "pb", "application/x-protobuf": "pb", "application/cbor": "cbor", "application/msgpack": "msgpack",
    ]
}
