internal import CassetteFormat
internal import Platform

/// The folder that contains a server's cassettes.
///
/// Checks names at the moment of the call. Does not protect against links that are created after the check.
public struct CassetteFolder: Sendable, Hashable {
    /// Absolute, without links.
    public let path: String

    /// - Throws: `notFound` if there is no such folder.
    public init(_ path: String) throws(CassetteError) {
        var status = stat()
        guard let resolved = realpath(path, nil) else {
            throw CassetteError(
                .notFound, "there is no folder \"\(path)\" (\(String(cString: strerror(errno)))): create it, or name another.")
        }
        defer { free(resolved) }
        self.path = String(cString: resolved)
        guard stat(self.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw CassetteError(.notFound, "\"\(path)\" is not a folder: name the folder with the cassettes.")
        }
    }

    /// The path of a cassette, given its name, such as `pets.json` or `shop/pets.json`. The cassette need not exist yet.
    ///
    /// - Parameter makesFolders: creates missing folders of the name.
    /// - Throws: `unsafePath` for a name that leads elsewhere, or to a file that cannot be a cassette.
    public func cassette(_ name: String, makesFolders: Bool = false) throws(CassetteError) -> String {
        if let objection = CassettePath.objection(to: name) { throw self.refused(name, objection) }
        guard name.hasSuffix(".json") else { throw self.refused(name, "does not end in \".json\"") }
        // Split as bytes, as the file system does. In Swift, a slash and a following combining accent are one character.
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map {
            String(decoding: $0, as: UTF8.self)
        }
        if let hidden = parts.first(where: { $0.utf8.first == UInt8(ascii: ".") }) {
            throw self.refused(name, "has the hidden part \"\(hidden)\"")
        }
        var path = self.path
        for (index, part) in parts.enumerated() {
            path += "/\(part)"
            let isLast = index == parts.count - 1
            var status = stat()
            guard lstat(path, &status) == 0 else {
                guard errno == ENOENT else { throw self.refused(name, "cannot be checked (\(String(cString: strerror(errno))))") }
                guard !isLast else { continue }
                guard makesFolders else {
                    throw CassetteError(
                        .notFound,
                        "there is no folder \"\(path)\" for \"\(name)\": create it first, or open the session with \"folders\": true.")
                }
                // Another session may create the same folder at the same time.
                guard mkdir(path, 0o777) == 0 || errno == EEXIST else {
                    throw CassetteError(
                        .notFound, "cannot create the folder \"\(path)\" (\(String(cString: strerror(errno)))): create it first.")
                }
                continue
            }
            switch status.st_mode & S_IFMT {
            case S_IFLNK: throw self.refused(name, "goes through the symbolic link \"\(part)\"")
            case S_IFDIR where !isLast: break
            case S_IFREG where isLast: break
            default: throw self.refused(name, isLast ? "is not a regular file" : "goes through \"\(part)\", which is not a folder")
            }
        }
        return path
    }

    private func refused(_ name: String, _ objection: String) -> CassetteError {
        CassetteError(
            .unsafePath,
            "the cassette's name \"\(name.prefix(200))\" \(objection): name a JSON file inside \"\(self.path)\", such as \"pets.json\".")
    }
}
