import NIOCore
import TapeTLS

/// The last handler of a pipeline. It notes everything that arrives.
final class EventLog: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// The received plaintext, joined.
    private(set) var text = ""
    /// All other events, in order.
    private(set) var events: [String] = []

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { self.text += String(buffer: self.unwrapInboundIn(data)) }

    func channelWritabilityChanged(context: ChannelHandlerContext) { self.events.append("writable \(context.channel.isWritable)") }

    func channelInactive(context: ChannelHandlerContext) { self.events.append("inactive") }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        self.events.append((event as? ChannelEvent).map { "\($0)" } ?? "\(event)")
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.events.append((error as? TLSFailure).map { "failed \($0.cause)" } ?? "error")
    }
}
