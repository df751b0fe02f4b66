internal import Platform
internal import TapeBytes

/// The folder of a rules file, and the files in it that rules may name.
///
/// Follows no links below the folder, and never leaves it.
struct RuleFolder: Sendable, Hashable {
    let path: String

    enum Problem: Error {
        case missing
        /// A name that may be of something outside of the folder.
        case outside
        case link
        case folder
        case unreadable(Int32)
        /// Not a file of the disk: a pipe, a device.
        case special
        case tooLong
    }

    /// A file that is open.
    final class File: Sendable {
        private let descriptor: Int32
        let size: Int

        fileprivate init(descriptor: Int32, size: Int) {
            self.descriptor = descriptor
            self.size = size
        }

        deinit { close(self.descriptor) }

        /// Nil if the disk cannot be read, or the file has become shorter.
        func bytes(_ range: Range<Int>) -> [UInt8]? {
            var isWhole = true
            let bytes = [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
                count = 0
                while count < range.count {
                    let result = pread(
                        self.descriptor, buffer.baseAddress.map { $0 + count }, range.count - count, off_t(range.lowerBound + count))
                    if result < 0, errno == EINTR { continue }
                    guard result > 0 else {
                        isWhole = false
                        return
                    }
                    count += result
                }
            }
            return isWhole ? bytes : nil
        }
    }

    /// The names of a path relative to the folder. Throws for one that could lead out of it.
    static func components(_ path: String, line: Int, _ reader: RuleReader) throws(SettingSyntaxError) -> [String] {
        let shown = RuleReader.shown(path)
        guard !path.isEmpty else { throw reader.error(line, "a path is empty; write one, for example fixtures/config.json") }
        guard !path.hasPrefix("/"), !path.hasPrefix("~") else {
            throw reader.error(
                line, "\"\(shown)\" is not in the folder of the rules file; copy the file there and write its path from that folder")
        }
        let names = path.split(separator: "/").map(String.init).filter { $0 != "." }
        guard !names.contains(".."), names.allSatisfy(self.isName), !names.isEmpty else {
            throw reader.error(
                line, "\"\(shown)\" leads out of the folder of the rules file; copy the file there and write its path from that folder")
        }
        return names
    }

    /// Whether a name can only be one of something directly in a folder.
    static func isName(_ name: String) -> Bool {
        !name.isEmpty && name.utf8.count <= 255 && name != "." && name != ".."
            && !name.utf8.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7f }
    }

    /// Opens a file, component by component.
    func open(_ names: [String]) throws(Problem) -> File {
        var folder = Platform.open(self.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw errno == ENOENT ? .missing : .unreadable(errno) }
        defer { close(folder) }
        for name in names.dropLast() {
            let next = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard next >= 0 else { throw self.problem(errno, folder, name) }
            close(folder)
            folder = next
        }
        guard let last = names.last else { throw .folder }
        // A pipe must not make anybody wait.
        let file = openat(folder, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { throw self.problem(errno, folder, last) }
        var info = stat()
        guard fstat(file, &info) == 0 else {
            let number = errno
            close(file)
            throw .unreadable(number)
        }
        switch info.st_mode & S_IFMT {
        case S_IFREG: return File(descriptor: file, size: Int(info.st_size))
        case S_IFDIR:
            close(file)
            throw .folder
        default:
            close(file)
            throw .special
        }
    }

    private func problem(_ number: Int32, _ folder: Int32, _ name: String) -> Problem {
        // Linux says ENOTDIR for a link where a folder has to be.
        var info = stat()
        if fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0, info.st_mode & S_IFMT == S_IFLNK { return .link }
        return [ENOENT, ENOTDIR, ENAMETOOLONG].contains(number) ? .missing : number == ELOOP ? .link : .unreadable(number)
    }

    /// All of a file that a rule names, when the rule is read.
    static func load(_ path: String, line: Int, _ reader: RuleReader) throws(SettingSyntaxError) -> [UInt8] {
        let shown = RuleReader.shown(path)
        guard let folder = reader.folder else {
            throw reader.error(line, "\"\(shown)\" is a file, and these rules have no folder; write its contents instead")
        }
        let names = try self.components(path, line: line, reader)
        do {
            let file = try RuleFolder(path: folder).open(names)
            guard file.size <= LocalAnswer.bodyLimit else { throw Problem.tooLong }
            guard let bytes = file.bytes(0..<file.size) else { throw Problem.unreadable(EIO) }
            return bytes
        } catch {
            throw reader.error(line, self.text(error as? Problem ?? .missing, shown))
        }
    }

    static func text(_ problem: Problem, _ shown: String) -> String {
        switch problem {
        case .outside: "\"\(shown)\" leads out of the folder of the rules file; copy the file there and write its path from that folder"
        case .missing: "there is no file \"\(shown)\" in the folder of the rules file; create it, or correct the path"
        case .link: "\"\(shown)\" leads through a symbolic link, which rules do not follow; copy the file in its place"
        case .folder: "\"\(shown)\" is a folder; write the path of a file"
        case .special: "\"\(shown)\" is not a regular file; write the path of one"
        case .tooLong: "\"\(shown)\" is longer than 16 MiB; use \"mapRemote\" to a server that has it"
        case .unreadable(let number): "\"\(shown)\" cannot be read: \(String(cString: strerror(number))); make it readable"
        }
    }
}

/// Media types by the extensions of files (IANA).
enum FileType {
    private static let types: [String: String] = [
        "html": "text/html; charset=utf-8", "htm": "text/html; charset=utf-8", "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8", "mjs": "text/javascript; charset=utf-8", "txt": "text/plain; charset=utf-8",
        "csv": "text/csv; charset=utf-8", "md": "text/markdown; charset=utf-8", "json": "application/json", "map": "application/json",
        "jsonl": "application/jsonl", "ndjson": "application/x-ndjson", "xml": "application/xml", "yaml": "application/yaml",
        "yml": "application/yaml", "pdf": "application/pdf", "zip": "application/zip", "gz": "application/gzip",
        "wasm": "application/wasm", "bin": "application/octet-stream", "png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg",
        "gif": "image/gif", "webp": "image/webp", "avif": "image/avif", "svg": "image/svg+xml", "ico": "image/vnd.microsoft.icon",
        "mp3": "audio/mpeg", "wav": "audio/wav", "mp4": "video/mp4", "webm": "video/webm", "m3u8": "application/vnd.apple.mpegurl",
        "ts": "video/mp2t", "woff": "font/woff", "woff2": "font/woff2", "ttf": "font/ttf", "otf": "font/otf",
        "plist": "application/x-plist", "proto": "text/plain; charset=utf-8", "webmanifest": "application/manifest+json",
    ]

    static func contentType(ofFile name: String) -> String {
        let last = name.split(separator: "/").last ?? ""
        guard let dot = last.lastIndex(of: ".") else { return "application/octet-stream" }
        return self.types[last[last.index(after: dot)...].lowercased()] ?? "application/octet-stream"
    }
}
