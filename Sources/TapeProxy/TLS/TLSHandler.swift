internal import CassetteModel
internal import NIOCore
internal import TapeTLS

/// Adds TLS to a channel: the handlers after it see plaintext, the channel sees ciphertext.
///
/// A close_notify reaches the handlers as the end of input. An end without it is an error, because data may be missing (RFC 8446, 6.1).
/// Back-pressure is the channel's own: writes are encrypted at once, and reads are passed on at once.
/// Not Sendable: lives on its event loop.
final class TLSHandler: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// OpenSSL accepts hellos of 128 KiB, and a client with a session may send early data right after its hello (RFC 8446, 2.3).
    private static let waitingLimit = 256 * 1024

    private var connection: TLSConnection
    /// The connection has failed, or its channel has closed.
    private var isOver = false
    weak var owner: (any TLSHandlerOwner)?
    private var context: ChannelHandlerContext?
    private let isClient: Bool
    private var isEstablished = false
    private var isEnded = false
    private var isOutputClosed = false
    private var isCut = false
    /// Ciphertext that is sent with the next flush.
    private var outgoing: ByteBuffer?
    /// Whether to keep the received ciphertext as well, in case the tunnel has to be passed through.
    var keepsInput = false
    private(set) var keptInput = ByteBuffer()
    /// Ciphertext received after a hello that has not been answered yet; nil if there is none.
    private var waiting: ByteBuffer?

    init(_ connection: consuming TLSConnection, isClient: Bool) {
        self.connection = connection
        self.isClient = isClient
    }

    /// The next close is not the regular end of the data, so it sends no close_notify (RFC 8446, 6.1).
    func cut() { self.isCut = true }

    // MARK: Handshake

    /// Answers the hello, as a server, and continues the handshake.
    func answer(_ leaf: Leaf, protocolName: String?, refusesProtocols: Bool = false) {
        do throws(TLSFailure) {
            try self.connection.answer(leaf, protocolName: protocolName, refusesProtocols: refusesProtocols)
        } catch {
            return self.failed(error)
        }
        self.take(self.waiting.take() ?? ByteBuffer())
    }

    /// Takes ciphertext that was read before the handler was added.
    func begin(with ciphertext: ByteBuffer) { self.take(ciphertext) }

    // MARK: Channel events

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if self.isClient, context.channel.isActive { self.take(ByteBuffer()) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        self.isOver = true
    }

    func channelActive(context: ChannelHandlerContext) {
        if self.isClient { self.take(ByteBuffer()) }
        context.fireChannelActive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        self.take(self.unwrapInboundIn(data))
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case .inputClosed? = event as? ChannelEvent else { return context.fireUserInboundEventTriggered(event) }
        self.inputEnded()
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.inputEnded()
        self.isOver = true
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard !self.isEstablished, !self.isOver else { return context.fireErrorCaught(error) }
        self.isOver = true
        self.owner?.tlsFailed(TLSFailure(cause: .reset, message: "it broke the connection during the handshake"))
    }

    private func inputEnded() {
        guard !self.isOver else { return }
        self.handle(self.connection.inputEnded())
    }

    /// Processes ciphertext.
    private func take(_ ciphertext: ByteBuffer) {
        guard !self.isOver, let context else { return }
        if self.keepsInput { self.keptInput.writeImmutableBuffer(ciphertext) } else { self.keptInput = ByteBuffer() }
        guard self.waiting == nil else { return self.wait(ciphertext) }
        var plaintext: ByteBuffer?
        let count = ciphertext.readableBytes
        let progress = ciphertext.withUnsafeReadableBytes { bytes in
            self.connection.receive(bytes) { least, fill in
                // Usually fits everything. One record more may come if part of it was read before.
                var buffer = plaintext.take() ?? context.channel.allocator.buffer(capacity: count > 4096 ? count + 16_384 : count)
                buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: least, fill)
                plaintext = buffer
            }
        }
        if !self.isEstablished, self.connection.isEstablished {
            self.isEstablished = true
            self.sendOutput()
            self.owner?.tlsEstablished()
        } else {
            self.sendOutput()
        }
        if let plaintext, plaintext.readableBytes > 0 { self.context?.fireChannelRead(self.wrapInboundOut(plaintext)) }
        self.handle(progress)
    }

    private func wait(_ ciphertext: ByteBuffer) {
        self.waiting?.writeImmutableBuffer(ciphertext)
        guard let waiting, waiting.readableBytes > Self.waitingLimit else { return }
        self.failed(TLSFailure(cause: .malformed, message: "it sent \(waiting.readableBytes) bytes before its hello was answered"))
    }

    private func handle(_ progress: TLSProgress) {
        switch progress {
        case .needsInput:
            break
        case .hello(let hello):
            self.waiting = ByteBuffer()
            self.owner?.tlsHello(hello)
        case .ended:
            guard !self.isEnded else { return }
            self.isEnded = true
            self.context?.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        case .failed(let failure):
            self.failed(failure)
        }
    }

    private func failed(_ failure: TLSFailure) {
        guard !self.isOver else { return }
        self.sendOutput()
        self.isOver = true
        if self.isEstablished {
            self.context?.fireErrorCaught(failure)
        } else {
            self.owner?.tlsFailed(failure)
        }
    }

    // MARK: Output

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let plaintext = self.unwrapOutboundIn(data)
        // Plaintext must neither be dropped silently nor sent unencrypted.
        guard self.isEstablished, !self.isOutputClosed, !self.isOver else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        do {
            if self.connection.pendingOutput > 0 { self.collectOutput() }
            try plaintext.withUnsafeReadableBytes { bytes in
                try self.connection.send(bytes) { least, fill in
                    if self.outgoing == nil { self.outgoing = context.channel.allocator.buffer(capacity: least) }
                    self.outgoing?.writeWithUnsafeMutableBytes(minimumWritableBytes: least, fill)
                }
            }
            if self.connection.pendingOutput > 0 { self.collectOutput() }
        } catch {
            promise?.fail(error)
            context.fireErrorCaught(error)
            return
        }
        // A write with a promise is passed on separately. All others are sent together by the flush.
        if let promise { context.write(self.wrapOutboundOut(self.outgoing.take() ?? ByteBuffer()), promise: promise) }
    }

    func flush(context: ChannelHandlerContext) {
        if let outgoing = self.outgoing.take() { context.write(self.wrapOutboundOut(outgoing), promise: nil) }
        context.flush()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .input:
            break
        case .output, .all:
            if !self.isOutputClosed, !self.isCut || mode == .output { self.connection.closeOutput() }
            self.isOutputClosed = true
            self.sendOutput()
        }
        context.close(mode: mode, promise: promise)
    }

    /// Appends the connection's own output, such as handshake messages, to the bytes that wait to be sent.
    private func collectOutput() {
        self.connection.takeOutput { bytes in
            var buffer = self.outgoing.take() ?? ByteBuffer()
            buffer.writeBytes(bytes)
            self.outgoing = buffer
        }
    }

    private func sendOutput() {
        if self.connection.pendingOutput > 0 { self.collectOutput() }
        guard let context, let outgoing = self.outgoing.take() else { return }
        context.writeAndFlush(self.wrapOutboundOut(outgoing), promise: nil)
    }

    // MARK: Result of the handshake

    func inspect<R>(_ body: (borrowing TLSConnection) -> R) -> R { body(self.connection) }
}

/// Receives the events of a TLS handshake. Called on the event loop.
protocol TLSHandlerOwner: AnyObject {
    /// A server's handshake waits for `TLSHandler.answer`.
    func tlsHello(_ hello: ClientHello)
    /// The handshake is complete. Plaintext follows.
    func tlsEstablished()
    /// The handshake failed. Any alert for the peer has been written, and the connection is still open.
    func tlsFailed(_ failure: TLSFailure)
}

extension TLSDetails {
    /// The result of a handshake with an origin that sent these certificates.
    convenience init(_ connection: borrowing TLSConnection, serverName: String?, certificates: [CertificateSummary]) {
        self.init(
            version: connection.version, cipher: connection.cipher, alpn: connection.protocolName, sni: serverName,
            isResumed: connection.isResumed, chain: certificates.map { RecordedCertificate($0) })
    }
}
