package import CassetteModel
internal import Platform
internal import TapeBytes

/// A cassette's interactions by their places in the file, also while a recorder appends to it.
///
/// Never writes and takes no lock. Knows brackets, not what is between them. One thread at a time calls `follow`; any thread may read bytes.
package final class CassetteFollower: Sendable {
    package enum Change: Sendable, Equatable {
        case none
        /// Interactions were added after those that are known.
        case grown
        /// The file is another one, or was cut: all that was known of it is void.
        case replaced
    }

    /// One file, as far as it was read; another epoch is another file.
    package struct Epoch: Sendable {
        package let number: Int
        fileprivate let shared: SharedFile
        /// From `{` up to and with `}` of each interaction, in the order of the file.
        package fileprivate(set) var ranges: [Range<Int>]
        /// What a torn file has lost before its last interaction, or if it does not grow at all.
        package fileprivate(set) var damage: CassetteDamage?
        fileprivate var headEnd: Int
        /// Of the file when it was looked at.
        fileprivate var size: Int
        /// Looks in a row at which the end did not continue what is known.
        fileprivate var strangeLooks = 0

        /// An interaction's JSON text as it is in the file.
        package func bytes(_ range: Range<Int>) throws(CassetteError) -> [UInt8] { try self.shared.file.read(range) }

        /// Whether it is still what is at its path.
        package func isCurrent(at path: String) -> Bool { self.shared.file.isStill(at: path, followsLinks: true) }

        /// The document before its first interaction, up to and with the `[`; empty if the file is torn before it.
        package func head() throws(CassetteError) -> [UInt8] { try self.shared.file.read(0..<self.headEnd) }

        fileprivate var insertion: Int { self.ranges.last?.upperBound ?? self.headEnd }
    }

    private static let strangeLooks = 4

    package let path: String
    private let state: Guarded<Epoch>

    /// Throws what `CassetteReader` throws.
    package init(path: String) throws(CassetteError) {
        self.path = path
        self.state = Guarded(try Self.open(path, number: 1))
    }

    /// A view of the moment; stays as it is.
    package var epoch: Epoch { self.state.withLock { $0 } }

    /// Looks for what was written since the last look.
    package func follow() throws(CassetteError) -> Change {
        var epoch = self.epoch
        guard epoch.shared.file.isStill(at: self.path, followsLinks: true) else { return try self.replace(epoch) }
        let size = try epoch.shared.file.size()
        // A recorder that begins anew in place, or an editor.
        guard size >= epoch.insertion, epoch.headEnd > 0 else { return size == epoch.size ? .none : try self.replace(epoch) }
        var structure = CassetteStructure.following(afterFirst: !epoch.ranges.isEmpty)
        try epoch.shared.file.forEachPiece(in: epoch.insertion..<size) { bytes, offset in
            structure.consume(bytes, at: offset)
            return structure.problem == nil
        }
        guard !structure.interactions.isEmpty else {
            // A write that is half done looks strange once; a file that was edited in place does so until it is read anew.
            epoch.strangeLooks = structure.problem != nil && size != epoch.size ? epoch.strangeLooks + 1 : 0
            guard epoch.strangeLooks < Self.strangeLooks else { return try self.replace(epoch) }
            let looked = epoch
            self.state.withLock { $0 = looked }
            return .none
        }
        // What seemed torn was a write that had not ended.
        if let damage = epoch.damage, let first = epoch.ranges.last {
            let kept = damage.stretches.filter { $0.bytes.lowerBound < first.lowerBound }
            epoch.damage = kept.isEmpty ? nil : CassetteDamage(path: damage.path, stretches: kept, keptAt: damage.keptAt)
        }
        epoch.ranges += structure.interactions
        epoch.size = size
        epoch.strangeLooks = 0
        let new = epoch
        self.state.withLock { $0 = new }
        return .grown
    }

    /// A file that cannot be read now, as one that was only just created, is looked at again later.
    private func replace(_ old: Epoch) throws(CassetteError) -> Change {
        let new = try Self.open(self.path, number: old.number + 1)
        self.state.withLock { $0 = new }
        return .replaced
    }

    private static func open(_ path: String, number: Int) throws(CassetteError) -> Epoch {
        let shared = SharedFile(try OpenFile(path, for: .read))
        guard try shared.file.size() > 0 else { throw CassettePlace.emptyFileError(path) }
        let index = try CassetteScanner.scan(shared.file)
        return Epoch(
            number: number, shared: shared, ranges: index.interactions,
            damage: index.damage.isEmpty ? nil : CassetteDamage(path: path, stretches: index.damage), headEnd: index.headEnd ?? 0,
            size: index.size)
    }
}
