internal import CassetteStore
internal import Foundation

#if canImport(FoundationNetworking)
internal import FoundationNetworking
#endif

/// Makes a request's draft when the request starts.
struct RequestSource: Sendable {
    /// Whether it reads files or streams, and so must not run on the caller's thread.
    var isBlocking = false
    /// - Parameter base: the base of URLs that have no scheme.
    var make: @Sendable (_ base: URL?) throws -> RequestDraft

    /// A closure of the caller that changes a request after it is made.
    typealias Modifier = @Sendable (inout URLRequest) throws -> Void

    /// A URL, a method and fields, without a `URLRequest`.
    static func plain(
        _ url: any HTTPSession.URLConvertible, _ method: HTTPSession.Method, _ headers: HTTPSession.Headers?, query: String? = nil,
        body: @escaping @Sendable () throws -> RequestContent = { .none },
        isBlocking: Bool = false, _ modifier: Modifier?
    ) -> RequestSource {
        RequestSource(isBlocking: isBlocking) { base in
            var place = try BaseURL(base).url(of: url)
            if let query, !query.isEmpty { place = try place.appending(query: query) }
            let content = try body()
            var headers = headers ?? HTTPSession.Headers()
            if let type = content.type, !headers.contains(name: "Content-Type") { headers.add(name: "Content-Type", value: type) }
            let request = TransportRequest(method: method.rawValue, url: place, headers: headers, body: content.body)
            var draft = RequestDraft(request, spool: content.spool)
            if let modifier { try draft.modify(modifier) }
            return draft
        }
    }

    /// A URL with parameters, which are encoded into a `URLRequest`; the caller's fields keep their order.
    static func encoded(
        _ url: any HTTPSession.URLConvertible, _ method: HTTPSession.Method, _ headers: HTTPSession.Headers?, _ modifier: Modifier?,
        _ encode: @escaping @Sendable (URLRequest) throws -> URLRequest
    ) -> RequestSource {
        RequestSource { base in
            let plain = TransportRequest(
                method: method.rawValue, url: try BaseURL(base).url(of: url), headers: headers ?? HTTPSession.Headers())
            try plain.headers.validated()
            let view = URLRequest(plain)
            var draft = RequestDraft(plain)
            try draft.change(from: view, to: try encode(view))
            if let modifier { try draft.modify(modifier) }
            return draft
        }
    }

    /// A `URLRequest` or a router; `body` replaces its own body.
    static func converted(
        _ convertible: any HTTPSession.URLRequestConvertible, body: (@Sendable () throws -> RequestContent)? = nil,
        isBlocking: Bool = false,
        spoolFolder: URL?
    ) -> RequestSource {
        RequestSource(isBlocking: isBlocking) { base in
            var given = try convertible.asURLRequest()
            if base != nil, let url = given.url, url.scheme == nil { given.url = try BaseURL(base).url(of: url) }
            var draft = RequestDraft(try TransportRequest(given, label: convertible.requestLabel))
            draft.idleTimeout = given.ownTimeout
            let content = try body?() ?? given.httpBodyStream.map { try RequestContent(spooling: $0, folder: spoolFolder) }
            guard let content else { return draft }
            draft.request.body = content.body
            draft.spool = content.spool
            if let type = content.type { draft.request.headers.update(name: "Content-Type", value: type) }
            return draft
        }
    }
}

/// A request before adapters and cookies.
struct RequestDraft: Sendable {
    var request: TransportRequest
    /// Overrides `HTTPSession.Timeouts.idle`.
    var idleTimeout: Duration?
    /// Keeps the body's temporary file until the request ends.
    var spool: TemporaryFile?
    /// The request with a body stream that has not been read yet. Reading it blocks for as long as the stream's producer does.
    private(set) var unread: URLRequest?

    init(_ request: TransportRequest, idleTimeout: Duration? = nil, spool: TemporaryFile? = nil) {
        self.request = request
        self.idleTimeout = idleTimeout
        self.spool = spool
    }

    mutating func modify(_ modifier: RequestSource.Modifier) throws {
        let view = URLRequest(self.request)
        var modified = view
        try modifier(&modified)
        try self.change(from: view, to: modified)
        self.idleTimeout = modified.ownTimeout
    }

    /// Applies the changes made to a `URLRequest` view of the request.
    mutating func change(from view: URLRequest, to changed: URLRequest) throws {
        self.request = try self.request.adapted(from: view, to: changed)
        // A new body replaces an earlier stream.
        if changed.httpBody != view.httpBody { self.unread = nil }
        guard changed.httpBodyStream != nil else { return }
        self.request.body = .unobservable
        self.unread = changed
    }

