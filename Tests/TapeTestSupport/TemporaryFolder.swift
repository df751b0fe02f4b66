internal import Foundation

/// A folder of its own for one test, removed at its end.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    package func file(_ name: String) -> String { "\(self.path)/\(name)" }

    package func read(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(fileURLWithPath: self.file(name)))) }

    /// - Returns: the path of the file.
    @discardableResult
    package func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: self.file(name)))
        return self.file(name)
    }

    package func names(in folder: String = "") throws -> [String] {
        let path = folder.isEmpty ? self.path : self.file(folder)
        return FileManager.default.fileExists(atPath: path) ? try FileManager.default.contentsOfDirectory(atPath: path).sorted() : []
    }
}
