internal import Foundation

/// The folder of a test's cassettes.
struct TestCassetteFolder: Sendable, Hashable {
    static let name = "Cassettes"
    /// The variable that names the folder, for machines without the sources.
    static let variable = "WIRETAPE_CASSETTES"
    static let recordingAdvice = "record on a machine that has the sources of the tests, and build the tests again"

    let path: String
    /// Whether it is among the resources of a bundle, into which nothing is recorded.
    let isBundled: Bool

    /// Finds the folder: the one that the environment names, or else that of the sources, or else one among the resources of the test's
    /// bundle.
    ///
    /// - Parameters:
    ///   - file: the test's source file, absolute, as `#filePath`.
    ///   - module: the module of the test; nil outside of tests.
    ///   - resources: the folder of the resources of the test's bundle; if nil, the bundles of the process are searched.
    ///   - places: where bundles of resources are, and test bundles' own resources.
    init(
        forSource file: String, module: String? = nil, resources: String? = nil, environment: [String: String],
        places: @autoclosure () -> [String] = Self.bundlePlaces
    ) throws(CassetteTestError) {
        do {
            self.path = try Self.path(forSource: file, environment: environment)
            self.isBundled = false
        } catch {
            guard let path = resources.map(Self.folder) ?? Self.search(places(), module: module) else { throw error }
            guard Self.isFolder(path) else {
                throw CassetteTestError(
                    .noFolder,
                    "the test's sources are not on this machine, and there is no folder \"\(path)\" in its bundle: give the test target resources: [.copy(\"\(Self.name)\")]"
                )
            }
            self.path = path
            self.isBundled = true
        }
    }

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
                "the folder of the test's source file \"\(file)\" is not on this machine; set \(self.variable) to the folder of the cassettes, or give the test target resources: [.copy(\"\(self.name)\")]"
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

    // MARK: Bundles

    /// On Linux the folder of the test program. Elsewhere the resources of the test bundle, and the folder that contains it.
    private static var bundlePlaces: [String] {
        let resources = ([Bundle.main] + Bundle.allBundles).compactMap { $0.resourceURL?.path }
        let tests = Bundle.allBundles.filter { $0.bundleURL.pathExtension == "xctest" }
        return resources + tests.map { $0.bundleURL.deletingLastPathComponent().path }
    }

    /// The cassettes of the module's own resources: SwiftPM puts those of a target in "Package_Target.resources" or
    /// "Package_Target.bundle". If there are none, those of the test bundle itself, where Xcode copies them.
    private static func search(_ places: [String], module: String?) -> String? {
        for place in places {
            guard let module else { break }
            for entry in ((try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []).sorted() {
                let url = URL(fileURLWithPath: entry)
                guard ["resources", "bundle"].contains(url.pathExtension) else { continue }
                // Names of targets may contain characters that names of modules cannot.
                let name = url.deletingPathExtension().lastPathComponent.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
                guard name.hasSuffix("_\(module)") else { continue }
                let found = self.folder("\(place)/\(entry)")
                if self.isFolder(found) { return found }
            }
        }
        return places.map(self.folder).first(where: self.isFolder)
    }

    /// The cassettes among a bundle's resources.
    private static func folder(_ resources: String) -> String {
        let flat = "\(resources)/\(self.name)"
        // The layout of a macOS bundle.
        let deep = "\(resources)/Contents/Resources/\(self.name)"
        return !self.isFolder(flat) && self.isFolder(deep) ? deep : flat
    }

    private static func absolute(_ folder: String) -> String { URL(fileURLWithPath: folder).standardizedFileURL.path }

    private static func isFolder(_ path: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
    }
}
