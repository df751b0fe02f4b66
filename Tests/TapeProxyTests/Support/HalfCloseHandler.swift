import NIOCore

/// Lets an embedded channel's output be closed alone, as a socket's can: notes it and closes nothing.
final class HalfCloseHandler: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    private(set) var isOutputClosed = false

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        guard mode == .output else { return context.close(mode: mode, promise: promise) }
        self.isOutputClosed = true
        promise?.succeed()
    }
}
