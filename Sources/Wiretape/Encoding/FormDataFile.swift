internal import CassetteModel
internal import CassetteStore
internal import Platform
public import TapeBytes

#if canImport(UniformTypeIdentifiers)
internal import UniformTypeIdentifiers
#endif

extension FormData {
    /// A file to be sent as a part: a regular file of known size that could be opened when this value was made.
    ///
    /// Keeps nothing open. If the length of the file changes before it is sent, encoding the form is an error.
    public struct File: Sendable, Hashable {
        public let path: String
        public let size: Int

        /// A `file:` URL (RFC 8089): without a host, or with `localhost`.
        public init(url: String) throws(FormDataError) {
            guard let path = Self.path(of: url) else {
                throw FormDataError(
                    .notAFileURL,
                    "\"\(PlainText.escape(url.utf8, limit: 200))\" is not a file URL: pass one such as \"file:///folder/name\", with an absolute path"
                )
            }
            try self.init(path: path)
        }

        public init(path: String) throws(FormDataError) {
            let shown = PlainText.escape(path.utf8, limit: 200)
            guard !path.isEmpty, !path.utf8.contains(0) else {
                throw FormDataError(.unreachable, "\"\(shown)\" is not a path: it is empty or contains a NUL; choose another file")
            }
            var status = stat()
            guard stat(path, &status) == 0 else {
                let error = SystemError(number: errno, operation: .open, path: shown).cassetteError
                throw FormDataError(.unreachable, error.message, cause: error)
            }
            switch status.st_mode & S_IFMT {
            case S_IFREG: break
            case S_IFDIR: throw FormDataError(.isFolder, "\"\(shown)\" is a folder: append its files one by one")
            default:
                throw FormDataError(
                    .noSize,
                    "\"\(shown)\" is not a regular file and has no known size: append its bytes, or a stream with a length")
            }
            do {
                _ = try OpenFile(path, for: .read)
            } catch {
                throw FormDataError(.unopenable, error.message, cause: error)
            }
            self.path = path
            self.size = Int(status.st_size)
        }

        /// The part of the path after the last slash.
        public var name: String { FileLocation(self.path).name }

        /// Nil if it is not the URL of a file on this machine.
        static func path(of url: String) -> String? {
            var rest = Array(url.utf8)[...]
            let scheme = rest.prefix(5).map { (65...90).contains($0) ? $0 | 32 : $0 }
            guard scheme == Array("file:".utf8) else { return nil }
            rest = rest.dropFirst(5)
            if rest.starts(with: Array("//".utf8)) {
                rest = rest.dropFirst(2)
                guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return nil }
                let host = String(decoding: rest[..<slash], as: UTF8.self).lowercased()
                guard host.isEmpty || host == "localhost" else { return nil }
                rest = rest[slash...]
            }
            guard rest.first == UInt8(ascii: "/") else { return nil }
            return Self.withoutPercents(rest)
        }

