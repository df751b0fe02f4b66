internal import CassetteModel

extension Arrival {
    /// The next piece; behind the limit the last one grows.
    mutating func take(_ piece: Piece) {
        guard self.pieces.count >= Self.pieceLimit, let last = self.pieces.indices.last else {
            self.pieces.append(piece)
            return
        }
        self.isThinned = true
        self.pieces[last].size += piece.size
    }
}
