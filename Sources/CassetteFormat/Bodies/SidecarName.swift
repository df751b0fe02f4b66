public import CassetteModel

/// The name of a sidecar: 64 lower-case hex digits of its SHA-256, a dot, and an extension.
///
/// Only files with such names are ever deleted.
package struct SidecarName: Sendable, Hashable {
    package var sha256: String
    var fileExtension: String

    /// Nil if the digest is invalid. An extension that is not 1–8 lower-case letters and digits becomes `bin`.
    package init?(sha256: String, fileExtension: String) {
        guard sha256.utf8.count == 64, sha256.utf8.allSatisfy(SidecarName.isDigestDigit) else { return nil }
        self.sha256 = sha256
        self.fileExtension = Self.isExtension(fileExtension) ? fileExtension : "bin"
    }

    package init?(_ name: String) {
        let bytes = Array(name.utf8)
        guard bytes.count > 65, bytes[64] == UInt8(ascii: "."), bytes[..<64].allSatisfy(SidecarName.isDigestDigit) else { return nil }
        let fileExtension = String(decoding: bytes[65...], as: UTF8.self)
        guard Self.isExtension(fileExtension) else { return nil }
        self.sha256 = String(decoding: bytes[..<64], as: UTF8.self)
        self.fileExtension = fileExtension
    }

    package var string: String { "\(self.sha256).\(self.fileExtension)" }

    /// The digest in a sidecar's path, if its filename contains one.
    static func digest(in path: String) -> String? {
        let bytes = path.utf8
        let name = bytes.suffix(from: bytes.lastIndex(of: UInt8(ascii: "/")).map { bytes.index(after: $0) } ?? bytes.startIndex)
        let digest = name.prefix(64)
        guard self.isDigest(digest), name.count == 64 || name.dropFirst(64).first == UInt8(ascii: ".") else { return nil }
        return String(decoding: digest, as: UTF8.self)
    }

    /// Whether the text is a SHA-256 in the spelling of the format.
    static func isDigest(_ text: some Collection<UInt8>) -> Bool { text.count == 64 && text.allSatisfy(self.isDigestDigit) }

    static func isDigestDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) || (97...102).contains(byte) }

    private static func isExtension(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 8 && text.utf8.allSatisfy { ($0 >= 97 && $0 <= 122) || ($0 >= 48 && $0 <= 57) }
    }
}

/// Stores bodies that are too large for the cassette itself.
public protocol SidecarSink {
    /// Stores the pieces that `write` passes to its argument, and names the file by its digest.
    ///
    /// If `write` throws, nothing is kept and the error is rethrown.
    mutating func store(
        fileExtension: String, _ write: (_ piece: (UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Sidecar
}