        /// Nil if a query or a fragment follows: "?" and "#" in a name are percent-encoded.
        private static func withoutPercents(_ bytes: ArraySlice<UInt8>) -> String? {
            var path: [UInt8] = []
            var rest = bytes
            while let byte = rest.popFirst() {
                switch byte {
                case UInt8(ascii: "%"):
                    guard rest.count >= 2, let decoded = Hex.decode(rest.prefix(2)), let first = decoded.first, first != 0 else {
                        return nil
                    }
                    path.append(first)
                    rest = rest.dropFirst(2)
                case 0, UInt8(ascii: "?"), UInt8(ascii: "#"): return nil
                default: path.append(byte)
                }
            }
            return String(validUTF8: path)
        }
    }

    /// The media type of a file by the extension of its name. Does not read the file.
    public enum FileMediaType {
        /// For content of unknown type (RFC 2046, 4.5.1).
        public static let unknown = "application/octet-stream"

        /// The table takes precedence, so that a recording is the same on every system; Apple's systems add the extensions it lacks.
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

        /// From Debian's media-types 10.0, which follows IANA's registry. Exceptions: browsers' types for `ts`, `wav`, `aiff` and `sh`,
        /// Keynote for `key`, plain gzip for `tgz`, and IANA's or the common type if Debian has none or an older one (`yaml`, `toml`, `gpx`,
        /// `jsonl`, `ndjson`, `midi`, `bz2`, `rss`, `srt`, `mka`, `weba`, `3gp`, `3g2`, `log`, `plist`, `swift`).
        private static let types: [String: String] = [
            "3g2": "video/3gpp2", "3gp": "video/3gpp", "7z": "application/x-7z-compressed", "aac": "audio/aac", "aif": "audio/aiff",
            "aiff": "audio/aiff", "apk": "application/vnd.android.package-archive", "apng": "image/apng", "atom": "application/atom+xml",
            "avi": "video/x-msvideo", "avif": "image/avif", "bin": "application/octet-stream", "bmp": "image/bmp",
            "bz2": "application/x-bzip2", "c": "text/x-csrc", "cbor": "application/cbor", "cer": "application/pkix-cert",
            "cpp": "text/x-c++src", "crl": "application/pkix-crl", "crt": "application/x-x509-ca-cert", "css": "text/css",
            "csv": "text/csv",
            "deb": "application/vnd.debian.binary-package", "dmg": "application/x-apple-diskimage", "doc": "application/msword",
            "docm": "application/vnd.ms-word.document.macroEnabled.12",
            "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "dotx": "application/vnd.openxmlformats-officedocument.wordprocessingml.template", "dtd": "application/xml-dtd",
            "eml": "message/rfc822", "eot": "application/vnd.ms-fontobject", "eps": "application/postscript",
            "epub": "application/epub+zip",
            "flac": "audio/flac", "flv": "video/x-flv", "geojson": "application/geo+json", "gif": "image/gif", "glb": "model/gltf-binary",
            "gltf": "model/gltf+json", "gpx": "application/gpx+xml", "gz": "application/gzip", "h": "text/x-chdr", "heic": "image/heic",
            "heics": "image/heic-sequence", "heif": "image/heif", "htm": "text/html", "html": "text/html",
            "ico": "image/vnd.microsoft.icon",
            "ics": "text/calendar", "iso": "application/x-iso9660-image", "jar": "application/java-archive", "java": "text/x-java",
            "jfif": "image/jpeg", "jpe": "image/jpeg", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
            "json": "application/json", "jsonl": "application/jsonl", "jsonld": "application/ld+json", "jxl": "image/jxl",
            "key": "application/vnd.apple.keynote", "kml": "application/vnd.google-earth.kml+xml",
            "kmz": "application/vnd.google-earth.kmz",
            "log": "text/plain", "m2ts": "video/mp2t", "m3u": "audio/mpegurl", "m3u8": "application/vnd.apple.mpegurl", "m4a": "audio/mp4",
            "m4v": "video/mp4", "markdown": "text/markdown", "md": "text/markdown", "mid": "audio/midi", "midi": "audio/midi",
            "mjs": "text/javascript", "mka": "audio/x-matroska", "mkv": "video/x-matroska", "mov": "video/quicktime", "mp2": "audio/mpeg",
            "mp3": "audio/mpeg", "mp4": "video/mp4", "mpd": "application/dash+xml", "mpeg": "video/mpeg", "mpg": "video/mpeg",
            "ndjson": "application/x-ndjson", "numbers": "application/vnd.apple.numbers",
            "odp": "application/vnd.oasis.opendocument.presentation", "ods": "application/vnd.oasis.opendocument.spreadsheet",
            "odt": "application/vnd.oasis.opendocument.text", "oga": "audio/ogg", "ogg": "audio/ogg", "ogv": "video/ogg",
            "opus": "audio/ogg",
            "otf": "font/otf", "p12": "application/pkcs12", "p7m": "application/pkcs7-mime", "p7s": "application/pkcs7-signature",
            "pages": "application/vnd.apple.pages", "pdf": "application/pdf", "pem": "application/pem-certificate-chain",
            "pfx": "application/pkcs12", "plist": "application/x-plist", "png": "image/png",
            "ppsx": "application/vnd.openxmlformats-officedocument.presentationml.slideshow", "ppt": "application/vnd.ms-powerpoint",
            "pptm": "application/vnd.ms-powerpoint.presentation.macroEnabled.12",
            "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation", "ps": "application/postscript",
            "psd": "image/vnd.adobe.photoshop", "py": "text/x-python", "rar": "application/vnd.rar", "rdf": "application/rdf+xml",
            "rss": "application/rss+xml", "rtf": "application/rtf", "sh": "application/x-sh", "sql": "application/sql",
            "sqlite": "application/vnd.sqlite3", "sqlite3": "application/vnd.sqlite3", "srt": "application/x-subrip",
            "svg": "image/svg+xml",
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
}
