internal import CassetteModel
internal import CassetteStore
internal import Logging
internal import NIOCore
internal import TapeExchange
internal import TapeTLS

/// The proxy's log for debugging a run, with one method for each event, which has a constant message and metadata.
///
/// Names connections, exchanges and the authorities of origins, but never a path, a query, a field value, a body or credentials, because
/// these may contain secrets. The logger's level is read once, so that a disabled event costs one comparison of a `Bool`.
struct ProxyLog: Sendable {
    private let logger: Logger
    let isTrace: Bool
    let isDebug: Bool
    let isInfo: Bool
    let isWarning: Bool

    /// - Parameter logger: silent by default.
    init(_ logger: Logger = ProxyConfiguration.silent) {
        self.logger = logger
        // A no-op handler need not be called, whatever its level.
        let isSilent = logger.handler is SwiftLogNoOpLogHandler
        self.isTrace = !isSilent && logger.logLevel <= .trace
        self.isDebug = !isSilent && logger.logLevel <= .debug
        self.isInfo = !isSilent && logger.logLevel <= .info
        self.isWarning = !isSilent && logger.logLevel <= .warning
    }

    /// Adds a session's name to each line, because exchanges and connections to origins are numbered per session.
    func naming(_ session: SessionName) -> ProxyLog {
        var logger = self.logger
        logger[metadataKey: "session"] = "\(session)"
        return ProxyLog(logger)
    }

    // MARK: The server

    func started(_ address: String, loops: Int) {
        guard self.isInfo else { return }
        self.logger.info("started", metadata: ["address": "\(address)", "loops": "\(loops)"])
    }

    func stopping() {
        guard self.isInfo else { return }
        self.logger.info("stopping")
    }

    func stopped(_ counts: ProxyCounts) {
        guard self.isInfo else { return }
        self.logger.info("stopped", metadata: Self.metadata(counts))
    }

    func controlStarted(_ address: String) {
        guard self.isInfo else { return }
        self.logger.info("control started", metadata: ["address": "\(address)"])
    }

    // MARK: Sessions

    func sessionOpened(_ name: SessionName, cassette: String, mode: RecordMode, port: Int?) {
        guard self.isInfo else { return }
        var metadata: Logger.Metadata = ["session": "\(name)", "cassette": "\(cassette)", "mode": "\(mode.rawValue)"]
        if let port { metadata["port"] = "\(port)" }
        self.logger.info("session opened", metadata: metadata)
    }

    /// The reason is in the control API's answer.
    func sessionRefused(_ name: SessionName) {
        guard self.isInfo else { return }
        self.logger.info("session refused", metadata: ["session": "\(name)"])
    }

    func sessionEnded(_ report: SessionReport) {
        guard self.isInfo else { return }
        var metadata = Self.metadata(report.counts)
        metadata["session"] = "\(report.name)"
        metadata["exit"] = "\(report.exitStatus)"
        self.logger.info("session ended", metadata: metadata)
    }

    private static func metadata(_ counts: ProxyCounts) -> Logger.Metadata {
        [
            "forwarded": "\(counts.exchanges)", "replayed": "\(counts.replayed)", "misses": "\(counts.misses)",
            "tunnels": "\(counts.tunnels)", "malformed": "\(counts.malformed)", "tls-failures": "\(counts.tlsFailures)",
        ]
    }

    // MARK: Clients

    func connectionAccepted(_ connection: Int, from peer: SocketAddress?) {
        guard self.isDebug else { return }
        self.logger.debug("connection accepted", metadata: ["connection": "\(connection)", "peer": "\(Self.text(peer))"])
    }

    /// The credentials of a request matched a session.
    func sessionEntered(connection: Int) {
        guard self.isDebug else { return }
        self.logger.debug("session entered", metadata: ["connection": "\(connection)"])
    }

    private static func text(_ address: SocketAddress?) -> String {
        guard let ip = address?.ipAddress, let port = address?.port else { return "unknown" }
        return ip.contains(":") ? "[\(ip)]:\(port)" : "\(ip):\(port)"
    }

    func connectionClosed(_ connection: Int) {
        guard self.isDebug else { return }
        self.logger.debug("connection closed", metadata: ["connection": "\(connection)"])
    }

    /// A client broke the rules of HTTP/2, and its connection ended.
    func multiplexedFailed(connection: Int, reason: String) {
        guard self.isDebug else { return }
        self.logger.debug("client connection ended by HTTP/2", metadata: ["connection": "\(connection)", "reason": "\(reason)"])
    }

    /// The rest of the conversation is forwarded but not recorded.
    func webSocketUnreadable(_ exchange: Int, problem: String) {
        guard self.isInfo else { return }
        self.logger.info("web socket unreadable", metadata: ["exchange": "\(exchange)", "problem": "\(problem)"])
    }

    func requestMalformed(connection: Int, status: Int) {
        guard self.isDebug else { return }
        self.logger.debug("request malformed", metadata: ["connection": "\(connection)", "status": "\(status)"])
    }

    /// The proxy answers the request itself: with a refusal, a page of its own, or a miss.
    ///
    /// - Parameter error: the value of `Wiretape-Error`; nil for a page.
    func answered(status: Int, error: String?, connection: Int) {
        guard self.isDebug else { return }
        var metadata: Logger.Metadata = ["connection": "\(connection)", "status": "\(status)"]
        if let error { metadata["error"] = "\(error)" }
        self.logger.debug("answered by the proxy", metadata: metadata)
    }

    /// The decision about a CONNECT.
    func tunnel(_ choice: Interception.Choice, connection: Int, authority: String) {
        guard self.isDebug else { return }
        let metadata: Logger.Metadata = ["connection": "\(connection)", "authority": "\(authority)"]
        switch choice {
        case .intercept: self.logger.debug("tunnel intercepted", metadata: metadata)
        case .passThrough: self.logger.debug("tunnel passed through", metadata: metadata)
        case .refuse: self.logger.debug("tunnel refused", metadata: metadata)
        }
    }

