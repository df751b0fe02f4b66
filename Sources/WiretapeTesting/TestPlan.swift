internal import Foundation
internal import Wiretape

/// Which cassette a test runs with, and how.
struct TestPlan: Sendable {
    var name: CassetteName
    var path: String
    var mode: RecordMode
    /// The test or its suite says the mode: the environment changes nothing.
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

/// Where the cassettes of a test are, told from the test's source file.
enum TestCassetteFolder {
    static let name = "Cassettes"
    /// Names the folder where the sources are not on the machine that runs the tests.
    static let variable = "WIRETAPE_CASSETTES"

    /// The folder `Cassettes` next to the source file, or in the nearest folder above it that has one or that is a package's. Where there is
    /// neither, it is to be next to the source file.
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