    /// The draft with its stream read into a temporary file. Blocks.
    func read(in folder: URL?) throws -> RequestDraft {
        guard let stream = self.unread?.httpBodyStream else { return self }
        let content = try RequestContent(spooling: stream, folder: folder)
        var draft = self
        draft.request.body = content.body
        draft.spool = content.spool
        draft.unread = nil
        return draft
    }
}

/// The target of an upload: a URL with a method and fields, or a request of the caller.
enum UploadTarget: Sendable {
    case plain(any HTTPSession.URLConvertible, HTTPSession.Method, HTTPSession.Headers?, RequestSource.Modifier?)
    case converted(any HTTPSession.URLRequestConvertible)

    init(
        _ url: any HTTPSession.URLConvertible, _ method: HTTPSession.Method, _ headers: HTTPSession.Headers?,
        _ modifier: RequestSource.Modifier?
    ) {
        self = .plain(url, method, headers, modifier)
    }

    init(_ request: any HTTPSession.URLRequestConvertible) { self = .converted(request) }

    func source(_ content: @escaping @Sendable () throws -> RequestContent, isBlocking: Bool, spoolFolder: URL?) -> RequestSource {
        switch self {
        case .plain(let url, let method, let headers, let modifier):
            .plain(url, method, headers, body: content, isBlocking: isBlocking, modifier)
        case .converted(let request): .converted(request, body: content, isBlocking: isBlocking, spoolFolder: spoolFolder)
        }
    }
}

extension URLRequest {
    /// Nil if it is Foundation's default. Limited to a billion seconds: a `Duration` cannot be made from more, such as `infinity`.
    var ownTimeout: Duration? { self.timeoutInterval == 60 ? nil : .seconds(min(max(0, self.timeoutInterval), 1_000_000_000)) }
}

/// A body with its type, and its temporary file if it has one.
struct RequestContent: Sendable {
    var body: RequestBody
    /// The value of Content-Type; nil if unknown.
    var type: String?
    var spool: TemporaryFile?

    static var none: RequestContent { RequestContent(body: .none) }

    init(body: RequestBody, type: String? = nil, spool: TemporaryFile? = nil) {
        self.body = body
        self.type = type
        self.spool = spool
    }

    /// A file of the caller, read when it is sent.
    init(file: URL) throws {
        guard file.isFileURL else {
            throw WiretapeError(.requestBody, "\"\(file.absoluteString)\" is not a file URL: make it with URL(fileURLWithPath:)")
        }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: file.path, isDirectory: &isFolder) else {
            throw WiretapeError(.requestBody, "there is no file \"\(file.path)\": pass the path of a readable one")
        }
        guard !isFolder.boolValue else { throw WiretapeError(.requestBody, "\"\(file.path)\" is a folder: pass the path of a file in it") }
        let attributes = try FileManager.default.attributesOfItem(atPath: file.path)
        guard let size = (attributes[.size] as? NSNumber)?.intValue, FileManager.default.isReadableFile(atPath: file.path) else {
            throw WiretapeError(.requestBody, "the file \"\(file.path)\" cannot be read: pass the path of a readable one")
        }
        self.init(body: .file(file, size: size))
    }

    init(spooling stream: InputStream, folder: URL?) throws {
        let file = try stream.spooled(in: folder)
        self.init(body: .file(URL(fileURLWithPath: file.path), size: file.size), spool: file)
    }

    /// A form: in memory up to the threshold in bytes, in a file above it.
    init(_ form: FormData, threshold: Int, folder: URL?) throws {
        switch try form.encode(threshold: threshold, folder: folder?.path) {
        case .memory(let bytes): self.init(body: .data(Data(bytes)), type: form.contentType)
        case .file(let file):
            self.init(body: .file(URL(fileURLWithPath: file.path), size: file.size), type: form.contentType, spool: file)
        }
    }
}

extension InputStream {
    /// How many bytes are read at once.
    private static let pieceSize = 64 << 10

    /// All bytes, in a file that is removed with the last reference to it.
    func spooled(in folder: URL?) throws -> TemporaryFile {
        try TemporaryFile(form: folder?.path) { write in try self.read { try write($0) } }
    }

    /// Never reads `streamError`: if there is none, Foundation on Linux crashes.
    private func read(_ take: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard self.streamStatus == .notOpen else {
            throw WiretapeError(
                .requestBody, "the body stream was already opened and cannot be read twice: pass data or a file")
        }
        self.open()
        defer { self.close() }
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.pieceSize, alignment: 16)
        defer { piece.deallocate() }
        guard let start = piece.baseAddress else { return }
        while true {
            let count = self.read(start.assumingMemoryBound(to: UInt8.self), maxLength: piece.count)
            guard count >= 0 else {
                throw WiretapeError(.requestBody, "the body stream could not be read to its end: pass data or a file")
            }
            guard count > 0 else { return }
            try take(UnsafeRawBufferPointer(rebasing: piece.prefix(count)))
        }
    }
}
