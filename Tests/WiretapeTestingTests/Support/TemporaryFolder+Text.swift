import Foundation
import TapeTestSupport

extension TemporaryFolder {
    func makeFolder(_ name: String) throws {
        try FileManager.default.createDirectory(atPath: self.file(name), withIntermediateDirectories: true)
    }

    /// Creates missing folders too.
    func write(_ text: String, to name: String) throws {
        let url = URL(fileURLWithPath: self.file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// Names of all files, including those in subfolders.
    var files: [String] {
        let all = FileManager.default.enumerator(atPath: self.path)?.allObjects as? [String] ?? []
        return all.filter { name in
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: self.file(name), isDirectory: &isFolder) && !isFolder.boolValue
        }.sorted()
    }
}
