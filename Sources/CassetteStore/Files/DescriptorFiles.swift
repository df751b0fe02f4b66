public import CassetteModel
internal import Platform

/// Reads the files with the names of gRPC message fields, as written by `protoc --include_imports --descriptor_set_out=FILE`.
public enum DescriptorFiles {
    /// Extensions that tools use. Other files in a folder are ignored.
    static let extensions = ["pb", "binpb", "desc", "protoset", "fds"]
    /// The size of all files together; the descriptors of thousands of services take less.
    private static let sizeLimit = 64 << 20

    /// Nil without paths.
    ///
    /// - Parameter paths: paths of files, or of folders that contain such files.
    public static func schema(_ paths: [String]) throws(CassetteError) -> ProtoSchema? {
        var files: [[UInt8]] = []
        var room = self.sizeLimit
        for path in paths {
            for file in try self.files(of: path) {
                let bytes = try self.read(file, &room)
                do {
                    _ = try ProtoSchema(files: [bytes])
                } catch {
                    throw CassetteError(
                        .damaged,
                        "\"\(file)\" cannot name the fields of gRPC messages: \(error.reason); name a file that \"protoc --include_imports --descriptor_set_out=FILE\" has written",
                        cause: error)
                }
                files.append(bytes)
            }
        }
        guard !files.isEmpty else { return nil }
        do {
            return try ProtoSchema(files: files)
        } catch {
            throw CassetteError(
                .tooLarge, "the descriptors \(paths.joined(separator: ", ")) are too many: \(error.reason); name fewer files")
        }
    }

    private static func files(of path: String) throws(CassetteError) -> [String] {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { return [path] }
        var names: [String] = []
        try OpenFolder(path).forEachName { (name) throws(CassetteError) in
            if let dot = name.lastIndex(of: "."), self.extensions.contains(String(name[name.index(after: dot)...])) { names.append(name) }
        }
        guard !names.isEmpty else {
            let endings = self.extensions.map { ".\($0)" }.joined(separator: ", ")
            throw CassetteError(.notFound, "\"\(path)\" has no descriptors: no file in it ends with one of \(endings); name a file instead")
        }
        return names.sorted().map { "\(path)/\($0)" }
    }

    private static func read(_ path: String, _ room: inout Int) throws(CassetteError) -> [UInt8] {
        let file = try OpenFile(path, for: .read)
        let size = try file.size()
        guard size <= room else {
            throw CassetteError(
                .tooLarge, "\"\(path)\" and the descriptors before it have more than \(self.sizeLimit >> 20) MiB; name fewer files")
        }
        room -= size
        return try file.read(0..<size)
    }
}
