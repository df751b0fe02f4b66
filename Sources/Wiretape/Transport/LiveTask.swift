internal import CassetteModel
internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// One exchange with the network, by a task of `URLSession`.
final class LiveTask: TransportTask {
    let number: Int
    private let task: URLSessionTask
    private let request: TransportRequest
    private let relay: EventRelay
    /// Retained so that its session lives as long as the exchange.
    private let transport: LiveTransport
    private let isAnswered = Guarded(false)

    init(
        _ task: URLSessionTask, request: TransportRequest, transport: LiveTransport,
        receive: @escaping @Sendable (TransportEvent) -> Demand
    ) {
        self.number = task.taskIdentifier
        self.task = task
        self.request = request
        self.transport = transport
        self.relay = EventRelay(receive)
    }

    func cancel() {
        self.relay.cancel()
        self.task.cancel()
    }

    func resume() {
        self.relay.resume()
        #if !canImport(FoundationNetworking)
        if self.task.state == .suspended { self.task.resume() }
        #endif
    }

    // MARK: Events of URLSession, on its delegate queue

    func sent(_ count: Int64) {
        guard let size = self.request.body.size else { return }
        self.push(.sent(min(count, Int64(size)), of: Int64(size)))
    }

    func received(_ response: URLResponse) {
        guard let response = response as? HTTPURLResponse else { return }
        let headers = ReceivedHeaders.list(response.allHeaderFields)
        guard response.statusCode >= 200 else { return self.push(.interim(status: response.statusCode, headers: headers)) }
        // A redirect that is not followed may be reported twice.
        let isFirst = self.isAnswered.withLock { isAnswered in
            defer { isAnswered = true }
            return !isAnswered
        }
        if isFirst { self.push(.head(HTTPSession.Response(url: self.request.url, status: response.statusCode, headers: headers))) }
    }

    func received(_ data: Data) { self.push(.chunk(data)) }

    #if !canImport(FoundationNetworking)
    func collected(_ metrics: URLSessionTaskMetrics) {
        if let metrics = ExchangeMetrics(metrics) { self.push(.metrics(metrics)) }
    }
    #endif

    #if !canImport(FoundationNetworking)
    /// URLSession reports "cancelled" after this.
    func distrusted(_ error: ServerTrustError) {
        self.push(.failed(TransportFailure(.network(.tls), error.message, cause: error)))
    }
    #endif

    func ended(_ error: (any Error)?) {
        guard let error else {
            guard self.isAnswered.withLock({ $0 }) else {
                let message = "\(self.name) ended without a response: check what the origin sends."
                return self.push(.failed(TransportFailure(.network(.malformed), message)))
            }
            return self.push(.end)
        }
        self.push(.failed(TransportFailure(error, of: self.request, isAnswered: self.isAnswered.withLock { $0 })))
    }

    private var name: String { "\(self.request.method) \"\(LogURL.text(self.request.url))\"" }

    private func push(_ event: TransportEvent) {
        self.relay.push(event)
        #if !canImport(FoundationNetworking)
        guard self.relay.isPaused, self.task.state == .running else { return }
        self.task.suspend()
        // The receiver may have resumed in between.
        if !self.relay.isPaused, self.task.state == .suspended { self.task.resume() }
        #endif
    }
}

/// Passes each event of URLSession to the exchange that it belongs to.
final class LiveDelegate: NSObject, URLSessionDataDelegate, URLSessionWebSocketDelegate {
    private let tasks = Guarded<[Int: LiveTask]>([:])
    private let sockets = Guarded<[Int: LiveSocket]>([:])
    /// Evaluated in challenges, which only Apple platforms have.
    private let serverTrust: HTTPSession.ServerTrustManager?
    /// Called on Apple platforms only.
    private let cachedResponseHandler: (any HTTPSession.CachedResponseHandler)?

    /// Presented in challenges, which only Apple platforms have.
    private let clientCredential: URLCredential?

    init(
        serverTrust: HTTPSession.ServerTrustManager?, cachedResponseHandler: (any HTTPSession.CachedResponseHandler)?,
        clientCredential: URLCredential? = nil
    ) {
        self.serverTrust = serverTrust
        self.cachedResponseHandler = cachedResponseHandler
        self.clientCredential = clientCredential
    }

    /// Must be called before the task is started.
    func add(_ task: LiveTask) { self.tasks.withLock { $0[task.number] = task } }

