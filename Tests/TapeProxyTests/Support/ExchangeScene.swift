import TapeBytes
import CassetteModel
import CassettePlayback
import CassetteStore
import NIOCore
import NIOEmbedded
import NIOPosix
import TapeExchange
import TapeIsolation
import TapeRecorder

@testable import TapeProxy

/// A client connection and its exchanges in memory: the client and the origins are scripts, the clock is set by hand, and there is no
/// thread and no socket.
///
/// Everything that happens is a transcript: `client < ` is what the client gets, `origin 1 < ` is what the first connection to an origin
/// gets, with each line end as `|`. Not Sendable: belongs to one test.
final class ExchangeScene {
    let loop = EmbeddedEventLoop()
    let proxy: ProxyContext
    let recorder: RecordedList
    private let dialing: ScriptedDialing
    private var clients: [EmbeddedChannel] = []
    private var origins: [EmbeddedChannel] = []
    private var open: Set<String> = []
    /// The events since the last call of `heard`.
    private var transcript: [String] = []
    /// Shows the bytes that the clients get; nil for their text.
    var told: ((_ bytes: [UInt8]) -> [String])?

    /// - Parameter records: false forwards without recording.
    init(
        _ session: CassetteSession? = nil, cassette: RecordedCassette? = nil, records: Bool = true,
        configure: (inout ProxyConfiguration) -> Void = { _ in }
    ) throws {
        var configuration = ProxyConfiguration()
        configure(&configuration)
        let shared = ProxyLoop(
            loop: self.loop, limits: configuration.limits,
            server: try SharedServer(tls: configuration.tls, isolation: configuration.isolation), resolver: NameResolver(),
            disk: WorkPool(threads: 0))
        self.recorder = RecordedList()
        self.dialing = ScriptedDialing()
        let common = SharedSession(
            configuration: configuration, session: try session ?? CassetteSession(mode: records ? .all : .passthrough),
            recorder: records ? self.recorder : nil, cassette: cassette)
        self.proxy = ProxyContext(shared: shared, common: common, dialing: self.dialing)
        self.dialing.scene = self
        self.connect()
    }

    // MARK: The script

    /// Another client connects. From now on, the client's calls are for this one.
    ///
    /// - Parameter destination: the address to which an isolated program connects, without the proxy; nil for the proxy.
    func connect(to destination: SocketAddress? = nil) {
        let channel = EmbeddedChannel(loop: self.loop)
        let connection = HTTP1ClientConnection(
            proxy: self.proxy, id: self.clients.count + 1, isolation: destination == nil ? nil : self.proxy.configuration.isolation)
        try? channel.pipeline.syncOperations.addHandlers([HalfCloseHandler(), connection] as [any ChannelHandler])
        channel.localAddress = destination
        if let address = Self.address { channel.connect(to: address, promise: nil) }
        self.clients.append(channel)
        self.open.insert("client\(self.clients.count)")
        self.settle()
    }

