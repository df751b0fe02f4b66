import Foundation
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The dangerous calls of `Fact`, through a session of Wiretape.
enum SafeWay: String, CaseIterable {
    case redirectCall = "redirect-call"
    case downloadByDelegate = "download-by-delegate"
    case downloadByAwait = "download-by-await"
    case downloadByHandler = "download-by-handler"
    case headlessByAwait = "headless-by-await"
    case callAfterCancel = "call-after-cancel"
    case taskWhileLoading = "task-while-loading"
    case streamError = "stream-error"
    case trailers
    case unauthorized
    case unauthorizedWithCredential = "unauthorized-with-credential"
    case piecesByAwait = "pieces-by-await"
    case uploadOfData = "upload-of-data"
    case uploadOfStream = "upload-of-stream"
    case uploadsFedByTasks = "uploads-fed-by-tasks"

    static func named(_ name: String?) throws -> Self {
        guard let way = Self(rawValue: name ?? "") else { throw ProbeError("there is no safe way \"\(name ?? "")\": see ClientProbe list") }
        return way
    }

    private static let url = URL(string: "http://probe.invalid/path") ?? URL(fileURLWithPath: "/")

    func run() async throws -> String {
        switch self {
        case .redirectCall:
            return await Self.data { request in
                guard request.url.path == "/path" else { return ScriptedTransport.answer(request, body: "hello") }
                return ScriptedTransport.answer(request, status: 302, headers: [("Location", "/next")], body: "moved")
            }
        case .downloadByDelegate:
            let delegate = CollectingDelegate()
            let session = URLSession(configuration: Self.hello, delegate: delegate, delegateQueue: nil)
            return delegate.outcome(of: session.downloadTask(with: Self.url))
        case .downloadByAwait:
            do {
                let (url, _) = try await URLSession(configuration: Self.hello).download(for: URLRequest(url: Self.url))
                return try String(contentsOf: url, encoding: .utf8)
            } catch {
                return Outcome.text(error)
            }
        case .downloadByHandler:
            return await withCheckedContinuation { continuation in
                let session = URLSession(configuration: Self.hello)
                session.downloadTask(with: Self.url) { url, _, error in
                    continuation.resume(returning: error.map(Outcome.text) ?? "file \(url == nil ? "missing" : "there")")
                }.resume()
            }
        case .headlessByAwait: return await Self.data { _ in [.end] }
        case .callAfterCancel: return Self.callAfterCancel()
        case .taskWhileLoading:
            let transport = NestingTransport()
            return await Outcome.of { try await URLSession(configuration: .answered(by: transport)).data(from: Self.url) }
        case .streamError:
            var request = URLRequest(url: Self.url)
            request.httpMethod = "POST"
            request.httpBodyStream = InputStream(data: Data("body".utf8))
            return await Outcome.of { [request] in try await URLSession(configuration: Self.echo).data(for: request) }
        case .trailers: return await Self.data { ScriptedTransport.answer($0, body: "hello", trailers: true) }
        case .unauthorized: return await Self.data(Self.unauthorized)
        case .unauthorizedWithCredential:
            let delegate = CollectingDelegate()
            delegate.credential = URLCredential(user: "user", password: "word", persistence: .none)
            let configuration = URLSessionConfiguration.answered(by: ScriptedTransport(events: Self.unauthorized))
            let session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
            return delegate.outcome(of: session.dataTask(with: Self.url))
        case .piecesByAwait:
            return await Self.data { request in
                var events = ScriptedTransport.answer(request)
                events.insert(contentsOf: ["abc", "def", "ghi"].map { .chunk(Data($0.utf8)) }, at: 1)
                return events
            }
        case .uploadOfData:
            var request = URLRequest(url: Self.url)
            request.httpMethod = "POST"
            return await Outcome.of { [request] in
                try await URLSession(configuration: Self.echo).upload(for: request, from: Data("body".utf8))
            }
        case .uploadOfStream:
            let delegate = CollectingDelegate()
            delegate.body = Data("streamed".utf8)
            let session = URLSession(configuration: Self.echo, delegate: delegate, delegateQueue: nil)
            var request = URLRequest(url: Self.url)
            request.httpMethod = "POST"
            return delegate.outcome(of: session.uploadTask(withStreamedRequest: request))
        case .uploadsFedByTasks: return try await Self.uploadsFedByTasks()
        }
    }

