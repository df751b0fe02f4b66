internal import CassetteModel

/// The wire octets of a body, coded again piece by piece as they are asked for.
///
/// Holds a piece and the encoders' windows, however large the body is. Used by one thread at a time.
public final class RestoredStream {
    /// A piece is at least this large, but for the last one.
    public static let pieceSize = 256 << 10

    private let source: OctetSource
    /// Nil where the octets lie there as they were recorded.
    private let encoder: EncoderChain?
    private var position = 0
    /// Whether all octets were handed out.
    public private(set) var isEnded = false

    init(_ source: OctetSource, _ encoder: EncoderChain?) {
        self.source = source
        self.encoder = encoder
    }

    /// The next octets; empty where there are none left. Throws what the source and the encoders throw.
    public func next() throws -> [UInt8] {
        var piece: [UInt8] = []
        while !self.isEnded, piece.count < Self.pieceSize {
            var content = [UInt8](repeating: 0, count: min(OctetSource.pieceSize, self.source.size - self.position))
            try content.withUnsafeMutableBytes { try self.source.read(at: self.position, into: $0) }
            self.position += content.count
            self.isEnded = self.position == self.source.size
            guard let encoder = self.encoder else {
                piece += content
                continue
            }
            try content.withUnsafeBytes { try encoder.push($0) { piece.append(contentsOf: $0) } }
            if self.isEnded { try encoder.finish { piece.append(contentsOf: $0) } }
        }
        return piece
    }
}
