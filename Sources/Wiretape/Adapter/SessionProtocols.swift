internal import Dispatch
internal import Foundation
internal import TapeBytes

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#else
internal import Foundation
#endif

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Which class belongs to which session.
///
/// A class is never given to a second one: a session that still holds it would take its answers from the wrong cassette. What a class
/// stands for is not kept alive here.
final class SessionProtocols: Sendable {
    static let shared = SessionProtocols()

    private struct Entry: Sendable {
        weak var session: AdaptedSession?
    }

    private struct Contents: Sendable {
        var count: UInt = 0
        var entries: [ObjectIdentifier: Entry] = [:]
    }

    private let contents = Guarded(Contents())

    /// A class for one more session.
    func add(_ session: AdaptedSession) -> LoadingProtocol.Type {
        self.contents.withLock { contents in
            contents.count += 1
            let type = SessionProtocol<BinaryNumber.Zero>.numbered(contents.count)
            contents.entries[ObjectIdentifier(type)] = Entry(session: session)
            return type
        }
    }

    /// Nil where there is none any more.
    func session(of type: LoadingProtocol.Type) -> AdaptedSession? {
        self.contents.withLock { $0.entries[ObjectIdentifier(type)]?.session }
    }
}

/// The class of one configuration: its identity says which session a request belongs to, so that requests need no mark.
///
/// Everything it does is done by `LoadingProtocol`.
final class SessionProtocol<Number: BinaryNumber.Digits>: LoadingProtocol {
    /// The class of that number. The system keeps classes for as long as the process lives: some 900 octets each.
    static func numbered(_ number: UInt) -> LoadingProtocol.Type where Number == BinaryNumber.Zero {
        func open<Other: BinaryNumber.Digits>(_: Other.Type) -> LoadingProtocol.Type { SessionProtocol<Other>.self }
        return open(BinaryNumber.type(of: number))
    }
}

/// Answers the requests of sessions that are not ours, each in the place of the system's own HTTP.
///
/// URLSession is told of an answer only where that was measured to be safe. On Linux this is inside `startLoading`: an answer that comes
/// later suspends and resumes its task, and is given when URLSession starts the load again; once it has been given there is no client any
/// more, since a cancellation that comes behind it would kill the process. On Apple's platforms it is the thread that called `startLoading`.
class LoadingProtocol: URLProtocol {
    private var load: Load?
    private var hasFinished = false
    private var wasCancelled = false
    /// On Linux the URL of a 401 is hidden while it is finished; see `TapedURLResponse`.
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

    override var client: (any URLProtocolClient)? {
        get { self.hasFinished ? nil : super.client }
        set { super.client = newValue }
    }

    override func startLoading() {
        guard self.load == nil else { return self.answer() }
        guard !self.hasFinished, !self.wasCancelled else { return }
        do throws(TransportFailure) {
            self.thread.enter()
            let start = try LoadStart(self.request, task: self.task, session: SessionProtocols.shared.session(of: Self.self))
            nonisolated(unsafe) let me = self
            // SAFETY: touched on the thread of startLoading only, to which `LoadingThread` leads back; unused on Linux.
            let load = start.load { [thread, task] in thread.comeBack(task) { me.answer() } }
            self.load = load
            self.give(load.started { () throws(TransportFailure) in try start.source() })
        } catch {
            self.give([.failed(error)])
        }
    }

    override func stopLoading() {
        // A suspended task goes on later, in `startLoading`. On Apple's platforms this is also called behind the end of a load.
        guard LoadingThread.isCancelled(self.task) else { return }
        self.wasCancelled = true
        self.load?.stopped(isCancelled: true)
        self.load = nil
    }

    /// What there is now, where it may be given.
    private func answer() {
        guard !self.hasFinished, let load = self.load else { return }
        self.give(load.startedAgain())
    }

    private func give(_ calls: [AnswerAssembly.Call]) {
        // The load knows its protocol, to be called back.
        defer { if self.hasFinished { self.load = nil } }
        for call in calls {
            guard let client = self.client else { return }
            switch call {
            case .response(let head):
                guard let response = TapedURLResponse(head) else {
                    let message = "URLSession takes no response with the status \(head.status): see what the cassette says"
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

    /// Tells the system of a redirect, where it can be told; it starts a new load for the next request then.
    private func redirects(_ head: HTTPResponse, _ response: TapedURLResponse, _ client: any URLProtocolClient) -> Bool {
        #if canImport(FoundationNetworking)
        return false
        #else
        guard let next = LoadStart.redirect(of: self.request, head) else { return false }
        client.urlProtocol(self, wasRedirectedTo: next, redirectResponse: response)
        // What the system expects of a load that it has replaced; it is not shown to anyone.
        client.urlProtocol(self, didFailWithError: NSError(domain: NSCocoaErrorDomain, code: NSUserCancelledError))
        self.hasFinished = true
        return true
        #endif
    }
}
