internal import CassetteModel
internal import Foundation
internal import TapeBytes
internal import TapeExchange
internal import TapeRecorder

/// The recording of one exchange: takes the events of a transport, and returns them as the client sees them.
// SAFETY: `tap` and the other variables are accessed under `lock` only.
final class ExchangeTape: RunningTape, @unchecked Sendable {
    let id: Int
    let recording: CassetteRecording
    private let request: TransportRequest
    private let watch: ElapsedClock
    private let lock = Guarded(())
    /// Nil once the exchange is recorded or given up.
    private var tap: Tap?
    private var isRequestOut = false
    private var hasResponse = false
    private var isDecoded = false
    /// Bytes of the response's body.
    private var size = 0
    private var timing: Timing?
    /// Why the client gave up the exchange, if it gave a reason.
    private var reason: TransportFailure?

    init(_ request: TransportRequest, recording: CassetteRecording, clock: any Clock<Duration>, now: Date = Date()) {
        self.id = recording.nextID()
        self.recording = recording
        self.request = request
        self.watch = ElapsedClock(clock)
        let recorded = RecordedRequest(
            method: request.method, url: RequestDecider.url(of: request), headers: WireFields.ofRequest(request))
        self.tap = Tap(id: self.id, started: Timestamp(now), request: recorded, framing: request.body.isPresent ? .untilClose : .none)
        recording.add(self)
    }

    private var elapsed: Double { self.watch.milliseconds }

    // MARK: The request

    /// Gives the recorder the whole body as the client made it, because it is unknown how much of it reaches the origin.
    ///
    /// - Parameter waits: blocks while the recorder's queue is full.
    func takeRequestBody(waits: Bool) throws {
        switch self.request.body {
        case .none, .unobservable: break
        case .data(let data): data.withUnsafeBytes { self.take($0, waits) }
        case .file(let url, _):
            let file = try FileHandle(forReadingFrom: url)
            defer { try? file.close() }
            while let piece = try file.read(upToCount: RequestDecider.pieceSize), !piece.isEmpty {
                piece.withUnsafeBytes { self.take($0, waits) }
            }
        }
    }

    private func take(_ bytes: UnsafeRawBufferPointer, _ waits: Bool) {
        let isFull = self.lock.withLock { _ in
            let block = self.tap?.data(.request, bytes, at: self.elapsed)
            return block.map { self.recording.put(.block(exchange: self.id, side: .request, bytes: $0)) } ?? false
        }
        guard isFull, waits else { return }
        self.recording.waitUntilDrained()
    }

    /// Called under the lock. A body that cannot be read never ends, so that it is not mistaken for an empty one.
    private func requestEnded() {
        guard !self.isRequestOut else { return }
        self.isRequestOut = true
        if case .unobservable = self.request.body { return }
        self.tap?.requestEnded(at: self.request.body.isPresent ? self.elapsed : 0, sendStarted: 0)
    }

    // MARK: Events

    /// - Returns: the event for the client, and whether the recorder's queue is full.
    func take(_ event: TransportEvent) -> (event: TransportEvent, isFull: Bool) {
        // Put under the lock, so that closing the cassette waits for items that are about to be queued.
        let (shown, isFull) = self.lock.withLock { _ in
            let (shown, item) = self.taped(event)
            return (shown, item.map(self.recording.put) ?? false)
        }
        if shown.isLast { self.recording.remove(self.id) }
        return (shown, isFull)
    }

