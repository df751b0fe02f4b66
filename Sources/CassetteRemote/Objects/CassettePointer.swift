internal import CassetteFormat
package import TapeBytes

/// A few lines of text in place of a cassette that is in a store, for git: `pets.json.tape`.
///
/// Names what the cassette is, not where: the store's address is in the settings.
package struct CassettePointer: Sendable, Hashable {
    package static let suffix = ".tape"
    /// Far larger than any pointer.
    package static let sizeLimit = 4096
    private static let firstLine = "wiretape pointer 1"

    /// The SHA-256 of the manifest.
    package var digest: String
    /// The SHA-256 of the cassette's text.
    package var textDigest: String
    /// Bytes in the store.
    package var size: Int
    package var exchanges: Int
    /// The start of the first exchange; nil if there is none.
    package var recorded: Timestamp?
    /// The program that pushed it.
    package var tool: String

    package init(digest: String, textDigest: String, size: Int, exchanges: Int, recorded: Timestamp?, tool: String) {
        self.digest = digest
        self.textDigest = textDigest
        self.size = size
        self.exchanges = exchanges
        self.recorded = recorded
        self.tool = tool
    }

    package var text: String {
        var text = "\(Self.firstLine)\ndigest \(self.digest)\ncassette \(self.textDigest)\nsize \(self.size)\nexchanges \(self.exchanges)\n"
        if let recorded { text += "recorded \(recorded.formatted)\n" }
        return text + "tool \(self.tool)\n"
    }

    /// - Parameter path: for errors.
    package init(_ bytes: [UInt8], path: String) throws(StoreError) {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.utf8.split(separator: 10).map { String(Substring($0)) }
        if lines.contains(where: { $0.hasPrefix("<<<<<<<") || $0.hasPrefix(">>>>>>>") }) {
            let digests = lines.filter { $0.hasPrefix("digest ") }.map { $0.dropFirst(7).prefix(12) }.joined(separator: " and ")
            throw StoreError(
                .conflict,
                "\"\(path)\" has the marks of a merge (\(digests)): pull both sides and merge them with \"wiretape merge\", or keep one side with \"git checkout --ours\" or \"--theirs\"."
            )
        }
        var values: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let space = line.firstIndex(of: " ") else { continue }
            values[String(line[..<space])] = String(line[line.index(after: space)...])
        }
        guard lines.first == Self.firstLine, let digest = values["digest"], ObjectName.isDigest(digest), let cassette = values["cassette"],
            ObjectName.isDigest(cassette), let size = values["size"].flatMap({ Int($0) }), size >= 0,
            let exchanges = values["exchanges"].flatMap({ Int($0) }), exchanges >= 0
        else {
            throw StoreError(.damaged, "\"\(path)\" is not a pointer to a cassette, or was changed: restore it with git.")
        }
        self.init(
            digest: digest, textDigest: cassette, size: size, exchanges: exchanges, recorded: values["recorded"].flatMap { Timestamp($0) },
            tool: values["tool"] ?? "")
    }

    package init(path: String) throws(StoreError) {
        try self.init(LocalFile.open(path).readAll(limit: Self.sizeLimit), path: path)
    }

    /// Replaces the file in one step.
    package func write(to path: String) throws(StoreError) { try LocalFolder.replace(path, with: Array(self.text.utf8)) }

    /// The pointer's path for a cassette's.
    package static func path(of cassette: String) -> String { cassette + self.suffix }

    /// Whether a path names a pointer, by its name.
    package static func isPointer(_ path: String) -> Bool { path.hasSuffix(".json\(self.suffix)") }
}
