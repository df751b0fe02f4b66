package import CassetteModel
internal import Platform
internal import TapeBytes

/// The interactions of a cassette by their positions in the file, even while a recorder appends to it.
///
/// Never writes and takes no lock. Tracks brackets, not the content between them. One thread at a time may call `follow`; any thread may
/// read bytes.
package final class CassetteFollower: Sendable {
    package enum Change: Sendable, Equatable {
        case none
        /// Interactions were added after the known ones.
        case grown
        /// The file is a different one, or was truncated: everything known about it is void.
        case replaced
    }

    /// One file, as far as it was read. Another epoch means another file.
    package struct Epoch: Sendable {
        package let number: Int
        fileprivate let shared: SharedFile
        /// From the `{` of each interaction to its `}` inclusive, in the order of the file.
        package fileprivate(set) var ranges: [Range<Int>]
        /// The damage of a torn file before its last interaction, or anywhere if it does not grow.
        package fileprivate(set) var damage: CassetteDamage?
        fileprivate var headEnd: Int
        /// The size of the file when it was last examined.
        fileprivate var size: Int
        /// How many consecutive times the end did not continue what is known.
        fileprivate var strangeLooks = 0

        /// An interaction's JSON text as in the file.
        package func bytes(_ range: Range<Int>) throws(CassetteError) -> [UInt8] { try self.shared.file.read(range) }

        /// Whether it is still the file at its path.
        package func isCurrent(at path: String) -> Bool { self.shared.file.isStill(at: path, followsLinks: true) }

        /// The document before its first interaction, including the `[`; empty if the file is torn before that.
        package func head() throws(CassetteError) -> [UInt8] { try self.shared.file.read(0..<self.headEnd) }

        fileprivate var insertion: Int { self.ranges.last?.upperBound ?? self.headEnd }
    }

    private static let strangeLooks = 4

    package let path: String
    private let state: Guarded<Epoch>

    /// Throws the errors of `CassetteReader`.
    package init(path: String) throws(CassetteError) {
        self.path = path
        self.state = Guarded(try Self.open(path, number: 1))
    }

    /// A snapshot, which does not change.
    package var epoch: Epoch { self.state.withLock { $0 } }

    /// Checks for interactions written since the last call.
    package func follow() throws(CassetteError) -> Change {
        var epoch = self.epoch
        guard epoch.shared.file.isStill(at: self.path, followsLinks: true) else { return try self.replace(epoch) }
        let size = try epoch.shared.file.size()
        // A recorder started over in place, or an editor saved the file.
        guard size >= epoch.insertion, epoch.headEnd > 0 else { return size == epoch.size ? .none : try self.replace(epoch) }
        var structure = CassetteStructure.following(afterFirst: !epoch.ranges.isEmpty)
        try epoch.shared.file.forEachPiece(in: epoch.insertion..<size) { bytes, offset in
            structure.consume(bytes, at: offset)
            return structure.problem == nil
        }
        guard !structure.interactions.isEmpty else {
            // An unfinished write looks strange once; a file that was edited in place does so until it is read again.
            epoch.strangeLooks = structure.problem != nil && size != epoch.size ? epoch.strangeLooks + 1 : 0
            guard epoch.strangeLooks < Self.strangeLooks else { return try self.replace(epoch) }
            let looked = epoch
            self.state.withLock { $0 = looked }
            return .none
        }
        // What looked torn was an unfinished write.
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

    /// A file that cannot be read now, such as one that was just created, is tried again later.
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
