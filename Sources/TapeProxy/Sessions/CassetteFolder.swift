internal import CassetteFormat
internal import Platform

/// The sessions of a server on one of its event loops.
///
/// Judges names at the moment of asking. Does not protect against links created after the check.
public struct CassetteFolder: Sendable, Hashable {
    /// Absolute, without links.
    public let path: String

    /// - Throws: `notFound` where there is no such folder.
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

    /// The path of a cassette by its name, `pets.json` or `shop/pets.json`; there may be none of that name yet.
    ///
    /// - Parameter makesFolders: makes folders of the name that are missing.
    /// - Throws: `unsafePath` for a name that leads elsewhere, or to a file that cannot be a cassette.
    public func cassette(_ name: String, makesFolders: Bool = false) throws(CassetteError) -> String {
        if let objection = CassettePath.objection(to: name) { throw self.refused(name, objection) }
        guard name.hasSuffix(".json") else { throw self.refused(name, "does not end in \".json\"") }
        // Bytes, as the file system takes them: to Swift a slash and an accent after it are one character.
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
                        "there is no folder \"\(path)\" for \"\(name)\": create it first, or order the session with \"folders\": true.")
                }
                // Another session may make the same folder at the same time.
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
