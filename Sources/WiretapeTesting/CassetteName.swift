internal import Foundation

/// The name of a cassette in a folder: "pets/upload" is its `pets/upload.json`.
///
/// Never leads out of the folder. Knows neither the folder nor its contents.
struct CassetteName: Sendable, Hashable, CustomStringConvertible {
    /// In bytes. File systems allow 255, which include ".json" and the suffixes of a recorder's temporary files.
    static let componentLimit = 200
    static let depthLimit = 16

    private let components: [String]

    /// - Parameter text: with slashes between folders. Normalized to NFC, so that it is the same file on every file system.
    init(_ text: String) throws(CassetteTestError) {
        let components = text.precomposedStringWithCanonicalMapping.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if let flaw = Self.flaw(of: components) {
            throw CassetteTestError(
                .badName,
                "the cassette name \(Self.quoted(text)) \(flaw); write folders and a name without \".json\", such as \"pets/upload\"")
        }
        self.components = components
    }

    /// The name of a test: its suites as folders, and its function without parentheses.
    ///
    /// - Parameter components: those of the test's identifier, such as `["Pets", "upload(size:)"]`.
    init(ofTest components: some Sequence<String>) {
        let names = components.suffix(Self.depthLimit).map(Self.fileName)
        self.components = names.isEmpty ? ["test"] : names
    }

    private init(components: [String]) {
        self.components = components
    }

    /// The other name, in a folder with this name.
    func appending(_ other: CassetteName) -> CassetteName { CassetteName(components: self.components + other.components) }

    var description: String { self.components.joined(separator: "/") }

    /// - Parameter folder: without a slash at its end.
    func path(in folder: String) -> String { "\(folder)/\(self).json" }

    /// The problem with the name, as the predicate of a sentence; nil if there is none.
    private static func flaw(of components: [String]) -> String? {
        if components == [""] { return "is empty" }
        if components.first == "" { return "is an absolute path" }
        if components.contains("") { return "has an empty part" }
        if components.contains("..") { return "leads out of its folder" }
        if components.contains(where: { $0.hasPrefix(".") }) { return "has a part that begins with a dot" }
        if components.contains(where: { $0.unicodeScalars.contains(where: self.isForbidden) }) {
            return "has a character that file names cannot have everywhere"
        }
        if components.contains(where: { $0.hasPrefix(" ") || $0.hasSuffix(" ") }) { return "has a part that begins or ends with a space" }
        if components.count > self.depthLimit { return "has more than \(self.depthLimit) parts" }
        if components.contains(where: { $0.utf8.count > self.componentLimit }) {
            return "has a part of more than \(self.componentLimit) bytes"
        }
        return components.last?.lowercased().hasSuffix(".json") == true ? "ends in \".json\"" : nil
    }

    /// Whether a generated part of a name may contain the character.
    static func allows(_ scalar: Unicode.Scalar) -> Bool { scalar != "/" && !self.isForbidden(scalar) }

    /// Control characters, those that Windows and Finder refuse, and those that change the writing direction.
    private static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        case .format: scalar != "\u{200C}" && scalar != "\u{200D}"
        default: "\\:*?\"<>|".unicodeScalars.contains(scalar)
        }
    }

    /// A component of a test's identifier as a file name: "upload(size:_:)" is "upload-size", and "`two pets`()" is "two pets".
    private static func fileName(_ component: String) -> String {
        var name = Substring(component)
        var labels = Substring()
        if let open = name.lastIndex(of: "("), name.hasSuffix(")") {
            labels = name[open...].dropFirst().dropLast()
            name = name[..<open]
        }
        if name.count > 1, name.hasPrefix("`"), name.hasSuffix("`") { name = name.dropFirst().dropLast() }
        let words = [name] + labels.split(separator: ":").filter { $0 != "_" }
        let text = words.joined(separator: "-").precomposedStringWithCanonicalMapping
        let safe = text.unicodeScalars.map { $0 == "/" || self.isForbidden($0) ? "-" : String($0) }.joined()
        return self.cut(safe.hasPrefix(".") || safe.hasPrefix(" ") ? "-" + safe.dropFirst() : safe)
    }

    private static func cut(_ text: String) -> String {
        var text = Substring(text)
        while text.utf8.count > self.componentLimit || text.hasSuffix(" ") { text = text.dropLast() }
        return text.isEmpty ? "test" : text.lowercased().hasSuffix(".json") ? text.dropLast(5) + "-json" : String(text)
    }

    private static func quoted(_ text: String) -> String {
        let shown = text.unicodeScalars.prefix(self.componentLimit).map { self.isControl($0) ? $0.escaped(asASCII: true) : String($0) }
        return "\"\(shown.joined())\""
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        [.control, .format, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
    }
}
