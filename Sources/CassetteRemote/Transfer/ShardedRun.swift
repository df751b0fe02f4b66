/// A run that many machines record together. Each stores its own cassette, and its pointer under the run's name: `runs/NAME/DIGEST.tape`.
///
/// A shard's name is the digest of its cassette, so that machines whose cassettes have the same filename do not replace each other's.
package struct ShardedRun: Sendable, Hashable {
    static let folder = "runs"
    /// The most shards that are read.
    package static let limit = 100_000
    private static let nameLimit = 100

    package let name: String

    /// - Throws: `settings` for anything but 1 to 100 letters, digits, `.`, `_` and `-` that do not begin with a dot.
    package init(_ name: String) throws(StoreError) {
        let isPlain = name.utf8.allSatisfy {
            (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || [45, 46, 95].contains($0)
        }
        guard (1...Self.nameLimit).contains(name.utf8.count), isPlain, !name.hasPrefix(".") else {
            throw StoreError(
                .settings,
                "\"\(name.prefix(200))\" is no name of a run: it has up to \(Self.nameLimit) letters, digits, dots, hyphens and underscores, such as nightly-42."
            )
        }
        self.name = name
    }

    /// The run that a text such as `s3://bucket/prefix/runs/nightly-42/` names, and its store; nil if it names none.
    package static func named(_ text: String) throws(StoreError) -> (address: StoreAddress, run: ShardedRun)? {
        guard text.hasPrefix("s3://") else { return nil }
        var parts = text.split(separator: "/", omittingEmptySubsequences: false)
        if parts.last?.isEmpty == true { parts.removeLast() }
        // The scheme, its empty part, the bucket, "runs" and the name.
        guard parts.count >= 5, parts[parts.count - 2] == Self.folder, !parts[parts.count - 1].contains("@") else { return nil }
        let run = try ShardedRun(String(parts[parts.count - 1]))
        return (try StoreAddress(parts.dropLast(2).joined(separator: "/")), run)
    }

    /// Adds a cassette that has been pushed. One that is there gets today's date, so that a collection keeps it.
    package func add(_ pointer: CassettePointer, to client: StoreClient) throws(StoreError) {
        _ = try client.put(
            "\(Self.folder)/\(self.name)/\(pointer.digest)\(CassettePointer.suffix)", Payload(Array(pointer.text.utf8)), type: "text/plain",
            .always)
    }

    /// Its shards, by the start of their first exchanges.
    ///
    /// - Throws: if there are none, or if one cannot be read, since a merge without it would lack exchanges.
    package func pointers(in client: StoreClient) throws(StoreError) -> [CassettePointer] {
        let address = "\(client.address)/\(Self.folder)/\(self.name)/"
        var names: [String] = []
        try client.list("\(Self.folder)/\(self.name)/") { (page) throws(StoreError) in
            names += page.map(\.name)
            guard names.count <= Self.limit else {
                throw StoreError(.tooLarge, "\"\(address)\" has more than \(Self.limit) shards: merge them in parts.")
            }
            return true
        }
        guard !names.isEmpty else {
            throw StoreError(
                .notFound,
                "there is no shard in \"\(address)\": add cassettes with \"wiretape push FILE --shard \(self.name)\", or check the name.")
        }
        var pointers: [CassettePointer] = []
        for name in names {
            // Removed since it was listed.
            guard let pointer = try Self.pointer(name, in: client) else {
                throw StoreError(.notFound, "\"\(name)\" was removed from \"\(client.address)\" meanwhile: run the command again.")
            }
            pointers.append(pointer)
        }
        return pointers.sorted { ($0.recorded?.microseconds ?? 0, $0.digest) < ($1.recorded?.microseconds ?? 0, $1.digest) }
    }

    /// The pointer with this name in a store; nil if there is none.
    static func pointer(_ name: String, in client: StoreClient) throws(StoreError) -> CassettePointer? {
        guard let bytes = try client.bytes(name, limit: CassettePointer.sizeLimit) else { return nil }
        let pointer = try CassettePointer(bytes, path: name)
        guard name.hasSuffix("/\(pointer.digest)\(CassettePointer.suffix)") else {
            throw StoreError(
                .damaged, "\"\(name)\" of \"\(client.address)\" names another cassette: remove it, and push its cassette again.")
        }
        return pointer
    }
}
