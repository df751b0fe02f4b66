internal import NIOCore
internal import NIOHTTP1

/// Collects one request, asks the routes, and sends the answer.
///
/// Lives on its channel's event loop and is not Sendable.
final class OriginHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// In bytes. The demo's uploads have a few kilobytes. A larger body is answered with 413.
    static let bodyLimit = 8 << 20
    /// The pause between two pieces of a streamed answer.
    static let pause = TimeAmount.milliseconds(20)

    private let routes: Routes
    private var request: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isTooLarge = false

    init(routes: Routes) {
        self.routes = routes
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch self.unwrapInboundIn(data) {
        case .head(let head):
            self.request = head
            self.body = []
            self.isTooLarge = false
            if head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
                let interim = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(self.wrapOutboundOut(.head(interim)), promise: nil)
            }
        case .body(let part):
            if self.body.count + part.readableBytes > Self.bodyLimit {
                self.isTooLarge = true
                self.body = []
            }
            if !self.isTooLarge { self.body.append(contentsOf: part.readableBytesView) }
        case .end:
            guard let request = self.request else { return }
            self.request = nil
            self.send(self.answer(to: request), to: request, context: context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    private func answer(to request: HTTPRequestHead) -> Answer {
        guard !self.isTooLarge else {
            return Answer(.payloadTooLarge, text: "a body may have \(Self.bodyLimit) bytes\n")
        }
        return self.routes.answer(to: request, body: self.body)
    }

    private func send(_ answer: Answer, to request: HTTPRequestHead, context: ChannelHandlerContext) {
        var head = HTTPResponseHead(version: request.version, status: answer.status, headers: answer.headers)
        let isChunked = answer.pieces.count > 1 && request.version == .http1_1
        // Without a length, the encoder uses chunks. 204 has neither (RFC 9110, 8.6).
        if !isChunked, answer.status != .noContent {
            head.headers.replaceOrAdd(name: "Content-Length", value: "\(answer.pieces.reduce(0) { $0 + $1.count })")
        }
        if !request.isKeepAlive { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        context.write(self.wrapOutboundOut(.head(head)), promise: nil)
        let pieces = request.method == .HEAD ? [] : isChunked ? answer.pieces[...] : [Array(answer.pieces.joined())]
        self.send(pieces, keepAlive: request.isKeepAlive, context: context)
    }

    private func send(_ pieces: ArraySlice<[UInt8]>, keepAlive: Bool, context: ChannelHandlerContext) {
        if let piece = pieces.first {
            context.write(self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: piece)))), promise: nil)
        }
        guard pieces.count <= 1 else {
            context.flush()
            let rest = pieces.dropFirst()
            context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
                guard context.channel.isActive else { return }
                self.send(rest, keepAlive: keepAlive, context: context)
            }
            return
        }
        let sent = context.eventLoop.makePromise(of: Void.self)
        if !keepAlive {
            sent.futureResult.assumeIsolated().whenComplete { _ in context.close(promise: nil) }
        }
        context.writeAndFlush(self.wrapOutboundOut(.end(nil)), promise: sent)
    }
}