    // MARK: Exchanges

    /// - Parameter index: the recorded exchange's index, in order of request start.
    func replay(_ index: Int, connection: Int, method: String, origin: Origin) {
        guard self.isDebug else { return }
        self.decided("replay", connection, method, origin, adding: "recorded", "\(index + 1)")
    }

    /// - Parameter exchange: its number in the cassette; nil if it is not recorded.
    func forward(_ exchange: Int?, connection: Int, method: String, origin: Origin) {
        guard self.isDebug else { return }
        self.decided("forward", connection, method, origin, adding: "exchange", exchange.map { "\($0)" } ?? "unrecorded")
    }

    func refuse(connection: Int, method: String, origin: Origin) {
        guard self.isDebug else { return }
        self.decided("refuse", connection, method, origin)
    }

    private func decided(
        _ message: Logger.Message, _ connection: Int, _ method: String, _ origin: Origin, adding name: String? = nil, _ value: String = ""
    ) {
        var metadata: Logger.Metadata = [
            "connection": "\(connection)", "method": "\(Self.shownMethod(method))", "origin": "\(origin.authority)",
        ]
        if let name { metadata[name] = "\(value)" }
        self.logger.debug(message, metadata: metadata)
    }

    /// A method may be any token (RFC 9110, 9.1), so an unusual one may be a secret.
    private static func shownMethod(_ method: String) -> String {
        method.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "-") }
            && method.utf8.count <= 20
            ? method : "other"
    }

    /// - Parameter outcome: `complete`, `cut` or `failed`.
    func exchangeEnded(_ exchange: Int?, connection: Int, outcome: Outcome, milliseconds: Double) {
        guard self.isDebug else { return }
        let text =
            switch outcome {
            case .complete: "complete"
            case .cut: "cut"
            case .failed(let failure): "failed: \(failure.kind.rawValue)"
            }
        self.logger.debug(
            "exchange ended",
            metadata: [
                "connection": "\(connection)", "exchange": "\(exchange.map { "\($0)" } ?? "unrecorded")", "outcome": "\(text)",
                "ms": "\(Int(milliseconds))",
            ])
    }

    // MARK: Origins

    func lookedUp(_ host: String, addresses: Int, milliseconds: Double) {
        guard self.isDebug else { return }
        self.logger.debug(
            "name looked up", metadata: ["host": "\(host)", "addresses": "\(addresses)", "ms": "\(Int(milliseconds))"])
    }

    /// - Parameter upstream: the number of the connection in the session.
    func connected(_ upstream: Int, origin: Origin, remote: String, milliseconds: Double) {
        guard self.isDebug else { return }
        self.logger.debug(
            "origin connected",
            metadata: ["upstream": "\(upstream)", "origin": "\(origin.authority)", "remote": "\(remote)", "ms": "\(Int(milliseconds))"])
    }

    func secured(_ upstream: Int, version: String, isResumed: Bool, milliseconds: Double) {
        guard self.isDebug else { return }
        self.logger.debug(
            "origin secured",
            metadata: [
                "upstream": "\(upstream)", "version": "\(version)", "resumed": "\(isResumed)", "ms": "\(Int(milliseconds))",
            ])
    }

    func connectFailed(origin: Origin, kind: Failure.Kind) {
        guard self.isInfo else { return }
        self.logger.info("origin not reached", metadata: ["origin": "\(origin.authority)", "kind": "\(kind.rawValue)"])
    }

    func poolTook(_ upstream: Int) {
        guard self.isTrace else { return }
        self.logger.trace("upstream taken from the pool", metadata: ["upstream": "\(upstream)"])
    }

    func poolPut(_ upstream: Int) {
        guard self.isTrace else { return }
        self.logger.trace("upstream put into the pool", metadata: ["upstream": "\(upstream)"])
    }

    /// - Parameter reason: a constant text: `idle too long`, `pool full`.
    func upstreamClosed(_ upstream: Int, reason: StaticString) {
        guard self.isTrace else { return }
        self.logger.trace("upstream closed", metadata: ["upstream": "\(upstream)", "reason": "\(reason)"])
    }

    /// Logged every time, although people are notified only once.
    func tlsFailed(_ leg: TLSProblem.Leg, host: String, port: Int, cause: TLSFailure.Cause) {
        guard self.isWarning else { return }
        let side =
            switch leg {
            case .client: "client"
            case .upstream: "origin"
            }
        self.logger.warning(
            "TLS failed", metadata: ["leg": "\(side)", "host": "\(host)", "port": "\(port)", "cause": "\(cause.rawValue)"])
    }

    // MARK: The recorder

    func recorderFull() {
        guard self.isDebug else { return }
        self.logger.debug("recorder full: reading stops")
    }

    func recorderDrained() {
        guard self.isDebug else { return }
        self.logger.debug("recorder drained: reading goes on")
    }

    /// - Parameter lost: the number of exchanges missing from the cassette.
    func recorderProblem(lost: Int, session: SessionName?) {
        guard self.isWarning else { return }
        var metadata: Logger.Metadata = ["lost": "\(lost)"]
        if let session { metadata["session"] = "\(session)" }
        self.logger.warning("recording incomplete", metadata: metadata)
    }

    /// - Parameter count: the number of places in the cassette that still contain a secret.
    func secretsLeft(_ count: Int, session: SessionName) {
        guard self.isWarning else { return }
        self.logger.warning("secrets left in the cassette", metadata: ["places": "\(count)", "session": "\(session)"])
    }
}
