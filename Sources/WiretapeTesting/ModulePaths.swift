internal import CassetteStore
internal import Foundation
internal import TapeBytes
internal import Wiretape

/// Gives tests with the same name a file each if they are in different modules that share a folder of cassettes.
///
/// A cassette is `Pets/list.json`, unless its head says that a test of another module recorded it. Then it is `ShopTests/Pets/list.json`. A
/// cassette that does not say who recorded it belongs to all modules.
struct ModulePaths: Sendable {
    static let shared = ModulePaths()

    /// By path, the module whose test was the first of the process to record that file. Until then, nothing on the disk says so.
    private let recording = Guarded<[String: String]>([:])

    func path(_ name: CassetteName, in folder: String, module: String) -> String {
        let own = CassetteName(ofTest: [module]).appending(name).path(in: folder)
        if Self.module(ofFile: own) == module { return own }
        let shared = name.path(in: folder)
        return (self.owner(of: shared, for: module) ?? module) == module ? shared : own
    }

    /// Nil if the file belongs to all.
    private func owner(of path: String, for module: String) -> String? {
        if FileManager.default.fileExists(atPath: path) { return Self.module(ofFile: path) }
        return self.recording.withLock { recording in
            let owner = recording[path] ?? module
            recording[path] = owner
            return owner
        }
    }

    /// The module of the test that recorded a cassette; nil if the cassette does not say so or cannot be read, which opening it reports.
    static func module(ofFile path: String) -> String? {
        guard FileManager.default.fileExists(atPath: path), let head = try? CassetteReader(path: path).head(), !head.isEmpty,
            let test = (try? JSONDocument(head + Array("]}".utf8)))?.root[Cassette.Settings.testMember]?.string,
            let dot = test.firstIndex(of: ".")
        else { return nil }
        return String(test[..<dot])
    }
}
