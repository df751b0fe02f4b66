internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// A connection to an origin that speaks HTTP/1: carries one request at a time and its answer (RFC 9112).
///
/// Lives as long as its connection. Between two exchanges it is in the pool. Unexpected bytes end it. Not Sendable: lives on its event
/// loop.
final class HTTP1UpstreamStream: UpstreamStream, UpstreamConnectionOwner {
    private enum Phase {
        /// No request is on its way.
        case idle
        case head, body
        /// The answer is complete. The request may still be on its way.
        case done
    }

    let connection: UpstreamConnection
    /// The client connection that this stream serves exclusively, because one of the two is authenticated for the other; nil if any may use
    /// it.
    private(set) var owner: Int?
    /// The pool's list that holds this stream between two exchanges.
    var idleList: UpstreamPool.IdleList?
    private let pool: UpstreamPool
    private let limits: Limits
    private var exchange: (any UpstreamExchange)?
    private var phase = Phase.idle
    private var method = ""
    private var asksUpgrade = false
    /// Chunks an HTTP/2 request that has no length.
    private var chunking: ChunkWriter?
    private var requestIsSent = true
    private var requestHasNoBody = true
    private var parser: HeadParser
    private var body = HTTP1BodyReader.none
    /// The beginning of an incomplete head.
    private var held: ByteBuffer?
    private var hasReceived = false
    /// The origin has sent something on this connection.
    private var originHasSpoken = false
    private var hasAcknowledged = false
    private var interimCount = 0
    private var persists = true

    init(_ connection: UpstreamConnection, pool: UpstreamPool, limits: Limits = Limits()) {
        self.connection = connection
        self.pool = pool
        self.limits = limits
        self.parser = HeadParser(limits: limits)
        connection.take(self)
    }

    var version: HTTPVersion { .http11 }
    var route: UpstreamRoute { self.connection.route }
    var isOpen: Bool { self.connection.isOpen }
    var isWritable: Bool { self.connection.isWritable }

    // MARK: Exchanges

    func take(_ exchange: any UpstreamExchange) {
        self.exchange = exchange
        self.phase = .head
        self.hasReceived = false
        self.hasAcknowledged = false
        self.interimCount = 0
        self.persists = true
    }

    func takePeerNames() -> [String] { self.connection.takePeerNames() }

    var number: Int? { nil }

    func use() -> (info: ConnectionInfo, timing: DialTiming?) { self.connection.use() }

    func bind(to client: Int) {
        guard self.owner != client else { return }
        self.owner = client
        self.pool.bound(to: client)
    }

    func release(by client: Int) {
        self.exchange = nil
        let isUnused = self.phase == .idle
        guard isUnused || (self.phase == .done && self.persists && self.requestIsSent) else { return self.connection.close() }
        self.phase = .idle
        self.pool.put(self, client: client)
    }

    func cancel() {
        self.exchange = nil
        self.connection.close()
    }

    func cancelAfterFlush() {
        self.exchange = nil
        self.connection.closeAfterFlush(isCut: true)
    }

    // MARK: The request

    func send(_ received: RequestHead, target: RequestTarget, framing: BodyFraming) {
        self.chunking = received.version.major >= 2 && framing == .untilClose ? ChunkWriter(sendsTrailers: true) : nil
        let head: RequestHead
        do throws(MessageError) {
            head = try received.asHTTP1(framing)
        } catch {
            guard let exchange else { return }
            return self.fail(exchange, Failure(kind: .malformed, message: error.message))
        }
        self.method = head.method
        self.asksUpgrade = HopByHop.asksUpgrade(head)
        self.requestHasNoBody = framing == .none || framing == .length(0)
        self.requestIsSent = self.requestHasNoBody
        self.connection.willSend()
        self.connection.write(ByteBuffer(bytes: HopByHop.forwardedRequest(head, target: target, through: self.hop)))
    }

    private var hop: ProxyHop? {
        self.connection.forwarder.map { ProxyHop(to: self.route.origin, authorization: $0.authorization, number: self.route.hops + 1) }
    }

