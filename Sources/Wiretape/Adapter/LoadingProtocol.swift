internal import Dispatch
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Answers the requests of a foreign `URLSession`, in place of the system's own HTTP.
///
/// Reports a response to URLSession only where measurements have shown that this is safe. On Linux, that is inside `startLoading`. If a
/// response arrives later, the task is suspended and resumed, and the response is delivered when URLSession starts the load again. After
/// the delivery `client` is nil, because a later cancellation would crash the process. On Apple's platforms, the safe place is the thread
/// that called `startLoading`.
class LoadingProtocol: URLProtocol {
    private var load: Load?
    private var hasFinished = false
    private var wasCancelled = false
    /// On Linux, the URL of a 401 is hidden while the load finishes; see `TapedURLResponse`.
    private var isUnauthorized = false
    private let thread = LoadingThread()

    override class func canInit(with request: URLRequest) -> Bool {
        LoadingRule.takes(scheme: request.url?.scheme, upgrade: request.value(forHTTPHeaderField: "Upgrade"))
    }

    override class func canInit(with task: URLSessionTask) -> Bool {
        guard let request = task.currentRequest ?? task.originalRequest else { return false }
        return self.canInit(with: request)
    }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    /// Never answered from a cache.
    override class func requestIsCacheEquivalent(_ a: URLRequest, to b: URLRequest) -> Bool { false }

    #if canImport(FoundationNetworking)
    /// Nil after the end: if a cancellation comes in between, Foundation itself calls the client once more, and crashes.
    override var client: (any URLProtocolClient)? {
        get { self.hasFinished ? nil : super.client }
        set { super.client = newValue }
    }
    #endif

    override func startLoading() {
        guard self.load == nil else { return self.answer() }
        guard !self.hasFinished, !self.wasCancelled else { return }
        do throws(TransportFailure) {
            self.thread.enter()
            let start = try LoadStart(self.request, task: self.task, session: SessionProtocols.shared.session(of: Self.self))
            nonisolated(unsafe) let me = self
            // SAFETY: used only on the thread of startLoading, to which `LoadingThread` returns; unused on Linux.
            let load = start.load { [thread, task] in thread.comeBack(task) { me.answer() } }
            self.load = load
            self.deliver(load.started { () throws(TransportFailure) in try start.source() })
        } catch {
            self.deliver([.failed(error)])
        }
    }

    override func stopLoading() {
        // A suspended task continues later, in `startLoading`. On Apple's platforms this is also called after the end of a load.
        guard LoadingThread.isCancelled(self.task) else { return }
        self.wasCancelled = true
        self.load?.stopped(isCancelled: true)
        self.load = nil
    }

    /// Delivers what has arrived. Called where responses may be delivered.
    private func answer() {
        guard !self.hasFinished, let load = self.load else { return }
        self.deliver(load.startedAgain())
    }

    private func deliver(_ calls: [AnswerAssembly.Call]) {
        // Breaks the cycle: the load holds its protocol.
        defer { if self.hasFinished { self.load = nil } }
        for call in calls {
            guard !self.hasFinished, let client = self.client else { return }
            switch call {
            case .response(let head):
                guard let response = TapedURLResponse(head) else {
                    let message = "URLSession accepts no response with the status \(head.status): correct it in the cassette"
                    self.fail(TransportFailure(.unsupported, message), client)
                    return
                }
                if self.redirects(head, response, client) { return }
                self.isUnauthorized = head.status == 401
                client.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
            case .body(let data): client.urlProtocol(self, didLoad: data)
            case .finished:
                if self.isUnauthorized {
                    TapedURLResponse.$isFinishing.withValue(true) { client.urlProtocolDidFinishLoading(self) }
                } else {
                    client.urlProtocolDidFinishLoading(self)
                }
                self.hasFinished = true
            case .failed(let failure): self.fail(failure, client)
            }
        }
    }

    private func fail(_ failure: TransportFailure, _ client: any URLProtocolClient) {
        client.urlProtocol(self, didFailWithError: failure.sessionError(for: self.request.url))
        self.hasFinished = true
    }

    /// Reports a redirect to the system if the platform supports it; the system then starts a new load for the next request.
    private func redirects(_ head: HTTPSession.Response, _ response: TapedURLResponse, _ client: any URLProtocolClient) -> Bool {
        #if canImport(FoundationNetworking)
        return false
        #else
        guard let next = LoadStart.redirect(of: self.request, head) else { return false }
        client.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
        // The system expects this error from a load that it has replaced, and does not pass it on.
        client.urlProtocol(self, didFailWithError: NSError(domain: NSCocoaErrorDomain, code: NSUserCancelledError))
        self.hasFinished = true
        return true
        #endif
    }
}

