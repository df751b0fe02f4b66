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

    @discardableResult
    func write(_ octets: [UInt8], to name: String) throws -> String {
        let url = URL(fileURLWithPath: self.path).appendingPathComponent(name)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(octets).write(to: url)
        return url.path
    }
}
