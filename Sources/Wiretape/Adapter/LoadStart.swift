internal import Dispatch
internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Collects what a load needs from the task that it answers, on the thread of `startLoading`.
struct LoadStart {
    /// Starts transports that must not be started on URLSession's thread, and runs timers.
    private static let queue = DispatchQueue(label: "wiretape.adapter", attributes: .concurrent)
    private static let start = ContinuousClock.now

    private let request: URLRequest
    private let url: URL
    private let task: URLSessionTask
    private let transport: any Transport
    private let isInPlace: Bool
    private let configuration: URLSessionConfiguration
    /// Set on Linux if reflection finds it; otherwise nil.
    private let session: URLSession?
    private let cookies: LoadCookies?

    init(_ request: URLRequest, task: URLSessionTask?, session: AdaptedSession?) throws(TransportFailure) {
        guard let session, let task, let url = request.url else {
            throw TransportFailure(
                .unsupported,
                "there is no transport for \"\(request.url.map(LogURL.text) ?? "")\": do not change the connectionProxyDictionary of the session's configuration"
            )
        }
        let refusal = LoadingRule.refusal(
            scheme: url.scheme, upgrade: request.value(forHTTPHeaderField: "Upgrade"), task: Self.kind(of: task))
        if let refusal {
            let shown = "\(request.httpMethod ?? "GET") \(LogURL.text(url))"
            throw TransportFailure(.unsupported, "\"\(shown)\" cannot be answered: \(refusal)")
        }
        (self.transport, self.isInPlace) = (session.transport, session.isInPlace)
        (self.request, self.url, self.task) = (request, url, task)
        #if canImport(FoundationNetworking)
        self.session = TaskReflection.current.session(of: task)
        #else
        self.session = nil
        #endif
        self.configuration = self.session?.configuration ?? session.configuration
        self.cookies = LoadCookies(self.configuration, request: request)
    }

    private static func kind(of task: URLSessionTask) -> LoadingRule.TaskKind {
        switch task {
        case is URLSessionUploadTask: .upload
        case is URLSessionDataTask: .data
        case is URLSessionDownloadTask: .download
        default: .other
        }
    }

    // MARK: - The load

    func load(comeBack: @escaping @Sendable () -> Void) -> Load {
        var host = LoadHost(
            comeBack: comeBack,
            timer: { duration, call in
                let (seconds, attoseconds) = duration.components
                Self.queue.asyncAfter(deadline: .now() + Double(seconds) + Double(attoseconds) * 1e-18, execute: call)
            },
            now: { Self.start.duration(to: .now) },
            elsewhere: { work in Self.queue.async(execute: work) }
        )
        host.cookies = self.cookies
        host.limits = LoadTimeLimits(request: self.request.timeoutInterval, configuration: self.configuration)
        #if canImport(FoundationNetworking)
        let task = self.task
        host.takesPieces = { TaskReflection.current.isDelegates(task) }
        if let delegate = task.delegate, let session = self.session {
            let delegated = DelegatedTask(task: task, session: session, delegate: delegate)
            host.decideRedirect = { delegated.decide($0, $1, $2) }
            host.sent = { delegated.sent($0, of: $1) }
        }
        #else
        host.followsRedirects = false
        host.takesPieces = { true }
        #endif
        return Load(transport: self.transport, host: host)
    }

    #if !canImport(FoundationNetworking)
    /// The next request if the response is a redirect; else nil.
    static func redirect(of request: URLRequest, _ response: HTTPSession.Response) -> URLRequest? {
        guard let url = request.url else { return nil }
        // The system counts the hops itself.
        switch RedirectRule().decide(method: request.httpMethod ?? "GET", url: url, response: response, hops: 0) {
        case .follow(let redirect): return redirect.request(following: request)
        case .stay, .refuse: return nil
        }
    }
    #endif

    // MARK: - The request

