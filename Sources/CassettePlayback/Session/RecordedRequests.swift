internal import CassetteFormat

/// Method, URL and id of each recorded request, in the order of the file.
///
/// Keeps them in one arena: a hundred thousand take some 10 MB.
struct RecordedRequests: Sendable {
    private var arena: [UInt8] = []
    private var entries: [Entry] = []

    private struct Entry: Sendable {
        var id: Int
        var start: Int
        var methodLength: UInt32
        var urlLength: UInt32
        var mayHaveBody: Bool
    }

    var count: Int { self.entries.count }

    mutating func reserve(_ count: Int) { self.entries.reserveCapacity(count) }

    mutating func append(_ summary: InteractionSummary) {
        let start = self.arena.count
        self.arena.append(contentsOf: summary.method.utf8)
        let methodEnd = self.arena.count
        self.arena.append(contentsOf: summary.url.utf8)
        // An interaction is far shorter than 4 GiB.
        self.entries.append(
            Entry(
                id: summary.id, start: start, methodLength: UInt32(truncatingIfNeeded: methodEnd - start),
                urlLength: UInt32(truncatingIfNeeded: self.arena.count - methodEnd), mayHaveBody: summary.mayHaveRequestBody))
    }

    func id(at position: Int) -> Int { self.entries[position].id }

    /// False where it is certain that the request has no body.
    func mayHaveBody(at position: Int) -> Bool { self.entries[position].mayHaveBody }

    /// Lends method and URL.
    func withRequest<Result>(
        at position: Int, _ body: (_ method: UnsafeRawBufferPointer, _ url: UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let entry = self.entries[position]
        let urlStart = entry.start + Int(entry.methodLength)
        return self.arena.withUnsafeBytes {
            body(
                UnsafeRawBufferPointer(rebasing: $0[entry.start..<urlStart]),
                UnsafeRawBufferPointer(rebasing: $0[urlStart..<urlStart + Int(entry.urlLength)]))
        }
    }
}
