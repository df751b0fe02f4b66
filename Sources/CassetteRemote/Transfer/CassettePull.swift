internal import CassetteModel
internal import TapeBytes

/// Brings cassettes from a store into the cache.
///
/// A body that another cassette has brought is not loaded again. Interrupted at any point, it can be run again.
package struct CassettePull: Sendable {
    package struct Outcome: Sendable, Hashable {
        /// Objects loaded, and their bytes.
        package var loaded = 0
        package var bytes = 0
        /// Whether the cassette was there already.
        package var wasThere = false
        /// Whether something damaged was replaced.
        package var isRepaired = false
    }

    private let client: StoreClient
    private let cache: CassetteCache
    private let threads: Int

    package init(client: StoreClient, cache: CassetteCache, threads: Int) {
        self.client = client
        self.cache = cache
        self.threads = threads
    }

    /// Pulls one cassette.
    ///
    /// - Parameters:
    ///   - name: what the user calls it, for errors.
    ///   - checksAll: compares every body that is here with its digest.
    ///   - isDry: loads only the manifest, and keeps nothing.
    package func pull(
        _ digest: String, as name: String, checksAll: Bool = false, isDry: Bool = false,
        progress: @escaping @Sendable (_ done: Int, _ of: Int) -> Void = { _, _ in }
    ) throws(StoreError) -> Outcome {
        guard let object = ObjectName(digest, .manifest) else {
            throw StoreError(
                .settings, "\"\(digest.prefix(80))\" is not the digest of a cassette: it has 64 hex digits, as in its pointer.")
        }
        var outcome = Outcome()
        do throws(StoreError) {
            if try self.cache.use(digest, checksAll: checksAll) != nil {
                outcome.wasThere = true
                return outcome
            }
        } catch {
            guard error.code == .damaged else { throw error }
            outcome.isRepaired = true
            if !isDry { self.cache.discard(digest) }
        }
        let session = isDry ? nil : try self.cache.session()
        defer { withExtendedLifetime(session) {} }
        guard let bytes = try self.client.bytes(object.path, limit: Manifest.sizeLimit) else {
            throw StoreError(
                .notFound,
                "\"\(name)\" is not in \"\(self.client.address)\" (\"\(object.path)\"): whoever has it pushes it with \"wiretape push\", or correct \"store\"."
            )
        }
        guard MemoryDigest.hex(bytes) == digest, let manifest = Manifest(bytes) else {
            throw StoreError(
                .damaged,
                "\"\(object.path)\" of \"\(self.client.address)\" is not what its name says: nothing of it is used. Push \"\(name)\" again from where it is whole, with \"wiretape push --check\"."
            )
        }
        // Also bounds what a few bytes may unpack to.
        let need = manifest.objects.values.reduce(manifest.textSize, +)
        guard need <= self.cache.limit else {
            throw StoreError(
                .tooLarge,
                "\"\(name)\" needs \(need) bytes, and the cache may have \(self.cache.limit): set WIRETAPE_CACHE_LIMIT to more, or do without this cassette."
            )
        }
        let missing = manifest.objects.filter { !self.cache.contains($0.key, size: $0.value) }.map { (object: $0.key, size: $0.value) }
            .sorted { $0.object.path < $1.object.path }
        (outcome.loaded, outcome.bytes) = (missing.count, missing.reduce(0) { $0 + $1.size })
        guard !isDry else { return outcome }
        let done = Guarded(0)
        try ParallelWork.run(missing, threads: self.threads) { [client, cache] (item) throws(StoreError) in
            try cache.store(item.object, size: item.size) { (file) throws(StoreError) in
                var offset = 0
                let isThere = try client.get(
                    item.object.path, limit: item.size,
                    begin: { () throws(StoreError) in
                        try file.truncate()
                        offset = 0
                    }
                ) { (piece) throws(StoreError) in
                    try file.write(piece, at: offset)
                    offset += piece.count
                }
                guard isThere else {
                    throw StoreError(
                        .notFound,
                        "\"\(item.object.path)\" of \"\(name)\" is missing in \"\(client.address)\": push the cassette again from where it is whole, with \"wiretape push\"."
                    )
                }
            }
            let count = done.withLock { done in
                done += 1
                return done
            }
            progress(count, missing.count)
        }
        try self.cache.assemble(manifest, bytes, digest: digest)
        return outcome
    }
}
