internal import Foundation

/// A folder for one test, removed at its end.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    package func file(_ name: String) -> String { "\(self.path)/\(name)" }

    package func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: self.file(name)) }

    package func read(_ name: String) throws -> [UInt8] { try Self.contents(self.file(name)) }

    package static func contents(_ path: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(fileURLWithPath: path))) }

    /// Creates the folders that the name contains.
    ///
    /// - Returns: the path of the file.
    @discardableResult
    package func write(_ bytes: some Sequence<UInt8>, to name: String) throws -> String {
        let url = URL(fileURLWithPath: self.file(name))
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(bytes).write(to: url)
        return self.file(name)
    }

    package func names(in folder: String = "") throws -> [String] {
        let path = folder.isEmpty ? self.path : self.file(folder)
        return FileManager.default.fileExists(atPath: path) ? try FileManager.default.contentsOfDirectory(atPath: path).sorted() : []
    }
}
