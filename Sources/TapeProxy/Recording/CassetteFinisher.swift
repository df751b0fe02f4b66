internal import TapeCore

/// Puts a closed cassette in order of request start and develops what was kept raw.
public struct CassetteFinisher {
    private let store: BodyStore
    private let reader: BodyReader
    /// The cassette whose folder of bodies is used.
    private let owner: String

    /// - Parameter owner: the cassette that `store` belongs to, where it is another than the one to be finished.
    init(path: String, owner: String? = nil, store: BodyStore) {
        self.owner = owner ?? path
        self.store = store
        self.reader = BodyReader(cassettePath: path)
    }

    /// Opens, develops and closes a cassette that no recorder has open.
    ///
    /// - Returns: how many exchanges were developed.
    public static func develop(_ path: String, version: String, progress: (_ done: Int, _ of: Int) -> Void) throws -> Int {
        let appender = try CassetteAppender.open(path, recorder: "wiretape \(version)")
        let store = try BodyStore(cassettePath: path)
        let count = try CassetteFinisher(path: path, store: store).finish(try appender.finish(), progress: progress)
        try Self.removeUnnamedSidecars(of: path, in: store)
        return count
    }

    /// - Returns: how many exchanges were developed.
    @discardableResult
    func finish(_ rewriter: CassetteRewriter, progress: (_ done: Int, _ of: Int) -> Void) throws(CassetteError) -> Int {
        let cassette = rewriter.reader
        var starts: [(started: Timestamp, position: Int)] = []
        starts.reserveCapacity(cassette.count)
        for position in 0..<cassette.count {
            let summary = try cassette.bytes(at: position).withUnsafeBytes { InteractionSummaryReader.read($0) }
            starts.append((summary?.started ?? Timestamp(microseconds: .max), position))
        }
        starts.sort { ($0.started, $0.position) < ($1.started, $1.position) }
        var maker = InteractionMaker(store: self.store)
        var developed = 0
        var hasRaw = false
        do {
            try rewriter.rewrite(order: starts.map(\.position)) { place, bytes in
                progress(place, starts.count)
                guard Self.mayBeUndeveloped(bytes) else { return nil }
                let interaction = try InteractionDecoder.decode(bytes)
                guard interaction.isUndeveloped else { return nil }
                do {
                    let better = try maker.developed(interaction, reader: self.reader)
                    var writer = JSONWriter(reserving: bytes.count)
                    writer.removeAll(baseDepth: 2)
                    InteractionEncoder.encode(better, into: &writer)
                    try self.store.syncAll()
                    developed += 1
                    return writer.bytes
                } catch {
                    // What cannot be developed stays raw: it can be replayed all the same.
                    hasRaw = true
                    return nil
                }
            }
            progress(starts.count, starts.count)
            if !hasRaw, developed > 0, !self.isRawSpoolNamedElsewhere(rewriter.path) { try self.store.removeRawSpool() }
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(
                .unwritable, "\"\(rewriter.path)\" cannot be put in order (\(error)): what was recorded is in it all the same.")
        }
        return developed
    }

    /// A quick look at the text, before it is decoded: neither a raw slice nor a file can be there without these letters.
    private static func mayBeUndeveloped(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { ByteSearch.contains("\"file\"", in: $0) }
    }

    /// Removes the sidecars that neither this cassette names nor another that shares its folder of bodies.
    static func removeUnnamedSidecars(of path: String, in store: BodyStore) throws(CassetteError) {
        var kept = try self.sidecars(of: path)
        for other in CassettePlace.sharingBodies(with: path) {
            // What it names cannot be known: nothing is removed.
            guard let more = try? self.sidecars(of: other) else { return }
            kept.formUnion(more)
        }
        try store.removeSidecars(keeping: kept)
    }

    /// Whether another cassette that shares the folder of bodies has bodies in the raw spool, or cannot be asked.
    private func isRawSpoolNamedElsewhere(_ path: String) -> Bool {
        for other in [self.owner] + CassettePlace.sharingBodies(with: self.owner) where other != path && CassettePlace.exists(other) {
            guard let cassette = try? CassetteReader(path: other) else { return true }
            for position in 0..<cassette.count {
                guard let bytes = try? cassette.bytes(at: position) else { return true }
                if bytes.withUnsafeBytes({ ByteSearch.contains("undeveloped.raw", in: $0) }) { return true }
            }
        }
        return false
    }

    /// The paths of all sidecars that a cassette names.
    static func sidecars(of path: String) throws(CassetteError) -> Set<String> {
        let reader = try CassetteReader(path: path)
        var paths: Set<String> = []
        for position in 0..<reader.count {
            let bytes = try reader.bytes(at: position)
            guard bytes.withUnsafeBytes({ ByteSearch.contains(".bodies/", in: $0) }) else { continue }
            let interaction = try InteractionDecoder.decode(bytes)
            for body in [interaction.request.body, interaction.response?.body] {
                if case .file(let sidecar)? = body?.content { paths.insert(sidecar.path) }
                if let original = body?.original { paths.insert(original.path) }
            }
        }
        return paths
    }
}
