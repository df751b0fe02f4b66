import Foundation

/// The files of this package that pages and snippets are in.
enum Repository {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()

    static func path(_ name: String) -> String { Self.root.appendingPathComponent(name).path }

    static func text(_ name: String) throws -> String { try String(contentsOfFile: Self.path(name), encoding: .utf8) }

    /// The pages of all catalogues, and docs/swift.md.
    static func pages() throws -> [SnippetCheck.Page] {
        let catalogues = try Self.files(under: "Sources") { $0.contains(".docc/") && $0.hasSuffix(".md") }
        return try (catalogues + ["docs/swift.md"]).map { ($0, try Self.text($0)) }
    }

    /// The regions of this test target, and of the manifest that it shows.
    static func regions() throws -> [SnippetRegion] {
        let sources = try Self.files(under: "Tests/DocumentationTests") { $0.hasSuffix(".swift") && !$0.contains("/PageSuites/") }
        return try sources.flatMap { try SnippetRegion.all(in: try Self.text($0), file: $0) }
    }

    /// Paths from the root, in order.
    private static func files(under folder: String, _ isWanted: (String) -> Bool) throws -> [String] {
        let names = try FileManager.default.subpathsOfDirectory(atPath: Self.path(folder))
        return names.map { "\(folder)/\($0)" }.filter(isWanted).sorted()
    }
}
