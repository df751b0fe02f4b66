internal import CassetteModel
internal import NIOCore

/// A connection to an origin that may speak first: waits for its first bytes.
///
/// Not Sendable: lives on its event loop.
final class Greeting: UpstreamConnectionOwner {
    let upstream: UpstreamConnection
    private(set) var bytes = ByteBuffer()
    private var came: ((Greeting) -> Void)?
    private var ended: (() -> Void)?

    init(_ upstream: UpstreamConnection, came: @escaping (Greeting) -> Void, ended: @escaping () -> Void) {
        self.upstream = upstream
        self.came = came
        self.ended = ended
        upstream.take(self)
    }

    /// Calls back no more.
    func forget() {
        self.came = nil
        self.ended = nil
    }

    func upstreamRead(_ buffer: ByteBuffer) { self.bytes.writeImmutableBuffer(buffer) }

    func upstreamReadComplete() {
        guard self.bytes.readableBytes > 0, let came else { return }
        self.forget()
        came(self)
    }

    func upstreamEnded() {
        let ended = self.ended
        self.forget()
        ended?()
    }

    func upstreamFailed(_ failure: Failure) { self.upstreamEnded() }

    func upstreamWritabilityChanged(_ isWritable: Bool) {}
}
