import NIOCore

/// Lets only the output of an embedded channel be closed, as with a socket. Notes the close and closes nothing.
final class HalfCloseHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var isOutputClosed = false

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        self.isOutputClosed = true
        promise?.succeed()
    }
}
