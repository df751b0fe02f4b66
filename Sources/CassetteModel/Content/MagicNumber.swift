internal import TapeBytes

/// Tells a file type by its first octets, where no Content-Type does.
package enum MagicNumber {
    /// Octets that are worth passing.
    static let prefixSize = 512

    private static let signatures: [(offset: Int, octets: [UInt8], fileExtension: String)] = [
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
        for (offset, octets, fileExtension) in self.signatures where prefix.count >= offset + octets.count {
            let part = UnsafeRawBufferPointer(rebasing: prefix[offset..<offset + octets.count])
            if octets.withUnsafeBytes({ $0.elementsEqualFast(part) }) { return fileExtension }
        }
        return nil
    }
}
