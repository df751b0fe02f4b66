internal import TapeCore

/// Puts a closed cassette in order of request start and develops what was kept raw; removes no file that has become useless.
public struct CassetteFinisher {
    private let store: BodyStore
    private let reader: BodyReader

    init(path: String, store: BodyStore) {
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
        if count > 0 { try CassetteReferences(familyOf: path).tidy(store) }
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
                    return nil
                }
            }
            progress(starts.count, starts.count)
        } catch let error as CassetteError {
            throw error
        } catch {
            throw CassetteError(
                .unwritable, "\"\(rewriter.path)\" cannot be put in order (\(error)): what was recorded is in it all the same.")
        }
        return developed
    }

    /// A quick look at the text, before it is decoded: neither a raw slice nor a file nor a multipart's Content-Type nor the note on a coding
    /// that was not known can be there without these letters.
    private static func mayBeUndeveloped(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes {
            ByteSearch.contains("\"file\"", in: $0) || ByteSearch.contains("ultipart/", in: $0)
                || ByteSearch.contains("is not taken off\"", in: $0)
        }
    }
}
