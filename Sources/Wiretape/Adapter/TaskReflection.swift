#if canImport(FoundationNetworking)
internal import Dispatch
internal import Foundation
internal import FoundationNetworking
internal import TapeBytes

/// Reads private state of a task of URLSession on Linux, by reflection.
///
/// First verified on tasks of its own. If a toolchain has changed the names, every answer is "unknown", and the load reports what it cannot
/// do. Call it on the task's work queue, where URLSession itself writes these values.
struct TaskReflection: Sendable {
    /// The verified result for this toolchain. Creates tasks, so it must not be used for the first time on URLSession's thread.
    static let current = TaskReflection.tried()

    /// Indices of the values among the fields of `URLSessionTask`; nil if they were not found, or are not as expected.
    var sessionIndex: Int?
    var bodyIndex: Int?
    /// The index of the session's registry, and of the table in it.
    var registryIndices: (registry: Int, behaviours: Int)?

    func session(of task: URLSessionTask) -> URLSession? {
        guard let index = self.sessionIndex, let value = Self.value(at: index, named: "session", of: task) else { return nil }
        return value as? URLSession
    }

    func body(of task: URLSessionTask) -> BodyRule.Kept {
        guard let index = self.bodyIndex, let value = Self.value(at: index, named: "knownBody", of: task) else { return .unknown }
        return Self.body(value)
    }

    /// Whether each piece of a body goes to a delegate. False if a completion handler waits for the whole body, or if this is unknown.
    func isDelegates(_ task: URLSessionTask) -> Bool {
        guard let indices = self.registryIndices, task.delegate != nil, let session = self.session(of: task),
            let registry = Self.child(at: indices.registry, named: "taskRegistry", of: Mirror(reflecting: session)),
            let table = Self.child(at: indices.behaviours, named: "behaviours", of: Mirror(reflecting: registry)) as? any TaskTable,
            let behaviour = table.value(of: task.taskIdentifier)
        else { return false }
        return Self.name(of: behaviour) == "callDelegate"
    }

    // MARK: - Reflection

    private static func value(at index: Int, named name: String, of task: URLSessionTask) -> Any? {
        Self.mirror(of: task).flatMap { Self.child(at: index, named: name, of: $0) }
    }

    private static func mirror(of task: URLSessionTask) -> Mirror? {
        var mirror: Mirror? = Mirror(reflecting: task)
        while let current = mirror, current.subjectType != URLSessionTask.self { mirror = current.superclassMirror }
        return mirror
    }

    private static func child(at index: Int, named name: String, of mirror: Mirror) -> Any? {
        guard index < mirror.children.count else { return nil }
        let child = mirror.children[mirror.children.index(mirror.children.startIndex, offsetBy: index)]
        return child.label == name ? child.value : nil
    }

    private static func index(of name: String, in mirror: Mirror?) -> Int? {
        mirror?.children.enumerated().first { $0.element.label == name }?.offset
    }

    /// The name of an enum case, with or without a payload.
    private static func name(of value: Any) -> String {
        Mirror(reflecting: value).children.first?.label ?? String(describing: value)
    }

    private static func body(_ optional: Any) -> BodyRule.Kept {
        let outer = Mirror(reflecting: optional)
        guard outer.displayStyle == .optional else { return .unknown }
        guard let body = outer.children.first?.value else { return .unmade }
        let inner = Mirror(reflecting: body)
        guard inner.displayStyle == .enum else { return .unknown }
        guard let value = inner.children.first?.value else { return String(describing: body) == "none" ? .none : .unknown }
        switch value {
        case let data as DispatchData: return .data(Data(data))
        case let url as URL: return .file(url)
        case let stream as InputStream: return .stream(stream)
        default: return .unknown
        }
    }

    // MARK: - Verification

    private static func tried() -> Self {
        let session = URLSession(configuration: Self.configuration, delegate: Delegate(), delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: Self.url)
        request.httpMethod = "POST"
        let bytes = Data([87, 105, 114, 101])
        let upload = session.uploadTask(with: request, from: bytes)
        let handled = session.uploadTask(with: request, fromFile: URL(fileURLWithPath: "/wiretape")) { _, _, _ in }
        let streamed = session.uploadTask(withStreamedRequest: request)
        let plain = session.dataTask(with: request)
        // Waits for the queue on which the session registers its tasks.
        for task in [upload, handled, streamed, plain] { task.suspend() }

        var found = TaskReflection()
        found.sessionIndex = Self.index(of: "session", in: Self.mirror(of: upload))
        if found.session(of: upload) !== session || found.session(of: plain) !== session { found.sessionIndex = nil }

        found.bodyIndex = Self.index(of: "knownBody", in: Self.mirror(of: upload))
        if case .data(bytes) = found.body(of: upload), case .file(let url) = found.body(of: handled), url.path == "/wiretape",
            case .unmade = found.body(of: streamed), case .none = found.body(of: plain)
        {
        } else {
            found.bodyIndex = nil
        }

        let sessionMirror = Mirror(reflecting: session)
        if let registry = Self.index(of: "taskRegistry", in: sessionMirror),
            let value = Self.child(at: registry, named: "taskRegistry", of: sessionMirror),
            let behaviours = Self.index(of: "behaviours", in: Mirror(reflecting: value))
        {
            found.registryIndices = (registry, behaviours)
            if !found.isDelegates(upload) || !found.isDelegates(plain) || found.isDelegates(handled) { found.registryIndices = nil }
        }
        return found
    }

    private static let url = URL(fileURLWithPath: "/wiretape")

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.urlCache = nil
        configuration.protocolClasses = [Silent.self]
        return configuration
    }

    private final class Delegate: NSObject, URLSessionDataDelegate {}

    /// Never answers: its tasks are never started.
    private final class Silent: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() {}
        override func stopLoading() {}
    }
}

/// A dictionary by task identifiers with values of any type.
private protocol TaskTable {
    func value(of task: Int) -> Any?
}

extension Dictionary: TaskTable where Key == Int {
    func value(of task: Int) -> Any? { self[task] }
}

/// Calls a task's delegate, on the delegate's queue, about redirects and upload progress. On Linux, URLSession does not do so for custom
/// protocols.
struct DelegatedTask: Sendable {
    let task: URLSessionTask
    let session: URLSession
    let delegate: any URLSessionTaskDelegate
    private let sentCount = Guarded<Int64>(0)

    init(task: URLSessionTask, session: URLSession, delegate: any URLSessionTaskDelegate) {
        (self.task, self.session, self.delegate) = (task, session, delegate)
    }

    func decide(_ response: HTTPSession.Response, _ proposed: TransportRequest, _ decided: @escaping @Sendable (TransportRequest?) -> Void)
    {
        guard let shown = TapedURLResponse(response) else { return decided(proposed) }
        let request = LoadRequest.urlRequest(proposed)
        self.session.delegateQueue.addOperation {
            self.delegate.urlSession(self.session, task: self.task, willPerformHTTPRedirection: shown, newRequest: request) { answer in
                decided(answer.map { LoadRequest.transportRequest($0, insteadOf: proposed) })
            }
        }
    }

    /// - Parameter count: bytes sent so far.
    func sent(_ count: Int64, of total: Int64) {
        let new = self.sentCount.withLock { before in
            defer { before = max(before, count) }
            return count - before
        }
        guard new > 0 else { return }
        self.session.delegateQueue.addOperation {
            self.delegate.urlSession(
                self.session, task: self.task, didSendBodyData: new, totalBytesSent: count, totalBytesExpectedToSend: total)
        }
    }
}
#endif