    private static let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 80)

    /// The client sends this.
    func client(_ text: String) { self.client(Array(text.utf8)) }

    func client(_ bytes: [UInt8]) {
        guard let channel = self.clients.last else { return }
        self.read(ByteBuffer(bytes: bytes), on: channel)
    }

    /// The client ends its side.
    func clientEnds() {
        self.clients.last?.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        self.settle()
    }

    func clientResets() {
        self.clients.last?.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        self.settle()
    }

    func clientTakes(_ takes: Bool) { self.set(self.clients.last, isWritable: takes) }

    /// Whether the client's connection is read.
    var clientIsRead: Bool { Self.isRead(self.clients.last) }

    /// The pending connection is established.
    func connected() {
        guard let dial = self.dialing.pending.first else { return self.note("nobody dials") }
        self.dialing.pending.removeFirst()
        let channel = EmbeddedChannel(loop: self.loop)
        let upstream = UpstreamConnection(
            route: dial.route, id: self.origins.count + 1, flushes: self.proxy.flushes, clock: self.proxy.shared.clock,
            limits: self.proxy.limits)
        try? channel.pipeline.syncOperations.addHandlers([HalfCloseHandler(), upstream] as [any ChannelHandler])
        if let address = Self.address { channel.connect(to: address, promise: nil) }
        upstream.opened(channel, timing: DialTiming(dns: nil, connect: 1))
        self.origins.append(channel)
        self.open.insert("origin\(self.origins.count)")
        dial.then(.success(upstream))
        self.settle()
    }

    /// The pending connection fails.
    func refused(_ failure: DialFailure = .failed(Failure(kind: .refused, message: "refused"))) {
        guard let dial = self.dialing.pending.first else { return self.note("nobody dials") }
        self.dialing.pending.removeFirst()
        dial.then(.failure(failure))
        self.settle()
    }

    /// The origin sends this on its newest connection, or on the one with this number.
    func origin(_ text: String, on number: Int? = nil) { self.origin(Array(text.utf8), on: number) }

    func origin(_ bytes: [UInt8], on number: Int? = nil) {
        guard let channel = self.originChannel(number) else { return }
        self.read(ByteBuffer(bytes: bytes), on: channel)
    }

    func originEnds(_ number: Int? = nil) {
        self.originChannel(number)?.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        self.settle()
    }

    func originResets(_ number: Int? = nil) {
        self.originChannel(number)?.pipeline.fireErrorCaught(ChannelError.ioOnClosedChannel)
        self.settle()
    }

    /// How often the origin's bytes were acknowledged at once.
    var acknowledgements: Int {
        self.originChannel(nil)?.options.count { option in
            (option.option as? ChannelOptions.Types.SocketOption)?.optionName == .init(rawValue: 12)
        } ?? 0
    }

    /// Whether reads from the origin were made small again.
    var hasShrunkReads: Bool {
        self.originChannel(nil)?.options.contains { $0.option is ChannelOptions.Types.RecvAllocatorOption } ?? false
    }

    func originTakes(_ takes: Bool) { self.set(self.originChannel(nil), isWritable: takes) }

    var originIsRead: Bool { Self.isRead(self.originChannel(nil)) }

    private func originChannel(_ number: Int?) -> EmbeddedChannel? { number.map { self.origins[$0 - 1] } ?? self.origins.last }

    /// Bytes arrive without the end of the event loop's turn: written bytes wait.
    func withoutFlush(_ body: () -> Void) {
        self.isHeld = true
        body()
        self.isHeld = false
        self.settle()
    }

    private var isHeld = false

    /// A moment passes, in which nobody is disconnected for waiting.
    func advance(milliseconds: Int) {
        self.loop.advanceTime(by: .milliseconds(Int64(milliseconds)))
        self.proxy.readClock()
        self.settle()
    }

    /// Time passes. Once a second, peers that have waited too long are disconnected.
    func advance(_ seconds: Int) {
        for _ in 0..<seconds {
            self.loop.advanceTime(by: .seconds(1))
            self.proxy.readClock()
            self.proxy.shared.registry.sweep(now: self.loop.now)
            self.proxy.pool.sweep(now: self.loop.now)
        }
        self.settle()
    }

    /// The proxy stops; the grace period is not over.
    func stop() {
        let done = self.loop.makePromise(of: Void.self)
        done.futureResult.assumeIsolated().whenSuccess { self.note("stopped") }
        self.proxy.stop(then: done)
        self.settle()
    }

    static let diskFull = RecorderProblem(.diskFull, "the disk is full")

    /// The disk has stored the waiting data, or a problem has prevented it.
    func stored(_ problem: RecorderProblem? = nil) {
        for call in self.recorder.takeWaiting() { call(problem.map { .failure($0) } ?? .success(())) }
        self.settle()
    }

    func drained() {
        self.recorder.isFull = false
        self.proxy.recorderDrained()
        self.settle()
    }

    // MARK: The transcript

    func note(_ line: String) { self.transcript.append(line) }

    /// The events since the last call.
    func heard() -> [String] {
        self.settle()
        defer { self.transcript = [] }
        return self.transcript
    }

    private func read(_ buffer: ByteBuffer, on channel: EmbeddedChannel) {
        channel.pipeline.fireChannelRead(buffer)
        channel.pipeline.fireChannelReadComplete()
        self.settle()
    }

    private func set(_ channel: EmbeddedChannel?, isWritable: Bool) {
        channel?.isWritable = isWritable
        channel?.pipeline.fireChannelWritabilityChanged()
        self.settle()
    }

    private static func isRead(_ channel: EmbeddedChannel?) -> Bool {
        (channel?.options.last { $0.option is ChannelOptions.Types.AutoReadOption }?.value as? Bool) ?? true
    }

    /// The turn of the event loop ends.
    private func settle() {
        guard !self.isHeld else { return }
        self.loop.run()
        for (number, channel) in self.clients.enumerated() {
            self.settle(channel, self.clients.count == 1 ? "client" : "client \(number + 1)", key: "client\(number + 1)")
        }
        for (number, channel) in self.origins.enumerated() { self.settle(channel, "origin \(number + 1)", key: "origin\(number + 1)") }
    }

    private func settle(_ channel: EmbeddedChannel, _ name: String, key: String) {
        var bytes: [UInt8] = []
        while let buffer = try? channel.readOutbound(as: ByteBuffer.self) { bytes += buffer.readableBytesView }
        if !bytes.isEmpty {
            let lines = key.hasPrefix("client") ? self.told?(bytes) : nil
            for line in lines ?? [String(decoding: bytes, as: UTF8.self).replacing("\r\n", with: "|")] { self.note("\(name) < \(line)") }
        }
        if !channel.isActive, self.open.remove(key) != nil { self.note("\(name) closed") }
    }
}

