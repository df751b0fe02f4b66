internal import NIOCore
internal import TapeExchange

/// Body bytes as they came, and what they say.
///
/// An HTTP/1 reader leaves chunk lines in `bytes`. A writer with the same framing passes `bytes` on untouched, any other takes the payload.
struct BodyPiece {
    var bytes: ByteBuffer
    /// What the bytes hold, in order, at offsets from their reader index; nil if all of them are payload.
    var events: [BodyEvent]?
    /// The body ends with this piece.
    var isLast = false

    /// The bytes without transfer framing.
    var payload: ByteBuffer {
        guard let events else { return self.bytes }
        var payload = ByteBuffer()
        let view = self.bytes.readableBytesView
        for case .data(let range) in events {
            payload.writeBytes(view[view.startIndex + range.lowerBound..<view.startIndex + range.upperBound])
        }
        return payload
    }
}
