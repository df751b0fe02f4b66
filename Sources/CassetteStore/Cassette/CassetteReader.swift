public import CassetteModel

/// A cassette opened for reading: knows where each interaction lies, and reads its bytes when asked.
///
/// Never writes. Keeps sixteen bytes an interaction in memory. Any thread may use it.
public final class CassetteReader: Sendable {
    public let path: String
    /// What a torn file has lost; nil when it is whole.
    public let damage: CassetteDamage?
    private let shared: SharedFile
    private let index: CassetteIndex

    /// Throws `notFound`, `damaged` (not a cassette, or wrong: with file and line), or `unsupportedVersion`.
    public convenience init(path: String) throws(CassetteError) {
        let shared = SharedFile(try OpenFile(path, for: .read))
        self.init(shared, index: try CassetteScanner.scan(shared.file))
    }

    init(_ shared: SharedFile, index: CassetteIndex) {
        self.path = shared.file.path
        self.damage = index.damage.isEmpty ? nil : CassetteDamage(path: shared.file.path, stretches: index.damage)
        self.shared = shared
        self.index = index
    }

    /// The number of intact interactions.
    public var count: Int { self.index.interactions.count }

    /// Where an interaction lies in the file, from its `{` to behind its `}`.
    public func range(at index: Int) -> Range<Int> { self.index.interactions[index] }

    /// An interaction's JSON text as it stands in the file.
    public func bytes(at index: Int) throws(CassetteError) -> [UInt8] {
        try self.shared.file.read(self.index.interactions[index])
    }

    /// The line on which an interaction begins, counted from 1; reads the file up to it, for messages only.
    public func line(at index: Int) throws(CassetteError) -> Int {
        var number = 1
        try self.shared.file.forEachPiece(in: 0..<self.index.interactions[index].lowerBound) { bytes, _ in
            for byte in bytes where byte == 0x0a { number += 1 }
            return true
        }
        return number
    }

    /// The document before its first interaction, up to and with the `[`; empty when the file is torn before that.
    public func head() throws(CassetteError) -> [UInt8] {
        try self.shared.file.read(0..<(self.index.headEnd ?? 0))
    }

    /// The document from the `]` of its interactions to its end; empty when that is missing.
    public func tail() throws(CassetteError) -> [UInt8] {
        guard let arrayEnd = self.index.arrayEnd, let documentEnd = self.index.documentEnd else { return [] }
        return try self.shared.file.read(arrayEnd..<documentEnd)
    }
}