/// Connections to origins that are established when the script says so.
private final class ScriptedDialing: Dialing {
    struct Dial {
        var route: UpstreamRoute
        var then: (Result<UpstreamConnection, DialFailure>) -> Void
    }

    weak var scene: ExchangeScene?
    var pending: [Dial] = []

    func open(_ route: UpstreamRoute, lookup: NameLookup?, then: @escaping (Result<any UpstreamStream, DialFailure>) -> Void) {
        guard let pool = self.scene?.proxy.pool else { return }
        self.openTunnel(route) { then($0.map { HTTP1UpstreamStream($0, pool: pool) }) }
    }

    func openTunnel(_ route: UpstreamRoute, then: @escaping (Result<UpstreamConnection, DialFailure>) -> Void) {
        let address = route.address.map { " at \(Endpoint.text($0))" } ?? ""
        self.scene?.note("dial \(route.isInside ? "inside " : "")\(route.origin.authority)\(address)")
        self.pending.append(Dial(route: route, then: then))
    }

    func stop() {}
}

/// The exchanges that were recorded, in the order of their ends.
final class RecordedList: ExchangeSink {
    private struct State {
        var lastID = 0
        var exchanges: [TapedExchange] = []
        var kept: [String] = []
        var waiting: [RecorderItem.Stored] = []
        var isFull = false
        var obstacle: RecorderProblem?
    }

    private let state = Guarded(State())

    func nextID() -> Int {
        self.state.withLock {
            $0.lastID += 1
            return $0.lastID
        }
    }

    func put(_ item: RecorderItem) -> Bool {
        self.state.withLock { state in
            switch item {
            case .block: state.kept.append("block")
            case .dropped: state.kept.append("dropped")
            case .exchange(let exchange, let stored):
                state.exchanges.append(exchange)
                if let stored { state.waiting.append(stored) }
            case .opened: state.kept.append("open")
            // In addition to its bytes, a piece weighs 1024.
            case .message(_, let message): state.kept.append(message.weight == 1024 ? "end" : "\(message.weight - 1024)")
            case .closed: state.kept.append("close")
            }
            return state.isFull
        }
    }

    func isBusy() -> Bool { self.isFull }

    func onDrain(_ call: @escaping @Sendable () -> Void) {}

    var obstacle: RecorderProblem? {
        get { self.state.withLock { $0.obstacle } }
        set { self.state.withLock { $0.obstacle = newValue } }
    }

    /// The result of `put`.
    var isFull: Bool {
        get { self.state.withLock { $0.isFull } }
        set { self.state.withLock { $0.isFull = newValue } }
    }

    /// The received items of running exchanges: their openings, the sizes of pieces, and blocks.
    var kept: [String] { self.state.withLock { $0.kept } }

    var exchanges: [TapedExchange] { self.state.withLock { $0.exchanges } }

    func takeWaiting() -> [RecorderItem.Stored] {
        self.state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting
        }
    }

    /// One line for each exchange: the request, how it ended, and how much of both bodies arrived.
    var summary: [String] {
        self.exchanges.map { exchange in
            let outcome =
                switch exchange.interaction.outcome {
                case .complete: "complete"
                case .cut(let cut): "cut by \(cut.by.rawValue)"
                case .failed(let failure): "failed \(failure.kind.rawValue)"
                }
            let bodies = [exchange.requestBody, exchange.responseBody].compactMap { $0 }.map { "\($0.size)\($0.isComplete ? "" : "…")" }
            let status = exchange.interaction.response.map { " \($0.status)" } ?? ""
            return "\(exchange.interaction.request.method)\(status) \(outcome) \(bodies.joined(separator: " "))"
        }
    }
}