    func send(_ piece: BodyPiece) {
        if piece.isLast { self.requestIsSent = true }
        let bytes = self.chunking?.write(piece) ?? piece.bytes
        if bytes.readableBytes > 0 { self.connection.write(bytes) }
    }

    func flush() { self.connection.flush() }

    func setReading(_ reads: Bool) { self.connection.setReading(reads) }

    func shrinkReads() { self.connection.shrinkReads() }

    // MARK: The answer

    func upstreamRead(_ buffer: ByteBuffer) {
        guard let exchange else { return self.endUnused() }
        var input = buffer
        if var held = self.held.take() {
            held.writeImmutableBuffer(buffer)
            input = held
        }
        if !self.originHasSpoken {
            switch Self.isHTTP2(input) {
            case nil:
                self.held = input
                return
            case true?:
                if self.route.origin.scheme == .http { return self.restart(exchange) }
                let message = "\"\(self.route.origin.authority)\" speaks HTTP/2 without having selected it in TLS (RFC 7301): fix its ALPN."
                return self.fail(exchange, Failure(kind: .malformed, message: message))
            case false?: self.originHasSpoken = true
            }
        }
        // No part of the request was sent, so these bytes are not its answer.
        guard self.connection.hasSent || self.phase != .head else {
            return self.fail(
                exchange, Failure(kind: .reset, message: "\"\(self.route.origin.authority)\" sent bytes before it was sent a request."),
                isUnprocessed: true)
        }
        self.hasReceived = true
        do throws(MessageError) {
            while self.exchange === exchange, input.readableBytes > 0, try self.step(&input, exchange) {}
        } catch {
            return self.fail(exchange, Failure(answer: error, of: self.route.origin.authority))
        }
        guard self.exchange === exchange else { return }
        switch self.phase {
        case .head, .body:
            if input.readableBytes > 0 { self.held = input }
            guard !self.hasAcknowledged else { return }
            self.hasAcknowledged = true
            self.connection.acknowledge()
        case .idle, .done:
            // Bytes after the answer belong to no request, so the connection is not used again (RFC 9112, 9.2).
            if input.readableBytes > 0 { self.persists = false }
        }
    }

    /// - Returns: whether there may be more to parse in the input.
    private func step(_ input: inout ByteBuffer, _ exchange: any UpstreamExchange) throws(MessageError) -> Bool {
        switch self.phase {
        case .head:
            let parsed = try input.readableBytesView.withUnsafeBytes { bytes throws(MessageError) in try self.parser.parseResponse(bytes) }
            guard let parsed else { return false }
            input.moveReaderIndex(forwardBy: parsed.consumed)
            if parsed.head.status == 101 {
                try self.switchProtocols(parsed.head, rest: &input, exchange)
                return false
            }
            // An upstream proxy's challenge, which the client cannot answer.
            if parsed.head.status == 407, let proxy = self.connection.forwarder {
                self.fail(exchange, proxy.needsLogin(ProxyHop.schemes(parsed.head.fields)))
                return false
            }
            guard parsed.head.status < 200 else {
                try self.begin(parsed.head, rest: input, exchange)
                return true
            }
            self.interimCount += 1
            guard self.interimCount <= self.limits.interimResponses else {
                throw MessageError(.tooManyFields, status: 502, "more than \(self.limits.interimResponses) interim responses")
            }
            exchange.originInterim(parsed.head)
            return true
        case .body:
            let piece = try self.body.read(&input)
            exchange.originBody(piece)
            if piece.isLast, self.exchange === exchange { self.ended(rest: input.readableBytes, exchange) }
            return !piece.isLast
        case .idle, .done:
            return false
        }
    }

    private func begin(_ head: ResponseHead, rest: ByteBuffer, _ exchange: any UpstreamExchange) throws(MessageError) {
        let framing = try BodyFraming.ofResponse(head, requestMethod: self.method)
        self.persists = Persistence.staysOpen(after: head, framing: framing)
        self.body = HTTP1BodyReader(framing: framing, side: .response, limits: self.limits)
        self.phase = .body
        exchange.originHead(head, framing: framing)
        if framing == .none || framing == .length(0), self.exchange === exchange { self.ended(rest: rest.readableBytes, exchange) }
    }

