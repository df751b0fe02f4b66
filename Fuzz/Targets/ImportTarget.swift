internal import CassetteImport
internal import Platform
internal import TapeBytes

/// The readers of other tools' recordings: whatever a file has, it is read as some format or refused, and the same each time.
///
/// An input is a file: messages of HTTP/1, an HTTP Archive, a web archive, items in XML, YAML, flows of mitmproxy.
package enum ImportTarget: FuzzTarget {
    private static let path = "\(getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp")/wiretape-fuzz-import-\(getpid())"

    package static func run(_ input: UnsafeRawBufferPointer) throws {
        guard self.write(input) else { return }
        defer { unlink(self.path) }
        let (first, second) = (self.examine(), self.examine())
        try self.expect(first?.exchanges == second?.exchanges && first?.losses == second?.losses, "read twice, a file differs")
    }

    private static func examine() -> ImportReport? { try? CassetteImporter(ImportOptions()).examine(self.path) }

    private static func write(_ input: UnsafeRawBufferPointer) -> Bool {
        guard let file = fopen(self.path, "w") else { return false }
        defer { fclose(file) }
        return fwrite(input.baseAddress, 1, input.count, file) == input.count
    }
}
