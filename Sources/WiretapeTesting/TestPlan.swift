internal import Foundation
internal import Wiretape

/// Which cassette a test uses, and how.
struct TestPlan: Sendable {
    var name: CassetteName
    var path: String
    var mode: RecordMode
    /// Whether the test or its suite sets the mode, so that the environment does not count.
    var isModeFixed: Bool
    var unused: UnusedRule
    var settings: CassetteSettings

    init(
        _ name: CassetteName, _ options: CassetteOptions, source: String, environment: [String: String]
    ) throws(CassetteTestError) {
        self.name = name
        self.path = name.path(in: try TestCassetteFolder.path(forSource: source, environment: environment))
        self.mode = try options.mode.recordMode(environment: environment)
        self.isModeFixed = options.mode != .automatic
        self.unused = options.unused ?? .fail
        self.settings = options.settings ?? CassetteSettings()
        if let order = options.order { self.settings.order = order }
    }
}

/// Finds the folder of a test's cassettes from the test's source file.
enum TestCassetteFolder {
    static let name = "Cassettes"
    /// The variable that names the folder, for machines without the sources.
    static let variable = "WIRETAPE_CASSETTES"

    /// The folder `Cassettes` next to the source file, or in the nearest folder above it that has one or is a package's; by default next to
    /// the source file.
    ///
    /// - Parameter file: absolute, as `#filePath`.
    static func path(forSource file: String, environment: [String: String]) throws(CassetteTestError) -> String {
        if let folder = environment[self.variable], !folder.isEmpty { return self.absolute(folder) }
        let source = URL(fileURLWithPath: file).deletingLastPathComponent().standardizedFileURL
        guard file.hasPrefix("/"), self.isFolder(source.path) else {
            throw CassetteTestError(
                .noFolder,
                "the folder of the test's source file \"\(file)\" is not on this machine; set \(self.variable) to the folder of the cassettes"
            )
        }
        var folder = source
        while folder.path != "/" {
            let cassettes = folder.appendingPathComponent(self.name).path
            if self.isFolder(cassettes) || FileManager.default.fileExists(atPath: folder.appendingPathComponent("Package.swift").path) {
                return cassettes
            }
            folder.deleteLastPathComponent()
        }
        return source.appendingPathComponent(self.name).path
    }

    private static func absolute(_ folder: String) -> String { URL(fileURLWithPath: folder).standardizedFileURL.path }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