    /// - Parameter rest: number of bytes that came after the answer.
    private func ended(rest: Int, _ exchange: any UpstreamExchange) {
        self.phase = .done
        if rest > 0 { self.persists = false }
        exchange.originEnded(readsOn: self.persists)
    }

    private func switchProtocols(_ head: ResponseHead, rest: inout ByteBuffer, _ exchange: any UpstreamExchange) throws(MessageError) {
        guard self.asksUpgrade, self.requestIsSent else {
            throw MessageError(.startLine, status: 502, "unrequested 101 (Switching Protocols)")
        }
        let rest = rest.readSlice(length: rest.readableBytes) ?? ByteBuffer()
        self.exchange = nil
        self.phase = .idle
        exchange.originSwitched(head, to: self.connection, rest: rest)
    }

    func upstreamReadComplete() { self.exchange?.originReadComplete() }

    func upstreamWritabilityChanged(_ isWritable: Bool) { self.exchange?.originWritabilityChanged(isWritable) }

    // MARK: Origins that speak only HTTP/2

    /// Recognises the settings that such an origin sends first (RFC 9113, 3.4). A status line does not begin with the byte of a frame's
    /// length.
    ///
    /// - Returns: nil if more bytes are needed to tell.
    private static func isHTTP2(_ buffer: ByteBuffer) -> Bool? {
        let begin = buffer.readableBytesView.prefix(9)
        let fits =
            begin.prefix(1).allSatisfy { $0 == 0 } && begin.dropFirst(3).elementsEqual([4, 0, 0, 0, 0, 0].prefix(max(0, begin.count - 3)))
        return fits && begin.count < 9 ? nil : fits
    }

    /// The origin cannot have read the request, which is sent again over HTTP/2.
    private func restart(_ exchange: any UpstreamExchange) {
        let other = self.pool.substitutes.offering(moreThan: self.route)
        self.fail(
            exchange,
            Failure(
                kind: .malformed,
                message:
                    "\"\(self.route.origin.authority)\" speaks only HTTP/2, which became known after the request's body was sent: send the request again."
            ),
            isUnprocessed: other != nil)
    }

    /// An origin that chooses no protocol in TLS and closes without sending a byte, as nghttpd does, is offered HTTP/2 next.
    ///
    /// - Returns: whether the request, which the origin may have read, can be sent again (RFC 9110, 9.2.2).
    private func noticeSilentEnd() -> Bool {
        guard !self.originHasSpoken, self.route.origin.scheme == .https, self.connection.protocolName == nil,
            self.pool.substitutes.offering(moreThan: self.route) != nil
        else { return false }
        return self.requestHasNoBody && ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(self.method)
    }

    // MARK: Ends

    func upstreamEnded() {
        guard let exchange else { return self.endUnused() }
        if self.phase == .body, self.body.sourceEnded() == .complete {
            self.persists = false
            self.phase = .done
            return exchange.originEnded(readsOn: false)
        }
        let authority = self.route.origin.authority
        self.fail(
            exchange,
            self.hasReceived
                ? Failure(kind: .truncated, message: "\"\(authority)\" closed the connection before the end of its answer.")
                : Failure(kind: .reset, message: "\"\(authority)\" closed the connection without an answer.", isClose: true),
            isUnprocessed: self.noticeSilentEnd() || !self.connection.hasSent)
    }

    func upstreamFailed(_ failure: Failure) {
        guard let exchange else { return self.endUnused() }
        self.fail(exchange, failure, isUnprocessed: self.noticeSilentEnd() || !self.connection.hasSent)
    }

    private func fail(_ exchange: any UpstreamExchange, _ failure: Failure, isUnprocessed: Bool = false) {
        self.persists = false
        self.held = nil
        self.connection.close()
        self.exchange = nil
        exchange.originFailed(failure, isUnprocessed: isUnprocessed)
    }

    /// The connection ended or received bytes while it was unused.
    private func endUnused() {
        _ = self.noticeSilentEnd()
        self.pool.ended(self)
        self.connection.close()
    }
}
