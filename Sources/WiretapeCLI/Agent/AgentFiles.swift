internal import CassetteModel
internal import CassettePlayback
internal import Platform
internal import TapeBytes

/// The cassettes that an agent may read: one file, or those of a folder. No other path is opened.
struct AgentFiles {
    /// More files or folders are not listed.
    private static let limit = 1_000
    private static let depthLimit = 4

    /// The file or folder that the command names.
    private let root: String
    private let isFolder: Bool

    init(_ root: String) throws(CassetteError) {
        var status = stat()
        guard stat(root, &status) == 0 else {
            throw CassetteError(.notFound, "\"\(root)\" does not exist: name a cassette, or a folder of cassettes.")
        }
        self.root = root
        self.isFolder = status.st_mode & S_IFMT == S_IFDIR
    }

    /// The names by which tools refer to the cassettes, sorted.
    var names: [String] {
        guard self.isFolder else { return [self.root.split(separator: "/").last.map(String.init) ?? self.root] }
        var names: [String] = []
        self.collect("", depth: 0, into: &names)
        return names.sorted()
    }

    private func collect(_ folder: String, depth: Int, into names: inout [String]) {
        guard depth < Self.depthLimit, let stream = opendir(folder.isEmpty ? self.root : "\(self.root)/\(folder)") else { return }
        defer { closedir(stream) }
        while names.count < Self.limit, let entry = readdir(stream) {
            // SAFETY: readdir's name ends with a NUL and is valid until the next call.
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) { String(cString: $0) }
            }
            guard !name.hasPrefix(".") else { continue }
            let path = folder.isEmpty ? name : "\(folder)/\(name)"
            var status = stat()
            // A link may lead out of the folder.
            guard lstat("\(self.root)/\(path)", &status) == 0 else { continue }
            switch status.st_mode & S_IFMT {
            case S_IFDIR where !name.hasSuffix(".bodies"): self.collect(path, depth: depth + 1, into: &names)
            case S_IFREG where name.hasSuffix(".json"): names.append(path)
            default: continue
            }
        }
    }

    /// - Parameter name: nil for the only one.
    func path(_ name: String?) throws -> String {
        let names = self.names
        guard let name else {
            guard names.count == 1 else {
                throw SettingSyntaxError("there are \(names.count) cassettes: pass \"file\", as \"status\" lists them")
            }
            return self.isFolder ? "\(self.root)/\(names[0])" : self.root
        }
        guard names.contains(name) else { throw SettingSyntaxError("there is no cassette of that name: \"status\" lists them") }
        return self.isFolder ? "\(self.root)/\(name)" : self.root
    }

    /// The path of a cassette that is to be recorded.
    ///
    /// - Parameter replaces: whether a cassette of that name may exist.
    func newPath(_ name: String, replaces: Bool) throws(SettingSyntaxError) -> String {
        guard self.isFolder else { throw SettingSyntaxError("this server has one cassette: start it with a folder, to record others") }
        let segments = name.split(separator: "/", omittingEmptySubsequences: false)
        // The names that `collect` finds, so that the recording can be read.
        guard name.hasSuffix(".json"), segments.count <= Self.depthLimit,
            segments.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") && !$0.utf8.contains { $0 < 32 } }),
            segments.dropLast().allSatisfy({ !$0.hasSuffix(".bodies") }), segments.last != ".json"
        else {
            throw SettingSyntaxError("\"file\" is not a name like pets.json or folder/pets.json in the folder of this server")
        }
        var folder = self.root
        var status = stat()
        for segment in segments.dropLast() {
            folder += "/\(segment)"
            // A link may lead out of the folder.
            guard lstat(folder, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR else {
                throw SettingSyntaxError("a part of \"file\" is not a folder: choose another name")
            }
        }
        let path = "\(self.root)/\(name)"
        guard lstat(path, &status) == 0 else { return path }
        guard status.st_mode & S_IFMT == S_IFREG else { throw SettingSyntaxError("\"file\" is not a file: choose another name") }
        guard replaces else {
            throw SettingSyntaxError("there is a cassette of that name: choose another, or pass \"replace\": true if the user wants that")
        }
        return path
    }

    func cassette(_ name: String?) throws -> RecordedCassette { try RecordedCassette(path: try self.path(name)) }
}