    func source() throws(TransportFailure) -> LoadSource {
        switch self.body() {
        case .none: return self.ready(.none)
        case .data(let data): return self.ready(.data(data))
        case .file(let url):
            guard let size = try? FileManager.default.attributesOfItem(atPath: url.path)[.size] as? Int else {
                throw TransportFailure(.body, "the file \"\(url.path)\" to upload cannot be read: check that it exists")
            }
            return self.ready(.file(url, size: size))
        case .stream(let stream):
            nonisolated(unsafe) let stream = stream
            // SAFETY: only this load reads the stream: URLSession leaves it to the protocol.
            let make = self.made()
            return .later { done in Self.read { done(Self.spooled(stream).map(make)) } }
        case .ofDelegate: return self.streamOfDelegate()
        // Do not send an empty body: only the transport knows whether the body matters.
        case .hidden: return self.ready(.unobservable)
        }
    }

    private func ready(_ body: RequestBody) -> LoadSource {
        let made = self.made()(SpooledStream.Spooled(body: body))
        return self.isInPlace ? .ready(made.request) : .later { done in done(.success(made)) }
    }

    private func made() -> @Sendable (SpooledStream.Spooled) -> LoadSource.Made {
        #if canImport(FoundationNetworking)
        nonisolated(unsafe) let additional = self.configuration.httpAdditionalHeaders
        // SAFETY: a dictionary of the session's own copy of the configuration, which no longer changes.
        // The request already got its cookies when the task was created.
        return { [request, url] spooled in
            LoadSource.Made(
                request: LoadRequest.transportRequest(request, url: url, additional: additional, body: spooled.body), file: spooled.file)
        }
        #else
        // The request has the additional fields, but not yet its cookies.
        return { [request, url, cookies] spooled in
            let made = LoadRequest.transportRequest(request, url: url, additional: nil, body: spooled.body)
            return LoadSource.Made(request: cookies?.added(to: made) ?? made, file: spooled.file)
        }
        #endif
    }

    private func body() -> VisibleBody {
        let isUpload = self.task is URLSessionUploadTask
        #if canImport(FoundationNetworking)
        return BodyRule.body(data: self.request.httpBody, stream: self.request.httpBodyStream, isUpload: isUpload, hasOwnUploads: false) {
            TaskReflection.current.body(of: self.task)
        }
        #else
        return BodyRule.body(data: self.request.httpBody, stream: self.request.httpBodyStream, isUpload: isUpload, hasOwnUploads: true) {
            .unknown
        }
        #endif
    }

    private func streamOfDelegate() -> LoadSource {
        guard let session = self.session, let delegate = self.task.delegate else { return self.ready(.unobservable) }
        let (task, make) = (self.task, self.made())
        return .later { done in
            // Delegates are called on their queue.
            session.delegateQueue.addOperation {
                delegate.urlSession(session, task: task) { stream in
                    guard let stream else { return done(.success(make(SpooledStream.Spooled(body: .none)))) }
                    nonisolated(unsafe) let own = stream
                    // SAFETY: the delegate has made it for this load only.
                    Self.read { done(Self.spooled(own).map(make)) }
                }
            }
        }
    }

    /// Runs on a separate thread: a stream can block as long as its producer does, and the producer may be waiting for a Dispatch thread.
    private static func read(_ stream: @escaping @Sendable () -> Void) {
        if !DedicatedThread.start(stream) { self.queue.async(execute: stream) }
    }

    private static func spooled(_ stream: InputStream) -> Result<SpooledStream.Spooled, TransportFailure> {
        Result { () throws(TransportFailure) in try SpooledStream.read(stream) }
    }
}

/// Stores and sends cookies for a foreign `URLSession`, which only does so for the system's own HTTP.
struct LoadCookies: Sendable {
    private let rule: CookieRule

    /// Nil if the session or the request wants no cookies.
    init?(_ configuration: URLSessionConfiguration, request: URLRequest) {
        guard configuration.httpShouldSetCookies, request.httpShouldHandleCookies, configuration.httpCookieAcceptPolicy != .never,
            let storage = configuration.httpCookieStorage
        else { return nil }
        self.rule = CookieRule(storage: storage)
    }

    /// Stores the cookies that a response sets.
    func store(_ response: HTTPSession.Response) { self.rule.store(response) }

    /// The request with its cookies replaced by the stored ones for its URL, as URLSession does.
    func added(to request: TransportRequest) -> TransportRequest {
        guard let value = self.rule.header(for: request.url), !value.isEmpty else { return request }
        var result = request
        result.headers.update(name: "Cookie", value: value)
        return result
    }
}
