internal import Platform
internal import TapeBytes

/// Removes what no kept pointer needs, when it is old enough.
///
/// Marks from manifests, and reads no cassette. Holds the names of one 256th of the objects in memory.
package struct StoreCollection {
    package struct Outcome: Sendable, Hashable {
        package var kept = 0
        package var keptBytes = 0
        /// Not needed, but younger than the grace.
        package var young = 0
        package var removed = 0
        package var removedBytes = 0
        /// Renewed or removed by others since they were listed.
        package var spared = 0
        /// Keys in the store's folders that are no objects; never touched.
        package var foreign = 0
    }

    private let client: StoreClient
    private let cache: CassetteCache
    private let threads: Int

    package init(client: StoreClient, cache: CassetteCache, threads: Int) {
        self.client = client
        self.cache = cache
        self.threads = threads
    }

    /// - Parameters:
    ///   - digests: of the cassettes to keep, with a name for errors each.
    ///   - grace: in seconds.
    ///   - isDry: removes nothing.
    /// - Throws: before anything is removed, if one of the cassettes cannot be read.
    package func run(
        keeping digests: [String: String], grace: Int, isDry: Bool,
        progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(StoreError) -> Outcome {
        // The server's clock dates the objects.
        let limit = try self.client.serverTime() - grace
        var outcome = Outcome()
        let (shards, old) = try self.shards(youngerThan: limit, &outcome)
        let marks = try self.marks(of: digests.merging(shards) { named, _ in named })
        try self.remove(old, before: limit, isDry: isDry, &outcome)
        for part in 0..<256 {
            progress(part, 256)
            let prefix = Hex.encode([UInt8(part)])
            let kept = try marks.names(of: UInt8(part))
            for folder in ["manifests", "objects"] {
                try self.client.list("\(folder)/\(prefix)/") { (page) throws(StoreError) in
                    var old: [ListedObject] = []
                    for object in page {
                        guard let name = ObjectName(path: object.name) else {
                            outcome.foreign += 1
                            continue
                        }
                        if kept.contains(name.path) {
                            outcome.kept += 1
                            outcome.keptBytes += object.size
                        } else if object.modified.microseconds / 1_000_000 > limit {
                            outcome.young += 1
                        } else {
                            old.append(object)
                        }
                    }
                    try self.remove(old, before: limit, isDry: isDry, &outcome)
                    return true
                }
            }
        }
        progress(256, 256)
        return outcome
    }

    /// The cassettes of runs, which somebody may still merge, and the pointers of those that are old.
    private func shards(
        youngerThan limit: Int, _ outcome: inout Outcome
    ) throws(StoreError) -> (digests: [String: String], old: [ListedObject]) {
        var found: (digests: [String: String], old: [ListedObject]) = ([:], [])
        try self.client.list("\(ShardedRun.folder)/") { [client] (page) throws(StoreError) in
            for object in page {
                guard object.name.hasSuffix(CassettePointer.suffix) else {
                    outcome.foreign += 1
                    continue
                }
                guard object.modified.microseconds / 1_000_000 > limit else {
                    found.old.append(object)
                    continue
                }
                outcome.young += 1
                guard let pointer = try ShardedRun.pointer(object.name, in: client) else { continue }
                found.digests[pointer.digest] = "\"\(object.name)\""
            }
            return true
        }
        return found
    }

    private func remove(_ objects: [ListedObject], before limit: Int, isDry: Bool, _ outcome: inout Outcome) throws(StoreError) {
        let counts = Guarded((removed: 0, bytes: 0, spared: 0))
        try ParallelWork.run(objects, threads: self.threads) { [client] (object) throws(StoreError) in
            if !isDry {
                // A push may have renewed it since it was listed. Between this question and the removal, a moment is left: a push asks once
                // more at its end.
                guard let head = try client.head(object.name), head.modified > 0, head.modified <= limit else {
                    return counts.withLock { $0.spared += 1 }
                }
                try client.delete(object.name)
            }
            counts.withLock { ($0.removed, $0.bytes) = ($0.removed + 1, $0.bytes + object.size) }
        }
        let count = counts.withLock { $0 }
        outcome.removed += count.removed
        outcome.removedBytes += count.bytes
        outcome.spared += count.spared
    }

    private func marks(of digests: [String: String]) throws(StoreError) -> ObjectMarks {
        let marks = try ObjectMarks(self.cache)
        try ParallelWork.run(digests.sorted { $0.key < $1.key }, threads: self.threads) { [client] (item) throws(StoreError) in
            guard let name = ObjectName(item.key, .manifest) else {
                throw StoreError(.damaged, "\(item.value) has no digest: nothing was removed. Correct it.")
            }
            // Only what the store has counts: a cassette that it does not have is a mistake in the settings.
            guard let bytes = try client.bytes(name.path, limit: Manifest.sizeLimit) else {
                throw StoreError(
                    .notFound,
                    "\(item.value) is not in \"\(client.address)\": nothing was removed. Push it, correct \"store\", or remove its pointer."
                )
            }
            guard MemoryDigest.hex(bytes) == item.key, let manifest = Manifest(bytes) else {
                throw StoreError(
                    .damaged,
                    "\(item.value): \"\(name.path)\" is not what its name says: nothing was removed. Push the cassette again with \"wiretape push --check\"."
                )
            }
            try marks.add(Array(manifest.objects.keys) + [name])
        }
        return marks
    }
}

/// The names of objects to keep, in 256 files.
final class ObjectMarks: Sendable {
    private struct Part: Sendable {
        var file: LocalFile
        var size = 0
    }

    private static let kinds: [ObjectName.Kind] = [.body, .cassette, .manifest]
    private static let entrySize = 33

    private let parts: Guarded<[Part]>

    init(_ cache: CassetteCache) throws(StoreError) {
        var parts: [Part] = []
        for _ in 0..<256 { parts.append(Part(file: try cache.temporaryFile())) }
        self.parts = Guarded(parts)
    }

    func add(_ objects: [ObjectName]) throws(StoreError) {
        var entries: [Int: [UInt8]] = [:]
        for object in objects {
            guard let digest = Hex.decode(object.digest.utf8), let kind = Self.kinds.firstIndex(of: object.kind) else { continue }
            entries[Int(digest[0]), default: []] += digest + [UInt8(kind)]
        }
        for (part, bytes) in entries {
            let (file, offset) = self.parts.withLock { parts in
                defer { parts[part].size += bytes.count }
                return (parts[part].file, parts[part].size)
            }
            try file.write(bytes, at: offset)
        }
    }

    /// The paths of the objects whose digests begin with this byte.
    func names(of part: UInt8) throws(StoreError) -> Set<String> {
        let file = self.parts.withLock { $0[Int(part)].file }
        let bytes = try file.readAll(limit: .max)
        var names: Set<String> = []
        for start in stride(from: 0, to: bytes.count, by: Self.entrySize) {
            let entry = bytes[start..<min(start + Self.entrySize, bytes.count)]
            guard entry.count == Self.entrySize, let kind = entry.last,
                let name = ObjectName(Hex.encode(entry.dropLast()), Self.kinds[Int(kind)])
            else { throw StoreError(.damaged, "the list of objects to keep is damaged: nothing was removed. Run the command again.") }
            names.insert(name.path)
        }
        return names
    }
}