    /// More concurrent streams than Dispatch has threads, even where it creates more threads than cores: each waits for a task that writes
    /// to it.
    private static func uploadsFedByTasks() async throws -> String {
        let session = HTTPSession(
            transport: ScriptedTransport { request in
                guard case .file(let url, _) = request.body else { return ScriptedTransport.answer(request, body: "no file") }
                return ScriptedTransport.answer(request, body: (try? String(contentsOf: url, encoding: .utf8)) ?? "unreadable")
            })
        let folder = FileManager.default.temporaryDirectory
        let count = 300
        let pipes = (0..<count).map { _ in folder.appendingPathComponent("\(UUID().uuidString).pipe") }
        // All of them begin to read, and wait for their writers, before the first writer exists.
        let uploads = try pipes.enumerated().map { number, pipe in
            guard mkfifo(pipe.path, 0o600) == 0, let stream = InputStream(url: pipe) else { throw ProbeError("no pipe") }
            return switch number % 3 {
            case 0: session.upload(stream, to: Self.url).serializingString()
            case 1:
                session.request(Self.url, method: .put) { $0.httpBodyStream = InputStream(url: pipe) }.serializingString()
            case _: session.request(Self.url, method: .put, interceptor: BodyFromPipe(pipe: pipe)).serializingString()
            }
        }
        let texts = try await withThrowingTaskGroup(of: String.self) { group in
            for (number, (pipe, upload)) in zip(pipes, uploads).enumerated() {
                group.addTask {
                    var file = open(pipe.path, O_WRONLY | O_NONBLOCK)
                    while file < 0 {
                        await Task.yield()
                        file = open(pipe.path, O_WRONLY | O_NONBLOCK)
                    }
                    _ = "\(number)".withCString { write(file, $0, strlen($0)) }
                    close(file)
                    return try await upload.value
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        return texts.sorted() == (0..<count).map(String.init).sorted() ? "all" : "\(texts)"
    }

    private static func data(_ events: @escaping @Sendable (TransportRequest) -> [TransportEvent]) async -> String {
        let transport = ScriptedTransport(events: events)
        return await Outcome.of { try await URLSession(configuration: .answered(by: transport)).data(from: Self.url) }
    }

    private static var hello: URLSessionConfiguration {
        .answered(by: ScriptedTransport { ScriptedTransport.answer($0, body: "hello") })
    }

    /// Answers with the request's body.
    private static var echo: URLSessionConfiguration {
        .answered(
            by: ScriptedTransport { request in
                guard case .data(let data) = request.body else { return ScriptedTransport.answer(request, body: "no data") }
                return ScriptedTransport.answer(request, body: String(decoding: data, as: UTF8.self))
            })
    }

    @Sendable private static func unauthorized(_ request: TransportRequest) -> [TransportEvent] {
        ScriptedTransport.answer(request, status: 401, headers: [("WWW-Authenticate", "Basic realm=\"here\"")], body: "denied")
    }

    /// The answer arrives after its task was cancelled and released.
    private static func callAfterCancel() -> String {
        let transport = HeldTransport()
        let delegate = CollectingDelegate()
        let session = URLSession(configuration: .answered(by: transport), delegate: delegate, delegateQueue: nil)
        let task = session.dataTask(with: Self.url)
        task.resume()
        transport.started.wait()
        task.cancel()
        delegate.done.wait()
        transport.answer()
        // After this, all work that the answer has started is complete.
        let gone = DispatchSemaphore(value: 0)
        session.getAllTasks { _ in gone.signal() }
        gone.wait()
        return delegate.error.map(Outcome.text) ?? "no error"
    }
}

extension SafeWay: CustomStringConvertible {
    var description: String { self.rawValue }
}

/// An adapter that turns the body into a stream.
private struct BodyFromPipe: HTTPSession.RequestInterceptor {
    let pipe: URL

    func adapt(_ request: URLRequest, for context: HTTPSession.RequestContext) async throws -> URLRequest {
        var request = request
        request.httpBodyStream = InputStream(url: self.pipe)
        return request
    }
}
