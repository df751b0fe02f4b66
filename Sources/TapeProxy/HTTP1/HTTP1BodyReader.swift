internal import NIOCore
internal import TapeExchange

/// Reads one body from the bytes of an HTTP/1 connection, piece by piece.
///
/// A chunk-size line or a trailer section is delivered only once it is complete and valid (RFC 9112, 7.1), so no part of a malformed one is
/// forwarded. Everything before it is, so that what the other side gets does not depend on how the bytes were divided.
struct HTTP1BodyReader {
    private var parser: BodyParser
    private let isChunked: Bool
    /// The beginning of an incomplete line or section.
    private var pending: ByteBuffer?

    /// An absent body.
    static let none = HTTP1BodyReader(framing: .none, side: .request, limits: Limits())

    init(framing: BodyFraming, side: MessageSide, limits: Limits) {
        self.parser = BodyParser(framing: framing, side: side, limits: limits)
        self.isChunked = framing == .chunked
    }

    /// Takes the bytes of the body out of the input.
    ///
    /// If a malformed line or section follows valid bytes, this returns those and leaves the rest in the input. The next call throws.
    mutating func read(_ input: inout ByteBuffer) throws(MessageError) -> BodyPiece {
        var events: [BodyEvent]? = self.isChunked ? [] : nil
        let shift = self.pending?.readableBytes ?? 0
        let progress: BodyProgress
        do throws(MessageError) {
            progress = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in
                try self.parser.consume(bytes) { events?.append($0.moved(by: shift)) }
            }
        } catch {
            guard self.parser.intact > 0, var bytes = input.readSlice(length: self.parser.intact) else { throw error }
            if var pending = self.pending.take() {
                pending.writeBuffer(&bytes)
                bytes = pending
            }
            return BodyPiece(bytes: bytes, events: events)
        }
        var bytes = input.readSlice(length: progress.consumed) ?? ByteBuffer()
        guard self.isChunked else { return BodyPiece(bytes: bytes, events: nil, isLast: progress.isDone) }
        if var pending = self.pending.take() {
            pending.writeBuffer(&bytes)
            bytes = pending
        }
        let unfinished = self.parser.unfinished
        guard unfinished > 0 else { return BodyPiece(bytes: bytes, events: events, isLast: progress.isDone) }
        let size = bytes.readableBytes - unfinished
        guard size > 0 else {
            self.pending = bytes
            return BodyPiece(bytes: ByteBuffer(), events: events)
        }
        // Copied, because a slice would keep the whole read buffer alive.
        self.pending = ByteBuffer(bytes: bytes.readableBytesView.suffix(unfinished))
        return BodyPiece(bytes: bytes.readSlice(length: size) ?? ByteBuffer(), events: events)
    }

    mutating func sourceEnded() -> BodyEnd { self.parser.sourceEnded() }
}
