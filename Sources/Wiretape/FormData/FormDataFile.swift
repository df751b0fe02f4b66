internal import CassetteModel
internal import CassetteStore
internal import Platform
internal import TapeBytes

/// A file to be sent as a part: known to be there, a regular file of known size that can be opened, when it was looked at.
///
/// Holds nothing open: a file that is changed before it is sent is found out by its length when it is encoded.
public struct FormDataFile: Sendable, Hashable {
    public let path: String
    public let size: Int

    /// A `file:` URL (RFC 8089): without a host, or with `localhost`.
    public init(url: String) throws(FormDataError) {
        guard let path = Self.path(of: url) else {
            throw FormDataError(
                .notAFileURL,
                "\"\(PlainText.escape(url.utf8, limit: 200))\" is not the URL of a file: give one as \"file:///folder/name\", with an absolute path"
            )
        }
        try self.init(path: path)
    }

    public init(path: String) throws(FormDataError) {
        let shown = PlainText.escape(path.utf8, limit: 200)
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw FormDataError(.unreachable, "\"\(shown)\" is not a path: it is empty or holds a NUL; choose another file")
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            let error = SystemError(number: errno, operation: .open, path: shown).cassetteError
            throw FormDataError(.unreachable, error.message)
        }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw FormDataError(.isFolder, "\"\(shown)\" is a folder: append the files in it one by one")
        default:
            throw FormDataError(
                .noSize,
                "\"\(shown)\" is not a regular file, and its size is not known: read it and append the octets, or a stream with a length")
        }
        do {
            _ = try OpenFile(path, for: .read)
        } catch {
            throw FormDataError(.unopenable, error.message)
        }
        self.path = path
        self.size = Int(status.st_size)
    }

    /// What follows the last slash.
    public var name: String { FileLocation(self.path).name }

    /// Nil for what is not the URL of a file on this machine.
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

    /// A question mark or a number sign in a name is written with a percent sign; as themselves they begin a query or a fragment.
    private static func withoutPercents(_ octets: ArraySlice<UInt8>) -> String? {
        var path: [UInt8] = []
        var rest = octets
        while let octet = rest.popFirst() {
            switch octet {
            case UInt8(ascii: "%"):
                guard rest.count >= 2, let decoded = Hex.decode(rest.prefix(2)), let first = decoded.first, first != 0 else { return nil }
                path.append(first)
                rest = rest.dropFirst(2)
            case 0, UInt8(ascii: "?"), UInt8(ascii: "#"): return nil
            default: path.append(octet)
            }
        }
        return String(validating: path, as: UTF8.self)
    }
}
