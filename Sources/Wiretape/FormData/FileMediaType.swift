internal import CassetteStore

#if canImport(UniformTypeIdentifiers)
internal import UniformTypeIdentifiers
#endif

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
