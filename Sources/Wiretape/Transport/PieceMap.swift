internal import CassetteModel

/// Where the recorded pieces of a body end in its decoded content.
///
/// Content without codings is cut where its octets were. Of decoded content nobody knows which of its octets came when: each piece has
/// the same share of it as it had of what came, and the last one the rest.
enum PieceMap {
    /// The pieces with their sizes in the content. Sizes add up to `size`.
    static func mapped(_ arrival: Arrival, to size: Int) -> Arrival {
        var mapped = arrival
        let total = arrival.pieces.reduce(0) { $0 + self.size(of: $1) }
        guard total > 0 else {
            for index in mapped.pieces.indices { mapped.pieces[index].size = 0 }
            if !mapped.pieces.isEmpty { mapped.pieces[mapped.pieces.count - 1].size = size }
            return mapped
        }
        var (came, given) = (0, 0)
        for index in arrival.pieces.indices {
            came += self.size(of: arrival.pieces[index])
            let end = came == total ? size : self.share(of: size, came, total)
            mapped.pieces[index].size = end - given
            given = end
        }
        return mapped
    }

    /// A cassette may be edited: no sum of such sizes overflows.
    private static func size(of piece: Arrival.Piece) -> Int { min(max(0, piece.size), 1 << 40) }

    /// `size · part / total` without overflow.
    private static func share(of size: Int, _ part: Int, _ total: Int) -> Int {
        let (high, low) = size.multipliedFullWidth(by: part)
        // `part` is less than `total`, so that the quotient fits.
        return total.dividingFullWidth((high, low)).quotient
    }
}
