internal import CassetteModel

/// Compares the type that a part declares with the type that its first bytes show.
enum FileSignature {
    /// How many bytes to pass.
    static let prefixSize = 1024

    enum Verdict: Equatable {
        case fits
        /// The bytes are those of another type, `PNG`.
        case other(String, type: String)
        /// The bytes are not of the declared type, and of no other that is known.
        case not(String)
        /// The bytes are a file in base64, or a `data:` URL.
        case base64
    }

    /// - Parameters:
    ///   - essence: the declared type in lower case; empty if there is none.
    ///   - isFile: whether the part has a file name.
    static func compare(_ essence: String, _ beginning: [UInt8], isFile: Bool) -> Verdict {
        guard !beginning.isEmpty else { return .fits }
        let found = beginning.withUnsafeBytes { MagicNumber.fileExtension(of: $0) }
        if found == nil, isFile, self.isBase64(beginning), !self.isText(essence) { return .base64 }
        guard !essence.isEmpty, essence != "application/octet-stream", essence != "binary/octet-stream" else { return .fits }
        // `image/*` is no type of a file, but clients on Android send it for whatever was chosen.
        if essence.hasSuffix("/*") {
            guard let type = found.flatMap({ self.types[$0] }), essence != "*/*", !type.essence.hasPrefix(essence.dropLast()) else {
                return .fits
            }
            return self.accepts(essence, found ?? "", beginning) ? .fits : .other(type.name, type: type.essence)
        }
        if let found {
            guard let type = self.types[found], !self.accepts(essence, found, beginning) else { return .fits }
            return .other(type.name, type: type.essence)
        }
        guard let expected = self.expected[essence], !(essence == "application/pdf" && self.hasPDF(beginning)) else { return .fits }
        // An archive without files begins with its end, and one in several volumes with a mark (APPNOTE 4.3.16 and 8.5.3).
        if essence == "application/zip", beginning.starts(with: [0x50, 0x4b]) { return .fits }
        return .not(expected)
    }

    /// The name of a binary file's type by its bytes; nil if they are none that is known.
    static func name(_ beginning: [UInt8]) -> String? {
        beginning.withUnsafeBytes { MagicNumber.fileExtension(of: $0) }.flatMap { self.types[$0]?.name }
    }

    /// A binary file's type if its bytes begin as it does, whether or not they are those of a text, too; nil if none is known.
    static func binary(_ beginning: [UInt8]) -> (name: String, essence: String, isStripped: Bool)? {
        // Without its CR, LF and NUL, as `curl -d @FILE` sends it.
        if beginning.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x1a]) { return ("PNG", "image/png", true) }
        let hasLineEnds = beginning.contains { $0 == 0 || $0 == 10 || $0 == 13 }
        // No text in UTF-8 begins with such a byte, however short the rest is: some versions of curl send a file up to its first NUL.
        if let found = beginning.withUnsafeBytes({ MagicNumber.fileExtension(of: $0) }), let type = self.types[found],
            let first = beginning.first, (0x80...0xbf).contains(first) || first >= 0xf5
        {
            return (type.name, type.essence, !hasLineEnds)
        }
        guard case .other(let name, let essence) = self.compare("text/plain", beginning, isFile: false) else { return nil }
        return (name, essence, !hasLineEnds)
    }

    private static func isText(_ essence: String) -> Bool {
        essence.hasPrefix("text/") || MediaType(Array(essence.utf8)[...]).kind == .json
    }

    private static func accepts(_ essence: String, _ found: String, _ beginning: [UInt8]) -> Bool {
        let kind = MediaType(Array(essence.utf8)[...]).kind
        let family = essence.prefix { $0 != "/" }
        if kind == .text || kind == .json {
            // Some signatures are words, which a text may begin with.
            return !beginning.contains { $0 < 32 && $0 != 9 && $0 != 10 && $0 != 13 && $0 != 12 && $0 != 27 } && found != "pdf"
        }
        switch family {
        case "image": return self.images[found]?.contains { essence.hasSuffix($0) } ?? !self.known.contains(essence)
        case "audio", "video":
            return ["wav", "mov", "m4a", "mp4", "webm", "mp3", "ogg", "flac", "avif", "heic"].contains(found)
        case "font": return ["woff", "woff2", "otf"].contains(found)
        default:
            if essence == "application/pdf" { return found == "pdf" }
            if essence == "application/gzip" || essence == "application/x-gzip" { return found == "gz" }
            if essence == "application/zip" { return found == "zip" }
            // Anything may be inside another type of application; only an image or a PDF there is a surprise.
            return true
        }
    }

    private static func isBase64(_ bytes: [UInt8]) -> Bool {
        ["iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "JVBERi0", "UEsDBB", "data:image/", "data:application/", "data:video/", "data:audio/"]
            .contains { bytes.starts(with: $0.utf8) }
    }

    /// Readers look for it in the first kilobyte.
    private static func hasPDF(_ bytes: [UInt8]) -> Bool {
        let mark = Array("%PDF-".utf8)
        return bytes.indices.dropLast(mark.count - 1).contains { bytes[$0...].starts(with: mark) }
    }

    private static let known: Set<String> = ["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp", "image/svg+xml"]
    private static let images: [String: [String]] = [
        "png": ["/png", "/apng", "/x-png", "/vnd.mozilla.apng"], "jpg": ["/jpeg", "/jpg", "/pjpeg", "/jfif"], "gif": ["/gif"],
        "webp": ["/webp"],
        "avif": ["/avif", "/avif-sequence"], "heic": ["/heic", "/heif", "/heic-sequence", "/heif-sequence"], "ico": ["icon", "/ico"],
        "gz": ["/svg+xml"],
    ]
    /// The types whose files always begin with a signature.
    private static let expected: [String: String] = [
        "image/png": "PNG", "image/jpeg": "JPEG", "image/jpg": "JPEG", "image/gif": "GIF", "image/webp": "WebP", "application/pdf": "PDF",
        "application/zip": "ZIP", "application/gzip": "gzip",
    ]
    private static let types: [String: (name: String, essence: String)] = [
        "png": ("PNG", "image/png"), "jpg": ("JPEG", "image/jpeg"), "gif": ("GIF", "image/gif"), "webp": ("WebP", "image/webp"),
        "wav": ("WAV", "audio/wav"), "avif": ("AVIF", "image/avif"), "heic": ("HEIC", "image/heic"),
        "mov": ("QuickTime", "video/quicktime"),
        "m4a": ("MP4 audio", "audio/mp4"), "mp4": ("MP4", "video/mp4"), "webm": ("WebM", "video/webm"), "mp3": ("MP3", "audio/mpeg"),
        "ogg": ("Ogg", "audio/ogg"), "flac": ("FLAC", "audio/flac"), "pdf": ("PDF", "application/pdf"), "zip": ("ZIP", "application/zip"),
        "gz": ("gzip", "application/gzip"), "zst": ("Zstandard", "application/zstd"), "xz": ("xz", "application/x-xz"),
        "bz2": ("bzip2", "application/x-bzip2"), "7z": ("7-Zip", "application/x-7z-compressed"), "tar": ("tar", "application/x-tar"),
        "wasm": ("WebAssembly", "application/wasm"), "woff": ("WOFF", "font/woff"), "woff2": ("WOFF2", "font/woff2"),
        "otf": ("OpenType", "font/otf"), "ico": ("icon", "image/x-icon"), "sqlite": ("SQLite", "application/vnd.sqlite3"),
    ]
}