    /// Called under the lock.
    private func taped(_ event: TransportEvent) -> (TransportEvent, RecorderItem?) {
        guard self.tap != nil else { return (event, nil) }
        let now = self.elapsed
        switch event {
        case .sent(let count, let total):
            if count == total { self.requestEnded() }
        case .interim(let status, let headers):
            self.requestEnded()
            self.tap?.interim(
                InterimResponse(
                    version: .http11, status: status, reason: Array(ReasonPhrase.of(status).utf8), headers: headers.headerFields, at: now))
        case .head(var head):
            self.requestEnded()
            self.begin(head, at: now)
            head.source = .recorded(cassette: self.recording.path, id: self.id)
            return (.head(head), nil)
        case .chunk(let data):
            self.size += data.count
            let block = data.withUnsafeBytes { self.tap?.data(.response, $0, at: now) }
            return (event, block.map { .block(exchange: self.id, side: .response, bytes: $0) })
        case .trailers(let fields): self.tap?.trailers(.response, fields.headerFields)
        case .metrics(let metrics):
            if metrics.source == .platform { self.timing = metrics.timing }
        case .end:
            self.tap?.responseEnded()
            return (event, self.ended(.complete, at: now))
        case .failed(let failure): return (event, self.failed(failure, at: now))
        }
        return (event, nil)
    }

    private func begin(_ head: HTTPSession.Response, at now: Double) {
        let reason = head.reason.isEmpty ? ReasonPhrase.of(head.status) : head.reason
        let hasBody = self.request.method != "HEAD" && head.status != 204 && head.status != 304
        let fields = head.headers.headerFields
        self.hasResponse = true
        if hasBody, case .coded = ContentEncoding(fields) { self.isDecoded = true }
        self.tap?.responseBegan(
            RecordedResponse(status: head.status, reason: Array(reason.utf8), headers: fields), framing: hasBody ? .untilClose : .none,
            at: now)
    }

    private func failed(_ failure: TransportFailure, at now: Double) -> RecorderItem? {
        // A request that did not reach the network is not recorded.
        guard case .network(let kind) = failure.kind else {
            self.tap = nil
            return .dropped(exchange: self.id)
        }
        // The client gave up, for a reason or because its caller cancelled.
        var (end, endKind) = (failure, kind)
        if kind == .cancelled, let reason, case .network(let kind) = reason.kind { (end, endKind) = (reason, kind) }
        guard self.hasResponse || endKind == .cancelled else {
            return self.ended(.failed(Failure(kind: endKind, message: self.shown(end))), at: now)
        }
        // A timeout is also attributed to the client: the origin was only silent.
        let party: Cut.Party = kind == .cancelled || kind == .timeout ? .client : .origin
        return self.ended(.cut(Cut(by: party, kind: endKind, reason: self.shown(end))), at: now)
    }

    /// The message without query values, which may be secrets.
    private func shown(_ failure: TransportFailure) -> String {
        var message = failure.message
        for url in [self.request.url.absoluteString, RequestDecider.url(of: self.request)] {
            message = message.replacingOccurrences(of: url, with: LogURL.text(self.request.url))
        }
        return message
    }

    private func ended(_ outcome: Outcome, at now: Double) -> RecorderItem? {
        self.requestEnded()
        guard let taped = self.tap.take()?.ended(outcome, at: now) else { return nil }
        var interaction = taped.interaction
        interaction.modified = self.request.ruled?.modification(of: self.request)
        if self.isDecoded { interaction.response?.bodyWasDecoded(size: outcome == .complete ? self.size : nil) }
        if let timing { interaction.timing = timing.laidOver(interaction.timing) }
        var requestBody = taped.requestBody
        if case .unobservable = self.request.body { requestBody?.note = "the body could not be seen by the recorder" }
        return .exchange(TapedExchange(interaction: interaction, requestBody: requestBody, responseBody: taped.responseBody), stored: nil)
    }

    // MARK: Giving up

    /// Called before the exchange is cancelled.
    func isGivenUp(dueTo failure: TransportFailure) { self.lock.withLock { _ in self.reason = failure } }

    /// The response has opened a WebSocket, whose messages are the rest of the recording; nil if nothing is recorded.
    func opened(_ response: HTTPSession.Response) -> SocketTape? {
        let interaction = self.lock.withLock { _ -> Interaction? in
            guard self.tap != nil else { return nil }
            self.requestEnded()
            self.begin(response, at: self.elapsed)
            self.tap?.responseEnded()
            defer { self.tap = nil }
            return self.tap?.soFar
        }
        // It replaces this tape in the list of running ones.
        return interaction.map { SocketTape($0, recording: self.recording, watch: self.watch) }
    }

