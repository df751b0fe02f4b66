import Foundation

/// A folder of its own for one test, removed at its end.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("wiretape-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        self.path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: self.path) }

    func file(_ name: String) -> String { "\(self.path)/\(name)" }

    @discardableResult
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: self.file(name)))
        return self.file(name)
    }

    func read(_ name: String) throws -> [UInt8] { try Array(Data(contentsOf: URL(fileURLWithPath: self.file(name)))) }

    func names(in folder: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.isEmpty ? self.path : self.file(folder)).sorted()
    }
}
