#if AsyncHTTPClient
internal import Foundation
internal import NIOCore
internal import NIOPosix
internal import NIOSSL
internal import NIOTLS
internal import TapeBytes
internal import Wiretape

/// Makes connections for WebSockets, outside of the client's pool.
final class SocketConnections: Sendable {
    private let configuration: TLSConfiguration
    private let pins: PinnedKeys?
    /// Created for the first https URL, since that reads the system's roots.
    private let context = Guarded<NIOSSLContext?>(nil)

    init(_ configuration: TLSConfiguration, pins: PinnedKeys?) {
        self.configuration = configuration
        self.pins = pins
    }

    /// Connects, and waits for the TLS handshake and the check of the server's key.
    func connect(_ request: TransportRequest) async throws -> ChannelBytes {
        let isSecure = request.url.scheme?.lowercased() == "https"
        let host = Self.host(of: request.url)
        let tls = try isSecure ? self.tlsContext() : nil
        let group = MultiThreadedEventLoopGroup.singleton
        let loop = group.next()
        let handshake = loop.makePromise(of: Void.self)
        let bytes = NIOLoopBoundBox.makeEmptyBox(valueType: ChannelBytes.Handler.self, eventLoop: loop)
        let bootstrap = ClientBootstrap(group: loop)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let handler = ChannelBytes.Handler()
                    bytes.value = handler
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: Self.isAddress(host) ? nil : host))
                        try pipeline.addHandler(HandshakeWatcher(handshake))
                    } else {
                        handshake.succeed()
                    }
                    try pipeline.addHandler(handler)
                }
            }
        let channel: any Channel
        do {
            channel = try await bootstrap.connect(host: host, port: request.url.port ?? (isSecure ? 443 : 80)).get()
        } catch {
            handshake.fail(error)
            throw error
        }
        let stream = ChannelBytes(channel, bytes, request)
        do {
            try await withTaskCancellationHandler {
                try await handshake.futureResult.get()
                if let pins = self.pins { try await loop.flatSubmit { pins.check(channel) }.get() }
                // From here on, bytes are only read when they are asked for.
                try await channel.setOption(.autoRead, value: false).get()
            } onCancel: {
                stream.cancel()
            }
        } catch {
            stream.cancel()
            throw error
        }
        return stream
    }

    private func tlsContext() throws -> NIOSSLContext {
        try self.context.withLock { known in
            if let known { return known }
            let context = try NIOSSLContext(configuration: self.configuration)
            known = context
            return context
        }
    }

    /// Without the brackets of an IPv6 address.
    private static func host(of url: URL) -> String {
        let host = url.host ?? ""
        return host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
    }

    /// An IP address is never sent as the server name (RFC 6066, 3).
    private static func isAddress(_ host: String) -> Bool { (try? SocketAddress(ipAddress: host, port: 0)) != nil }
}

/// Completes a promise when a TLS handshake ends.
private final class HandshakeWatcher: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let promise: EventLoopPromise<Void>

    init(_ promise: EventLoopPromise<Void>) { self.promise = promise }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case TLSUserEvent.handshakeCompleted = event { self.promise.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        self.promise.fail(error)
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.promise.fail(ChannelError.eof)
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) { self.promise.fail(ChannelError.alreadyClosed) }
}

/// The bytes of a channel. They are only read from the network when they are asked for.
final class ChannelBytes: ByteStream {
    /// How long to wait for bytes that the server still sends after the client's close.
    private static let lingering = TimeAmount.seconds(2)

    private let channel: any Channel
    private let handler: NIOLoopBoundBox<Handler?>
    private let request: TransportRequest
    private let isAnswered = Guarded(false)

    init(_ channel: any Channel, _ handler: NIOLoopBoundBox<Handler?>, _ request: TransportRequest) {
        self.channel = channel
        self.handler = handler
        self.request = request
    }

    deinit { self.cancel() }

    func read() async throws -> [UInt8]? {
        let next = self.channel.eventLoop.makePromise(of: ByteBuffer?.self)
        return try await withTaskCancellationHandler {
            self.channel.eventLoop.execute { [handler, channel] in
                handler.value?.read(next)
                if handler.value?.isWaiting == true { channel.read() }
            }
            let bytes = try await self.failing { try await next.futureResult.get() }
            if bytes != nil { self.isAnswered.withLock { $0 = true } }
            return bytes.map { Array(buffer: $0) }
        } onCancel: {
            self.channel.eventLoop.execute { [handler] in handler.value?.give(up: next) }
        }
    }

    func write(_ bytes: [UInt8]) async throws {
        try await self.failing { try await self.channel.writeAndFlush(ByteBuffer(bytes: bytes)).get() }
    }

    /// Translates errors into the kinds and words that every transport uses.
    private func failing<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
        do {
            return try await work()
        } catch {
            throw NetworkError.failure(error, of: self.request, isAnswered: self.isAnswered.withLock { $0 })
        }
    }

    /// If the connection were closed with unread bytes, a server that has not read everything yet would lose it (RFC 9112, 9.6). So this
    /// keeps reading for a while, until the server closes.
    func close() async {
        self.channel.eventLoop.execute { [channel, handler] in
            handler.value?.drain()
            let deadline = channel.eventLoop.assumeIsolated().scheduleTask(in: Self.lingering) { channel.close(promise: nil) }
            channel.closeFuture.whenComplete { _ in deadline.cancel() }
            channel.setOption(.autoRead, value: true).whenComplete { _ in channel.read() }
        }
    }

    func cancel() { self.channel.close(promise: nil) }

    /// Keeps bytes until they are read. Lives on the channel's event loop.
    final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private var held = ByteBuffer()
        private var reader: EventLoopPromise<ByteBuffer?>?
        private var end: Result<ByteBuffer?, any Error>?
        private var isDraining = false

        var isWaiting: Bool { self.reader != nil }

        func read(_ reader: EventLoopPromise<ByteBuffer?>) {
            if self.held.readableBytes > 0 {
                reader.succeed(self.held)
                self.held = ByteBuffer()
            } else if let end = self.end {
                reader.completeWith(end)
            } else {
                self.reader = reader
            }
        }

        /// The reader's task was cancelled.
        func give(up reader: EventLoopPromise<ByteBuffer?>) {
            if self.reader?.futureResult === reader.futureResult { self.reader = nil }
            reader.fail(CancellationError())
        }

        func drain() {
            self.isDraining = true
            self.held = ByteBuffer()
            self.finish(.success(nil))
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard !self.isDraining else { return }
            var bytes = Self.unwrapInboundIn(data)
            self.held.writeBuffer(&bytes)
        }

        func channelReadComplete(context: ChannelHandlerContext) {
            if self.held.readableBytes > 0, let reader = self.reader {
                self.reader = nil
                self.read(reader)
            } else if self.reader != nil {
                // This was a TLS record without bytes for the application.
                context.read()
            }
            context.fireChannelReadComplete()
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            self.finish(.failure(error))
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) {
            self.finish(.success(nil))
            context.fireChannelInactive()
        }

        private func finish(_ end: Result<ByteBuffer?, any Error>) {
            guard self.end == nil else { return }
            self.end = end
            guard let reader = self.reader else { return }
            self.reader = nil
            self.read(reader)
        }
    }
}
#endif
