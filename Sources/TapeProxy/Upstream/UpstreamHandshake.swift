internal import CassetteModel
internal import NIOCore
internal import TapeTLS

/// Waits for an upstream connection's TLS handshake, and fills in what was agreed on.
///
/// Holds itself until the handshake is over, one way or the other. Not Sendable: lives on its event loop.
final class UpstreamHandshake: TLSHandlerOwner {
    private enum State {
        case running
        case over(Result<Void, TLSFailure>)
    }

    private let upstream: UpstreamConnection
    private let handler: TLSHandler
    private let started = NIODeadline.now()
    private var connected: NIODeadline?
    private var state = State.running
    private var then: ((Result<Void, TLSFailure>) -> Void)?
    private var timer: Scheduled<Void>?
    private var itself: UpstreamHandshake?

    init(_ upstream: UpstreamConnection, _ handler: TLSHandler) {
        self.upstream = upstream
        self.handler = handler
        handler.owner = self
        self.itself = self
    }

    /// The connection stands; calls back when the handshake is through, failed, or took too long.
    func wait(_ seconds: Int, on loop: any EventLoop, then: @escaping (Result<Void, TLSFailure>) -> Void) {
        self.connected = .now()
        self.then = then
        if case .over = self.state { return self.tell() }
        self.timer = loop.assumeIsolated().scheduleTask(in: .seconds(Int64(seconds))) { [self] in
            self.end(.failure(TLSFailure(cause: .timeout, message: "the handshake was not through within \(seconds) s")))
        }
    }

    /// There will be no connection.
    func forget() { self.itself = nil }

    func tlsHello(_ hello: ClientHello) {}

    func tlsEstablished() {
        let milliseconds = self.connected.map { Double((NIODeadline.now() - $0).nanoseconds) / 1e6 } ?? 0
        let certificates = self.handler.inspect { $0.peerCertificates() }
        let details = self.handler.inspect { TLSDetails($0, serverName: self.upstream.route.serverName, certificates: certificates) }
        self.upstream.secured(details, names: certificates.first?.names ?? [], milliseconds: milliseconds)
        self.end(.success(()))
    }

    func tlsFailed(_ failure: TLSFailure) { self.end(.failure(failure)) }

    private func end(_ result: Result<Void, TLSFailure>) {
        guard case .running = self.state else { return }
        self.state = .over(result)
        self.timer?.cancel()
        if case .failure = result { self.upstream.close() }
        self.tell()
    }

    private func tell() {
        guard case .over(let result) = self.state, let then else { return }
        self.then = nil
        self.itself = nil
        then(result)
    }
}