#if canImport(FoundationNetworking)
/// Moves a load to where its response may be reported to URLSession: on Linux into `startLoading`, by suspending and resuming the task.
///
/// Calls from anywhere else race with URLSession's own state. With many concurrent requests, they crash about every second process.
struct LoadingThread: Sendable {
    /// `suspend` and `resume` wait for the queue of all URL sessions, so nothing else runs here.
    private static let queue = DispatchQueue(label: "wiretape.adapter.back")

    func enter() {}

    /// Has no effect on a task that was cancelled or has ended.
    func comeBack(_ task: URLSessionTask?, _ call: @escaping @Sendable () -> Void) {
        guard let task else { return }
        Self.queue.async {
            task.suspend()
            task.resume()
        }
    }

    /// Whether `stopLoading` means a cancellation; otherwise the task was suspended.
    static func isCancelled(_ task: URLSessionTask?) -> Bool {
        switch task?.state {
        case .running, .suspended: false
        case .canceling, .completed, nil: true
        @unknown default: true
        }
    }
}
#else
/// Moves a load to where its response may be reported to URLSession: on Apple's platforms to the thread that called `startLoading`, in the
/// modes that its run loop had at that moment.
// SAFETY: unchecked because of the run loop, to which Core Foundation lets any thread add work; it is set once, before the object is
// shared.
final class LoadingThread: @unchecked Sendable {
    private var runLoop: CFRunLoop?
    private var modes: [CFString] = []

    func enter() {
        let runLoop = CFRunLoopGetCurrent()
        self.runLoop = runLoop
        self.modes = [CFRunLoopMode.defaultMode.rawValue]
        if let mode = CFRunLoopCopyCurrentMode(runLoop)?.rawValue, mode != CFRunLoopMode.defaultMode.rawValue { self.modes.append(mode) }
    }

    func comeBack(_ task: URLSessionTask?, _ call: @escaping @Sendable () -> Void) {
        guard let runLoop = self.runLoop else { return }
        CFRunLoopPerformBlock(runLoop, self.modes as CFArray, call)
        CFRunLoopWakeUp(runLoop)
    }

    /// On Apple's platforms a stopped load never continues.
    static func isCancelled(_ task: URLSessionTask?) -> Bool { true }
}
#endif

/// Decides which requests of a foreign `URLSession` are intercepted, and which of those can only be refused.
///
/// A request that is not intercepted goes to the network. Therefore all are intercepted except those that need no network and, on platforms
/// where only the system can open them, web sockets.
enum LoadingRule {
    enum TaskKind: Sendable, CaseIterable {
        case data, upload, download, other
    }

    static func takes(scheme: String?, upgrade: String?, on platform: URLSessionPlatform = .current) -> Bool {
        switch scheme?.lowercased() {
        // The system reads them in this process.
        case "data", "file": false
        case "ws", "wss": platform == .linux
        default: platform == .linux || !Self.isWebSocket(upgrade)
        }
    }

    /// Why the request cannot be answered, with the next step; nil if it can.
    static func refusal(scheme: String?, upgrade: String?, task: TaskKind, on platform: URLSessionPlatform = .current) -> String? {
        if ["ws", "wss"].contains(scheme?.lowercased()) || Self.isWebSocket(upgrade) {
            return "web sockets are neither recorded nor replayed: remove this request from the test"
        }
        guard ["http", "https"].contains(scheme?.lowercased()) else {
            return "only http and https are recorded and replayed: remove this request from the test"
        }
        switch task {
        case .data, .upload: return nil
        case .download:
            guard platform == .linux else { return nil }
            return
                "a download task crashes on Linux if anything but URLSession answers it: use a data task, a DownloadRequest of Wiretape, or the proxy (\"wiretape record\")"
        case .other: return "this kind of task is neither recorded nor replayed: use a data or an upload task"
        }
    }

    private static func isWebSocket(_ upgrade: String?) -> Bool {
        upgrade?.lowercased().split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == "websocket" } ?? false
    }
}

/// Which implementation of URLSession this is: they differ in what they accept and in their error codes.
enum URLSessionPlatform: Sendable, CaseIterable {
    case apple, linux

    static var current: Self {
        #if canImport(FoundationNetworking)
        .linux
        #else
        .apple
        #endif
    }
}
