public import CassetteModel

/// Restores the transfer framing of a recorded body: chunk lines, the last chunk and trailers (RFC 9112, 7.1).
///
/// Follows the recorded pieces exactly. If they do not add up to the body, because it was edited or the list was thinned, each call makes
/// one chunk.
public struct BodyFramer: Sendable {
    private let isChunked: Bool
    private let isComplete: Bool
    private let trailers: HeaderFields?
    private let lastLine: String
    private let pieces: [Arrival.Piece]
    private let followsPieces: Bool
    private var piece = 0
    private var left = 0
    private var isInPiece = false

    /// - Parameters:
    ///   - size: bytes of the whole body.
    ///   - isComplete: false omits the end, as in a truncated body.
    public init(arrival: Arrival?, isChunked: Bool, size: Int, isComplete: Bool, trailers: HeaderFields?) {
        self.isChunked = isChunked
        self.isComplete = isComplete
        self.trailers = trailers
        self.lastLine = arrival?.lastLine ?? "0"
        self.pieces = arrival?.isChunked == true ? arrival?.pieces ?? [] : []
        let isThinned = arrival?.isThinned ?? false
        self.followsPieces = !isThinned && !self.pieces.isEmpty && self.pieces.reduce(0) { $0 &+ $1.size } == size
    }

    /// Frames the next bytes of the body.
    public mutating func frame(_ bytes: UnsafeRawBufferPointer, into wire: inout [UInt8]) {
        var payload: [Range<Int>] = []
        self.frame(bytes, into: &wire, payload: &payload)
    }

    /// - Parameter payload: receives the ranges of the body's bytes in `wire`.
    public mutating func frame(_ bytes: UnsafeRawBufferPointer, into wire: inout [UInt8], payload: inout [Range<Int>]) {
        guard self.isChunked else {
            payload.append(wire.count..<wire.count + bytes.count)
            wire.append(contentsOf: bytes)
            return
        }
        guard self.followsPieces else {
            guard !bytes.isEmpty else { return }
            wire.append(contentsOf: "\(String(bytes.count, radix: 16))\r\n".utf8)
            payload.append(wire.count..<wire.count + bytes.count)
            wire.append(contentsOf: bytes)
            wire.append(contentsOf: "\r\n".utf8)
            return
        }
        var offset = 0
        while offset < bytes.count, self.enterPiece(&wire) {
            let count = min(self.left, bytes.count - offset)
            payload.append(wire.count..<wire.count + count)
            wire.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            offset += count
            self.left -= count
            self.leavePiece(&wire)
        }
    }

    /// Writes what follows the last byte; nothing if the body was truncated.
    public mutating func end(into wire: inout [UInt8]) {
        guard self.isChunked else { return }
        // Write the lines of chunks whose data is missing entirely.
        while self.followsPieces, self.enterPiece(&wire) { self.leavePiece(&wire) }
        guard self.isComplete else { return }
        wire.append(contentsOf: "\(self.lastLine)\r\n".utf8)
        if let trailers { wire.append(contentsOf: trailers.bytes) }
        wire.append(contentsOf: "\r\n".utf8)
    }

    private mutating func enterPiece(_ wire: inout [UInt8]) -> Bool {
        guard !self.isInPiece else { return true }
        guard self.piece < self.pieces.count else { return false }
        let piece = self.pieces[self.piece]
        self.isInPiece = true
        self.left = piece.size
        wire.append(contentsOf: "\(piece.line ?? String(piece.size, radix: 16))\r\n".utf8)
        return true
    }

    /// Ends the chunk once all its bytes are written. A truncated chunk stays open.
    private mutating func leavePiece(_ wire: inout [UInt8]) {
        guard self.left == 0 else { return }
        self.isInPiece = false
        self.piece += 1
        let isCutHere = !self.isComplete && self.piece == self.pieces.count && self.isShort(self.pieces[self.piece - 1])
        if !isCutHere { wire.append(contentsOf: "\r\n".utf8) }
    }

    /// Whether the chunk's line announces more bytes than arrived.
    private func isShort(_ piece: Arrival.Piece) -> Bool {
        guard let line = piece.line else { return false }
        let digits = line.prefix { $0.isHexDigit }
        return Int(digits, radix: 16) != piece.size
    }
}
