import NIOCore
import NIOEmbedded
import TapeTLS
@testable import TapeProxy

/// One `TLSHandler` on an embedded channel. Collects its reports to its owner and to the next handler.
final class EmbeddedTLSEnd: TLSHandlerOwner {
    let handler: TLSHandler
    let channel: EmbeddedChannel
    private let leaf: Leaf?
    let behind = EventLog()
    let transport = HalfCloseHandler()
    private(set) var hello: ClientHello?
    private(set) var isEstablished = false
    private(set) var failure: TLSFailure?

    init(_ handler: TLSHandler, leaf: Leaf?) throws {
        self.handler = handler
        self.leaf = leaf
        self.channel = EmbeddedChannel()
        handler.owner = self
        try self.channel.pipeline.syncOperations.addHandlers([self.transport, handler, self.behind] as [any ChannelHandler])
        try self.channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 443)).wait()
    }

    func tlsHello(_ hello: ClientHello) {
        self.hello = hello
        if let leaf { self.handler.answer(leaf, protocolName: hello.protocols.first) }
    }

    func tlsEstablished() { self.isEstablished = true }

    func tlsFailed(_ failure: TLSFailure) { self.failure = failure }

    /// The ciphertext that waits to be sent.
    func output() throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let buffer = try self.channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        return bytes
    }

    /// - Returns: whether there were any bytes.
    func deliver(to other: EmbeddedTLSEnd, size: Int = .max) throws -> Bool {
        var rest = try self.output()[...]
        guard !rest.isEmpty else { return false }
        while !rest.isEmpty {
            try other.take(rest.prefix(size))
            rest = rest.dropFirst(size)
        }
        return true
    }

    func take(_ ciphertext: some Collection<UInt8>) throws { try self.channel.writeInbound(ByteBuffer(bytes: ciphertext)) }

    func send(_ text: String, promise: EventLoopPromise<Void>? = nil) {
        self.channel.writeAndFlush(ByteBuffer(string: text), promise: promise)
    }

    /// The transport's end, as a socket reports it.
    func endInput() { self.channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
}
