import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The behaviour of URLSession with a URLProtocol as people write it, and with a few calls of its own: each kills the process on some
/// toolchain, hangs, or loses data.
enum Fact: String, CaseIterable {
    case redirectCall = "redirect-call"
    case downloadByDelegate = "download-by-delegate"
    case downloadByAwait = "download-by-await"
    case downloadByHandler = "download-by-handler"
    case headlessByAwait = "headless-by-await"
    case callAfterCancel = "call-after-cancel"
    case taskWhileLoading = "task-while-loading"
    case uploadOfNil = "upload-of-nil"
    case streamError = "stream-error"
    case trailers
    case taskOnInvalidated = "task-on-invalidated"
    case unauthorized
    case unauthorizedWithCredential = "unauthorized-with-credential"
    case piecesByAwait = "pieces-by-await"
    case uploadOfData = "upload-of-data"

    static func named(_ name: String?) throws -> Self {
        guard let fact = Self(rawValue: name ?? "") else { throw ProbeError("there is no fact \"\(name ?? "")\": see ClientProbe list") }
        return fact
    }

    private static let url = URL(string: "http://probe.invalid/path") ?? URL(fileURLWithPath: "/")

    func run() async throws -> String {
        switch self {
        case .redirectCall:
            return await Self.data { load in
                load.respond(302, ["Location": "/next"])
                guard let response = load.task?.response else { return }
                load.client?.urlProtocol(load, wasRedirectedTo: URLRequest(url: Self.url), redirectResponse: response)
            }
        case .downloadByDelegate:
            let delegate = CollectingDelegate()
            let session = URLSession(configuration: Self.hello, delegate: delegate, delegateQueue: nil)
            return delegate.outcome(of: session.downloadTask(with: Self.url))
        case .downloadByAwait:
            let (url, _) = try await URLSession(configuration: Self.hello).download(for: URLRequest(url: Self.url))
            return try String(contentsOf: url, encoding: .utf8)
        case .downloadByHandler:
            return await withCheckedContinuation { continuation in
                let session = URLSession(configuration: Self.hello)
                session.downloadTask(with: Self.url) { url, _, error in
                    continuation.resume(returning: "file \(url == nil ? "missing" : "there"), error \(error == nil ? "missing" : "there")")
                }.resume()
            }
        case .headlessByAwait: return await Self.data { $0.finish() }
        case .callAfterCancel: return Self.callAfterCancel()
        case .taskWhileLoading:
            let inner = URLSession(configuration: .ephemeral)
            return await Self.data { load in
                inner.dataTask(with: Self.url).resume()
                load.respond()
                load.finish()
            }
        case .uploadOfNil:
            let task = URLSession(configuration: .ephemeral).uploadTask(with: URLRequest(url: Self.url), from: nil) { _, _, _ in }
            return "made \(task.taskIdentifier > 0)"
        case .streamError:
            let stream = InputStream(data: Data([1]))
            stream.open()
            return stream.streamError == nil ? "none" : "some"
        case .trailers:
            let origin = try RawOrigin(answering: RawOrigin.trailers)
            return await Outcome.of { try await URLSession(configuration: .ephemeral).data(from: origin.url) }
        case .taskOnInvalidated:
            let session = URLSession(configuration: .ephemeral)
            session.finishTasksAndInvalidate()
            // After this, the session has handled all earlier calls.
            await withCheckedContinuation { continuation in session.getAllTasks { _ in continuation.resume() } }
            return "made \(session.dataTask(with: Self.url).taskIdentifier > 0)"
        case .unauthorized: return await Self.data(Self.unauthorized)
        case .unauthorizedWithCredential:
            let delegate = CollectingDelegate()
            delegate.credential = URLCredential(user: "user", password: "word", persistence: .none)
            let configuration = RawProtocol.configuration(Self.unauthorized)
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            return delegate.outcome(of: session.dataTask(with: Self.url))
        case .piecesByAwait:
            return await Self.data { load in
                load.respond()
                for piece in ["abc", "def", "ghi"] { load.load(piece) }
                load.finish()
            }
        case .uploadOfData:
            let configuration = RawProtocol.configuration { load in
                load.respond()
                load.load(load.request.httpBody == nil && load.request.httpBodyStream == nil ? "nothing seen" : "seen")
                load.finish()
            }
            var request = URLRequest(url: Self.url)
            request.httpMethod = "POST"
            return await Outcome.of { try await URLSession(configuration: configuration).upload(for: request, from: Data("body".utf8)) }
        }
    }

    private static func data(_ loading: @escaping (RawProtocol) -> Void) async -> String {
        let configuration = RawProtocol.configuration(loading)
        return await Outcome.of { try await URLSession(configuration: configuration).data(from: Self.url) }
    }

    private static var hello: URLSessionConfiguration {
        RawProtocol.configuration { load in
            load.respond()
            load.load("hello")
            load.finish()
        }
    }

    private static func unauthorized(_ load: RawProtocol) {
        load.respond(401, ["WWW-Authenticate": "Basic realm=\"here\""])
        load.load("denied")
        load.finish()
    }

    /// The answer arrives after its task was cancelled and released.
    private static func callAfterCancel() -> String {
        let started = DispatchSemaphore(value: 0)
        nonisolated(unsafe) var late: RawProtocol?
        let configuration = RawProtocol.configuration { load in
            late = load
            started.signal()
        }
        let delegate = CollectingDelegate()
        let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: Self.url)
        task.resume()
        started.wait()
        task.cancel()
        delegate.done.wait()
        // The session removes the task on its queue, after the delegate's call: twice, since the first block may run before that.
        for _ in 0..<2 {
            let gone = DispatchSemaphore(value: 0)
            session.delegateQueue.addOperation { session.getAllTasks { _ in gone.signal() } }
            gone.wait()
        }
        late?.respond()
        return delegate.error.map(Outcome.text) ?? "no error"
    }
}

extension Fact: CustomStringConvertible {
    var description: String { self.rawValue }
}
