internal import NIOCore
internal import TapeExchange

/// One end of a tunnel: raw bytes to a client or an origin, after CONNECT or an upgrade. Called on its event loop.
protocol ByteStream: AnyObject {
    var isWritable: Bool { get }
    func write(_ buffer: ByteBuffer)
    /// Sends what was written, at the end of this turn of the event loop.
    func flush()
    /// Reads on, or lets the peer wait.
    func setReading(_ reads: Bool)
    func closeOutput()
    /// Closes once what was written is out.
    ///
    /// - Parameter isCut: without the end that a whole message would have (RFC 8446, 6.1).
    func closeAfterFlush(isCut: Bool)
}

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

/// The time of the event that is being handled: read once for each event, since a request takes a dozen looks at it.
///
/// Not Sendable: lives on its event loop.
final class EventClock {
    private let loop: any EventLoop
    private(set) var now: NIODeadline

    init(loop: any EventLoop) {
        self.loop = loop
        self.now = loop.now
    }

    func read() { self.now = self.loop.now }
}
