internal import NIOCore
internal import TapeBytes
internal import TapeExchange
internal import TapeIsolation

/// The isolated programs of a session, whose connections other processes lead to it: which servers they speak HTTP with, and the processes
/// that list what is refused.
final class SessionGuests: Sendable {
    typealias Watch = @Sendable (_ line: String, _ sent: @escaping @Sendable () -> Void) -> Void

    let log = IsolationLog()
    private let watches = Guarded<[ObjectIdentifier: Watch]>([:])

    func add(_ id: ObjectIdentifier, _ watch: @escaping Watch) { self.watches.withLock { $0[id] = watch } }

    func remove(_ id: ObjectIdentifier) { self.watches.withLock { $0[id] = nil } }

    /// Tells all processes, one of which leads the connection here, and calls back on any thread when they have been told.
    func refused(_ refusal: SessionRefusal, then: @escaping @Sendable () -> Void) {
        Self.tell(Array(self.watches.withLock { $0.values })[...], refusal.line, then: then)
    }

    private static func tell(_ watches: ArraySlice<Watch>, _ line: String, then: @escaping @Sendable () -> Void) {
        guard let first = watches.first else { return then() }
        first(line) { Self.tell(watches.dropFirst(), line, then: then) }
    }
}

extension ClientPeer {
    /// The log of the session of an isolated program that another process leads here; nil for any other client.
    var guestLog: IsolationLog? { self.guest == nil ? nil : self.session.common.guests.log }

    /// The connection of an isolated program continues in a session, over this connection.
    func noteLed(through upstream: UpstreamConnection) {
        guard let isolation = self.session.configuration.isolation, self.session.shared.chain.isSession,
            let link = IsolatedLink(isolation, from: self.remoteAddress, to: self.proxyAddress),
            let port = upstream.localPort.flatMap({ UInt16(exactly: $0) })
        else { return }
        isolation.led(from: link.source, to: link.destination, through: port)
    }
}

/// Tells a process that isolates a program of this session what the session does with its connections: whether they may leave this machine,
/// and which of them are refused. Lasts until that process ends.
///
/// Not Sendable: lives on its event loop.
final class SessionWatchExchange: TunnelExchange {
    private let client: any ClientStream
    private let proxy: ProxyContext

    let takesBytes = true
    let isIdle = true
    let deadline = NIODeadline.distantFuture

    init(client: any ClientStream) {
        self.client = client
        self.proxy = client.peer.session
    }

    func start() {
        self.client.write(ByteBuffer(bytes: SOCKS5.Reply.granted.bytes))
        self.send(SessionRefusal.greeting(mayForward: self.proxy.session.mayForward))
        self.client.setReading(true)
        let box = NIOLoopBound(self, eventLoop: self.proxy.loop)
        self.proxy.common.guests.add(ObjectIdentifier(self)) { [loopGate = self.proxy.loopGate] line, sent in
            loopGate.execute {
                box.value.send(line)
                // After the bytes, which leave at the end of this turn of the event loop.
                loopGate.execute(sent)
            }
        }
    }

    private func send(_ line: String) {
        self.client.write(ByteBuffer(string: line + "\n"))
        self.client.flush()
    }

    func clientBytes(_ input: inout ByteBuffer) { input.moveReaderIndex(to: input.writerIndex) }

    func clientLeft(_ reason: String) { self.end() }

    func proxyStopped() { self.end() }

    private func end() { self.proxy.common.guests.remove(ObjectIdentifier(self)) }

    func deadlinePassed() { self.client.close() }
}
