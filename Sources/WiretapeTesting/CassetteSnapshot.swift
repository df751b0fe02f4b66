internal import Foundation

/// A cassette's file as it was when a test began, for a test that adds exchanges to it and fails.
///
/// Holds the file in memory: a cassette keeps large bodies in files beside it, of which the names are enough.
struct CassetteSnapshot: Sendable {
    private let path: String
    private let octets: Data
    private let bodies: Set<String>

    /// Nil where there is no file, or where it cannot be read: then no recorder can add to it either.
    init?(of path: String) {
        guard let octets = FileManager.default.contents(atPath: path) else { return nil }
        self.path = path
        self.octets = octets
        self.bodies = Self.names(Self.folder(path))
    }

    /// Takes out what has come since.
    func restore() throws {
        let folder = Self.folder(self.path)
        if FileManager.default.contents(atPath: self.path) != self.octets {
            try self.octets.write(to: URL(fileURLWithPath: self.path), options: .atomic)
        }
        for name in Self.names(folder).subtracting(self.bodies) { try FileManager.default.removeItem(atPath: "\(folder)/\(name)") }
        if self.bodies.isEmpty, Self.names(folder).isEmpty { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// Where the bodies of "pets.json" are: "pets.bodies".
    private static func folder(_ path: String) -> String { (path as NSString).deletingPathExtension + ".bodies" }

    private static func names(_ folder: String) -> Set<String> {
        Set((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
    }
}
