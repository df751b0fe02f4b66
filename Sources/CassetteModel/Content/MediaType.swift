internal import TapeBytes

/// The Content-Type of a body (RFC 9110, 8.3.1), parsed far enough to choose a form and a file extension.
///
/// Ignores parameters.
public struct MediaType: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case json
        case text
        /// Never text, whatever the bytes are.
        case binary
        /// The bytes decide.
        case unknown
    }

    /// `type/subtype` in lower case; empty if the field is absent or malformed.
    public let essence: String

    public init(_ field: ArraySlice<UInt8>?) {
        guard let field else {
            self.essence = ""
            return
        }
        // The most frequent type, handled without allocating.
        if field.withUnsafeBytes({ $0.has("application/json", at: 0) && ($0.count == 16 || $0[16] == UInt8(ascii: ";")) }) {
            self.essence = "application/json"
            return
        }
        // No table has longer types (RFC 6838, 4.2: 127 characters each).
        let room = min(field.count, 255)
        var hasSlash = false
        let essence = String(unsafeUninitializedCapacity: room) { essence in
            field.withUnsafeBufferPointer { field in
                var count = 0
                for byte in field[..<room] {
                    if byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") { break }
                    if byte == 32 || byte == 9 { continue }
                    if byte == UInt8(ascii: "/") { hasSlash = true }
                    essence[count] = byte >= 65 && byte <= 90 ? byte | 32 : byte
                    count += 1
                }
                return count
            }
        }
        self.essence = hasSlash ? essence : ""
    }

    public var kind: Kind {
        // The most frequent type, handled without splitting it.
        if self.essence == "application/json" { return .json }
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

    /// Whether a field's media type begins with this lower-case text. Does not create a string.
    static func begins(_ field: ArraySlice<UInt8>, with beginning: StaticString) -> Bool {
        let beginning = UnsafeBufferPointer(start: beginning.utf8Start, count: beginning.utf8CodeUnitCount)
        return field.withUnsafeBufferPointer { field in
            var matched = 0
            for byte in field where byte != 32 && byte != 9 {
                guard (byte >= 65 && byte <= 90 ? byte | 32 : byte) == beginning[matched] else { return false }
                matched += 1
                if matched == beginning.count { return true }
            }
            return false
        }
    }

    package var isForm: Bool { self.essence == "application/x-www-form-urlencoded" }

    package var isEventStream: Bool { self.essence == "text/event-stream" }

    package var isAmazonEventStream: Bool { self.essence == "application/vnd.amazon.eventstream" }

    public var isMultipart: Bool { self.essence.hasPrefix("multipart/") }

    /// One JSON text per line.
    package var isJSONLines: Bool { self.mayBeJSONTexts && Self.jsonLines.contains(self.essence) }

    private static let jsonLines: Set<String> = [
        "application/x-ndjson", "application/ndjson", "application/jsonl", "application/x-jsonlines", "application/jsonlines",
    ]

    /// Whether a body of this type is one JSON text, even if a cassette does not treat it as such (`kind`).
    package var declaresJSON: Bool {
        if self.kind == .json { return true }
        if self.isSubtype("jsonrpc") || self.isSubtype("json5") || self.isSubtype("json+protobuf") || self.ends(with: "+prettyjws") {
            return true
        }
        if self.isSubtype("csp-report") || self.isSubtype("x-json") || self.isSubtype("json-rpc") || self.isSubtype("jsonrequest") {
            return true
        }
        let essence = self.essence.utf8
        return essence.firstIndex(of: UInt8(ascii: "/")).map { essence[$0...].starts(with: "/x-amz-json-".utf8) } ?? false
    }

    /// Whether a body of this type is several JSON texts: one per line, or a sequence (RFC 7464; RFC 8091).
    package var declaresJSONTexts: Bool {
        self.mayBeJSONTexts
            && (self.isJSONLines || self.isSubtype("x-json-stream") || self.isSubtype("x-json-seq") || self.isSubtype("json-seq")
                || self.isSubtype("x-ndjson") || self.isSubtype("x-jsonl") || self.isSubtype("json-lines") || self.isSubtype("x-ldjson")
                || self.isSubtype("ldjson") || self.isSubtype("newline-delimited-json") || self.ends(with: "+json-seq")
                || self.ends(with: "+x-ndjson") || self.ends(with: "+ndjson"))
    }

    /// Asked for each message, and false for most types without a comparison of strings.
    private var mayBeJSONTexts: Bool {
        switch self.essence.utf8.last {
        case UInt8(ascii: "n")?: self.ends(with: "ndjson") || self.ends(with: "ldjson") || self.ends(with: "-delimited-json")
        case UInt8(ascii: "l")?, UInt8(ascii: "s")?, UInt8(ascii: "q")?, UInt8(ascii: "m")?: true
        default: false
        }
    }

    /// Whether a body of this type is one MessagePack value. The type had other names before it was registered.
    package var declaresMessagePack: Bool {
        self.ends(with: "msgpack")
            && (self.isSubtype("msgpack") || self.isSubtype("x-msgpack") || self.isSubtype("vnd.msgpack") || self.ends(with: "+msgpack"))
            || self.isSubtype("vnd.messagepack") || self.isSubtype("x-messagepack") || self.isSubtype("messagepack")
    }

    /// Whether a body of this type is one CBOR value (RFC 8949, 9.5), or a sequence.
    package var declaresCBOR: Bool {
        self.isSubtype("cbor") || self.isSubtype("cose") || self.ends(with: "+cbor") || self.declaresCBORSequence
    }

    /// Whether a body of this type is consecutive CBOR values (RFC 8742, 6).
    package var declaresCBORSequence: Bool { self.isSubtype("cbor-seq") || self.ends(with: "+cbor-seq") }

    /// Whether a body of this type is XML (RFC 7303, 4).
    package var declaresXML: Bool { self.isSubtype("xml") || self.ends(with: "+xml") }

    /// Compares bytes: suffixes of strings are compared character by character.
    private func ends(with suffix: StaticString) -> Bool {
        let (essence, count) = (self.essence.utf8, suffix.utf8CodeUnitCount)
        guard essence.count >= count else { return false }
        return essence.suffix(count).elementsEqual(UnsafeBufferPointer(start: suffix.utf8Start, count: count))
    }

    private func isSubtype(_ name: StaticString) -> Bool {
        let essence = self.essence.utf8
        let rest = essence.count - name.utf8CodeUnitCount
        guard rest > 0, self.ends(with: name) else { return false }
        return essence[essence.index(essence.startIndex, offsetBy: rest - 1)] == UInt8(ascii: "/")
    }

    /// The extension known to desktop programs; nil if the table has none.
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

extension HeaderFields {
    /// Whether they declare an event stream (HTML Living Standard, 9.2).
    package var areOfEventStream: Bool {
        guard let index = self.firstIndex(of: "content-type") else { return false }
        let value = self.valueBytes(at: index)
        return MediaType.begins(value, with: "text/event-stream") && MediaType(value).isEventStream
    }
}

/// Recognises a file type by its first bytes, for bodies without a usable Content-Type.
package enum MagicNumber {
    /// How many bytes to pass: more than any signature needs.
    static let prefixSize = 512

    private static let signatures: [(offset: Int, bytes: [UInt8], fileExtension: String)] = [
        (0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], "png"),
        (0, [0xff, 0xd8, 0xff], "jpg"),
        (0, Array("GIF8".utf8), "gif"),
        (8, Array("WEBP".utf8), "webp"),
        (8, Array("WAVE".utf8), "wav"),
        (4, Array("ftypavif".utf8), "avif"),
        (4, Array("ftyphei".utf8), "heic"),
        (4, Array("ftypqt".utf8), "mov"),
        (4, Array("ftypM4A".utf8), "m4a"),
        (4, Array("ftyp".utf8), "mp4"),
        (0, [0x1a, 0x45, 0xdf, 0xa3], "webm"),
        (0, Array("ID3".utf8), "mp3"),
        (0, Array("OggS".utf8), "ogg"),
        (0, Array("fLaC".utf8), "flac"),
        (0, Array("%PDF-".utf8), "pdf"),
        (0, [0x50, 0x4b, 0x03, 0x04], "zip"),
        (0, [0x1f, 0x8b, 0x08], "gz"),
        (0, [0x28, 0xb5, 0x2f, 0xfd], "zst"),
        (0, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00], "xz"),
        (0, Array("BZh".utf8), "bz2"),
        (0, [0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], "7z"),
        (257, Array("ustar".utf8), "tar"),
        (0, [0x00, 0x61, 0x73, 0x6d], "wasm"),
        (0, Array("wOF2".utf8), "woff2"),
        (0, Array("wOFF".utf8), "woff"),
        (0, Array("OTTO".utf8), "otf"),
        (0, [0x00, 0x00, 0x01, 0x00], "ico"),
        (0, Array("SQLite format 3\0".utf8), "sqlite"),
    ]

    package static func fileExtension(of prefix: UnsafeRawBufferPointer) -> String? {
        for (offset, bytes, fileExtension) in self.signatures where prefix.count >= offset + bytes.count {
            let part = UnsafeRawBufferPointer(rebasing: prefix[offset..<offset + bytes.count])
            if bytes.withUnsafeBytes({ $0.elementsEqualFast(part) }) { return fileExtension }
        }
        return nil
    }
}