    /// Must be called before the task is started.
    func add(_ socket: LiveSocket) { self.sockets.withLock { $0[socket.number] = socket } }

    private func find(_ task: URLSessionTask) -> LiveTask? { self.tasks.withLock { $0[task.taskIdentifier] } }

    // MARK: URLSessionDataDelegate

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        self.find(dataTask)?.received(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { self.find(dataTask)?.received(data) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, willCacheResponse proposedResponse: CachedURLResponse,
        completionHandler: @escaping @Sendable (CachedURLResponse?) -> Void
    ) {
        guard let handler = self.cachedResponseHandler, let request = dataTask.currentRequest else { return completionHandler(nil) }
        Task { completionHandler(await handler.cachedResponse(proposedResponse, for: request)) }
    }

    // MARK: URLSessionTaskDelegate

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        self.find(task)?.sent(totalBytesSent)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        // A redirect is a response: the session decides whether to follow it.
        self.find(task)?.received(response)
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // This is called after the whole 401 with its body. Up to Swift 6.3.1, nothing else is called after default handling.
        self.tasks.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
        #else
        if challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodClientCertificate {
            return completionHandler(self.clientCredential == nil ? .performDefaultHandling : .useCredential, self.clientCredential)
        }
        guard let serverTrust, challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            // This is called before the response: without a credential the response is delivered unchanged.
            return completionHandler(.performDefaultHandling, nil)
        }
        let (disposition, credential) = serverTrust.answer(challenge) { self.find(task)?.distrusted($0) }
        completionHandler(disposition, credential)
        #endif
    }

    #if !canImport(FoundationNetworking)
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func urlSession(_ session: URLSession, task: URLSessionTask, didReceiveInformationalResponse response: HTTPURLResponse) {
        self.find(task)?.received(response)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        self.find(task)?.collected(metrics)
    }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        self.tasks.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error)
        self.sockets.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.ended(error)
    }

    // MARK: URLSessionWebSocketDelegate

    func urlSession(_ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol chosen: String?) {
        self.sockets.withLock { $0[webSocketTask.taskIdentifier] }?.opened(chosen)
    }

    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didCloseWith closeCode: URLSessionWebSocketTask.CloseCode,
        reason: Data?
    ) {
        self.sockets.withLock { $0[webSocketTask.taskIdentifier] }?.closed(closeCode, reason)
    }
}

/// The header fields of `HTTPURLResponse` as a list.
///
/// `HTTPURLResponse` joins fields of one name and has no order. Set-Cookie is split again, since joining changes its meaning (RFC 6265, 3);
/// other fields mean the same when joined (RFC 9110, 5.3). Fields are sorted by name, so that recordings are reproducible.
enum ReceivedHeaders {
    static func list(_ fields: [AnyHashable: Any]) -> HTTPSession.Headers {
        var list = HTTPSession.Headers()
        let pairs = fields.compactMap { name, value in (name as? String).map { (name: $0, value: "\(value)") } }
        for (name, value) in pairs.sorted(by: { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }) {
            guard name.lowercased() == "set-cookie" else {
                list.add(name: name, value: value)
                continue
            }
            for cookie in self.cookies(value) { list.add(name: name, value: cookie) }
        }
        return list
    }

    /// Splits at each comma that a name and `=` follow: the comma in a date is followed by a day.
    static func cookies(_ joined: String) -> [String] {
        var cookies: [String] = []
        var current: [UInt8] = []
        let bytes = Array(joined.utf8)
        for (index, byte) in bytes.enumerated() {
            guard byte == UInt8(ascii: ","), self.beginsCookie(bytes[(index + 1)...]) else {
                current.append(byte)
                continue
            }
            cookies.append(self.trimmed(current))
            current = []
        }
        cookies.append(self.trimmed(current))
        return cookies.filter { !$0.isEmpty }
    }

    private static func beginsCookie(_ rest: ArraySlice<UInt8>) -> Bool {
        let name = rest.drop { $0 == 32 || $0 == 9 }.prefix {
            $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: ",")
        }
        guard name.endIndex < rest.endIndex, rest[name.endIndex] == UInt8(ascii: "="), !name.isEmpty else { return false }
        return !name.contains { $0 <= 32 || $0 == UInt8(ascii: "\"") }
    }

    private static func trimmed(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.drop { $0 == 32 || $0 == 9 }.reversed().drop { $0 == 32 || $0 == 9 }.reversed(), as: UTF8.self)
    }
}