    /// Records nothing of the exchange.
    func drop() {
        self.lock.withLock { _ in
            guard self.tap.take() != nil else { return }
            _ = self.recording.put(.dropped(exchange: self.id))
        }
        self.recording.remove(self.id)
    }

    /// The cassette is being closed: what has arrived is recorded as cut, or as the client left it.
    func recorderStopped() {
        let item = self.lock.withLock { _ -> RecorderItem? in
            // The client has given up, and its transport is about to be told.
            if self.tap != nil, self.reason != nil { return self.failed(.cancelled(), at: self.elapsed) }
            return self.ended(
                .cut(Cut(by: .recorder, reason: "the cassette was closed before the exchange had ended")), at: self.elapsed)
        }
        if let item { _ = self.recording.put(item) }
    }
}

extension Timing {
    /// These phases, completed by the tape's for those that the platform has not measured.
    func laidOver(_ taped: Timing) -> Timing {
        var timing = taped
        timing.blocked = self.blocked ?? taped.blocked
        timing.dns = self.dns ?? taped.dns
        timing.connect = self.connect ?? taped.connect
        timing.tls = self.tls ?? taped.tls
        timing.send = self.send ?? taped.send
        timing.wait = self.wait ?? taped.wait
        timing.receive = self.receive ?? taped.receive
        timing.total = self.total ?? taped.total
        return timing
    }
}

/// The header fields of a request with Host and Content-Length (RFC 9112, 3.2 and 6), which HTTP clients add without showing them.
enum WireFields {
    static func ofRequest(_ request: TransportRequest) -> HeaderFields {
        var fields = HeaderFields()
        let given = request.headers.headerFields
        if !given.contains("host"), let host = self.authority(of: request.url) { fields.append(name: "Host", value: host) }
        for index in 0..<given.count { fields.append(line: given.line(at: index)) }
        if let size = request.body.size, !given.contains("content-length"), !given.contains("transfer-encoding") {
            fields.append(name: "Content-Length", value: String(size))
        }
        return fields
    }

    /// The opening request of a WebSocket with the fields of its handshake except the key. HTTP clients do not show them (RFC 6455, 4.1).
    static func opening(_ request: TransportRequest, protocols: [String]) -> TransportRequest {
        var opening = request
        opening.headers.update(name: "Connection", value: "Upgrade")
        opening.headers.update(name: "Upgrade", value: "websocket")
        opening.headers.update(name: "Sec-WebSocket-Version", value: "13")
        if !protocols.isEmpty { opening.headers.update(name: "Sec-WebSocket-Protocol", value: protocols.joined(separator: ", ")) }
        return opening
    }

    private static func authority(of url: URL) -> String? {
        guard let host = url.host(percentEncoded: true) else { return nil }
        let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return url.port.map { "\(name):\($0)" } ?? name
    }
}

/// Reason phrases by status (RFC 9110, 15), for responses whose own is unknown: some clients reject a status line without one.
enum ReasonPhrase {
    private static let phrases: [Int: String] = [
        100: "Continue", 101: "Switching Protocols", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted",
        203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content", 206: "Partial Content", 207: "Multi-Status",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 307: "Temporary Redirect",
        308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
        405: "Method Not Allowed", 406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
        410: "Gone", 411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
        415: "Unsupported Media Type", 416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
        422: "Unprocessable Content", 423: "Locked", 424: "Failed Dependency", 426: "Upgrade Required", 428: "Precondition Required",
        429: "Too Many Requests", 431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported", 511: "Network Authentication Required",
    ]

    static func of(_ status: Int) -> String { self.phrases[status] ?? "Unknown" }
}
