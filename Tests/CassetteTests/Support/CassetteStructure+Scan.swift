@testable import CassetteStore

extension CassetteStructure {
    /// Feeds a document in pieces of equal size.
    static func scan(_ bytes: [UInt8], piece: Int) -> CassetteStructure {
        var structure = CassetteStructure()
        var offset = 0
        while offset < bytes.count, structure.problem == nil {
            let end = min(offset + piece, bytes.count)
            bytes.withUnsafeBytes { structure.consume(UnsafeRawBufferPointer(rebasing: $0[offset..<end]), at: offset) }
            offset = end
        }
        return structure
    }
}
