/// A path taken apart into the folder and the name in it.
///
/// Text only: does not look at the disk.
package struct FileLocation: Sendable, Hashable {
    /// With its last slash left out; `.` for a bare name, `/` for the root.
    package var folder: String
    package var name: String

    package init(_ path: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else {
            self.folder = "."
            self.name = path
            return
        }
        self.folder = slash == path.startIndex ? "/" : String(path[..<slash])
        self.name = String(path[path.utf8.index(after: slash)...])
    }

    /// The folder of sidecars that belongs to a cassette of this name: `pets.bodies` beside `pets.json`.
    package var bodiesName: String {
        let stem = self.name.hasSuffix(".json") && self.name.utf8.count > 5 ? String(self.name.dropLast(5)) : self.name
        return stem + ".bodies"
    }

    package func sibling(_ name: String) -> String {
        self.folder == "/" ? "/\(name)" : self.folder == "." ? name : "\(self.folder)/\(name)"
    }

    /// Whether a string can only be the name of something directly in a folder.
    static func isPlainName(_ name: some StringProtocol) -> Bool {
        let bytes = name.utf8
        guard !bytes.isEmpty, bytes.count <= 255, name != ".", name != ".." else { return false }
        // A backslash is a separator for other systems' tools.
        return !bytes.contains { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") || $0 < 0x20 || $0 == 0x7f }
    }
}
