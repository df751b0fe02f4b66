internal import NIOCore
internal import TapeCore

/// The exchange that an upstream connection works for; called on its event loop.
protocol UpstreamOwner: AnyObject {
    /// Octets came from the origin.
    func upstreamRead(_ buffer: ByteBuffer)
    /// The reads of this turn are through: flush.
    func upstreamReadComplete()
    /// The origin ended its side; nothing more will come.
    func upstreamEnded()
    func upstreamFailed(_ failure: Failure)
    /// The origin takes octets again, or takes no more for now.
    func upstreamWritabilityChanged(_ isWritable: Bool)
}
