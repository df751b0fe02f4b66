#if AsyncHTTPClient
public import AsyncHTTPClient
internal import CassetteFormat
internal import CassetteModel
internal import Foundation
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import NIOSSL
public import TapeTrust
public import Wiretape

/// Sends requests with async-http-client: a network for servers, and for Linux, where some responses crash a process that uses URLSession.
///
///     let session = HTTPSession(transport: AsyncHTTPClientTransport())
///     let recording = HTTPSession(transport: RecordingTransport(cassette, around: AsyncHTTPClientTransport()))
///
/// Sees duplicate header fields and trailers as they arrived, speaks HTTP/1.1 and HTTP/2 (by ALPN), presents client certificates and pins
/// server keys. Decodes gzip and deflate, and with the trait Codings also br and zstd. The session handles redirects, cookies, credentials
/// and timeouts.
public final class AsyncHTTPClientTransport: AsyncTransport {
    /// How connections are made.
    public struct Configuration: Sendable {
        /// For servers that ask for a client certificate (RFC 8446, 4.4.2).
        public var clientIdentity: ClientIdentity?
        /// PEM files with certificate authorities; nil for those of the system.
        public var trustedRoots: [String]?
        /// Each https server must have one of these keys. Its certificate also has to be valid.
        public var pins: [PublicKeyPin] = []
        /// Whether connections use HTTP/1.1 although the server offers HTTP/2.
        public var onlyHTTP1 = false

        public init() {}
    }

    /// The certificate chain and the private key of a client, as PEM files without a passphrase.
    public struct ClientIdentity: Sendable, Hashable {
        public var certificates: String
        public var privateKey: String

        public init(certificates: String, privateKey: String) {
            self.certificates = certificates
            self.privateKey = privateKey
        }
    }

    private let client: HTTPClient
    /// For WebSockets; nil if the client belongs to the caller.
    private let connections: SocketConnections?
    /// Whether the client is shut down with this object.
    private let isOwn: Bool

    /// Creates a client of its own, on the event loops that the whole process shares. Its connections end with it.
    ///
    /// - Throws: `TransportFailure` naming a file of certificates or keys that cannot be read.
    public init(configuration: Configuration = Configuration()) throws(TransportFailure) {
        let tls = try Self.tls(configuration)
        var settings = HTTPClient.Configuration(
            tlsConfiguration: tls, redirectConfiguration: .disallow, decompression: .disabled)
        if configuration.onlyHTTP1 { settings.httpVersion = .http1Only }
        // If there is no server, the request fails at once: the session decides when to try again.
        settings.connectionPool.retryConnectionEstablishment = false
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 64
        let pins = configuration.pins
        if !pins.isEmpty {
            settings.http1_1ConnectionDebugInitializer = { PinnedKeys(pins).check($0) }
            settings.http2ConnectionDebugInitializer = { PinnedKeys(pins).check($0) }
        }
        self.client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
        self.connections = SocketConnections(tls, pins: pins.isEmpty ? nil : PinnedKeys(pins))
        self.isOwn = true
    }

    /// - Parameter client: is not shut down with this object. It must not follow redirects, since the session does, and has to decode the
    ///   content codings that requests accept.
    public init(client: HTTPClient) {
        self.client = client
        self.connections = nil
        self.isOwn = false
    }

    deinit {
        // A client must be shut down before it is released. Requests that were running have ended by now, since each retains this object.
        if self.isOwn { self.client.shutdown { _ in } }
    }

    private static func tls(_ configuration: Configuration) throws(TransportFailure) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        if let identity = configuration.clientIdentity {
            tls.certificateChain = try self.read(identity.certificates, "certificates") {
                try NIOSSLCertificate.fromPEMFile($0).map { .certificate($0) }
            }
            tls.privateKey = try self.read(identity.privateKey, "a private key") {
                .privateKey(try NIOSSLPrivateKey(file: $0, format: .pem))
            }
        }
        if let roots = configuration.trustedRoots {
            var certificates: [NIOSSLCertificate] = []
            for file in roots { certificates += try self.read(file, "certificates") { try NIOSSLCertificate.fromPEMFile($0) } }
            tls.trustRoots = .certificates(certificates)
        }
        return tls
    }

    private static func read<Value>(_ file: String, _ what: String, _ read: (String) throws -> Value) throws(TransportFailure) -> Value {
        do {
            return try read(file)
        } catch {
            throw TransportFailure(
                .unsupported, "\"\(file)\" has no \(what) that can be read: name a file of PEM without a passphrase", cause: error)
        }
    }

    public func response(to request: TransportRequest) async throws -> TransportResponse {
        let answer: HTTPClientResponse
        do {
            answer = try await self.client.execute(try Self.outgoing(request), deadline: .distantFuture)
        } catch {
            throw NetworkError.failure(error, of: request, isAnswered: false)
        }
        let head = HTTPSession.Response(
            url: request.url, status: Int(answer.status.code), reason: answer.status.reasonPhrase,
            headers: HTTPSession.Headers(answer.headers.map { HTTPSession.Header(name: $0.name, value: $0.value) }))
        // The pieces of the body retain the transport, so that nothing is released while they arrive.
        let pieces = BodyPieces(answer.body.makeAsyncIterator(), of: request, self, try self.decoder(of: head, for: request))
        var response = TransportResponse(head, body: AsyncThrowingStream { try await pieces.next() })
        let body = answer.body
        response.trailers = { HTTPSession.Headers((body.trailers ?? [:]).map { HTTPSession.Header(name: $0.name, value: $0.value) }) }
        return response
    }

    /// Removes the content codings; nil if there are none, or if the client removes them.
    private func decoder(of head: HTTPSession.Response, for request: TransportRequest) throws(TransportFailure) -> ContentDecoder? {
        // No content follows these, whatever their fields describe (RFC 9110, 6.4.1).
        guard self.isOwn, request.method != "HEAD", head.status != 204, head.status != 304 else { return nil }
        let fields = HeaderFields(head.headers.values(for: "Content-Encoding").map { "Content-Encoding: \($0)" })
        guard ContentEncoding(fields) != .none else { return nil }
        return try ContentDecoder(ContentEncoding(fields), of: request)
    }

    // MARK: The request

    private static func outgoing(_ request: TransportRequest) throws(TransportFailure) -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(url: request.url.absoluteString)
        outgoing.method = HTTPMethod(rawValue: request.method)
        for header in request.headers.headers {
            // The client sets these from the body.
            guard !["content-length", "transfer-encoding"].contains(header.name.lowercased()) else { continue }
            let isCodings = header.name.lowercased() == "accept-encoding"
            outgoing.headers.add(name: header.name, value: isCodings ? self.codings(header.value) : header.value)
        }
        switch request.body {
        case .none: break
        case .data(let data): outgoing.body = .bytes(ByteBuffer(bytes: data))
        case .file(let file, let size):
            outgoing.body = .stream(FilePieces(path: file.path, request: request), length: .known(Int64(size)))
        case .unobservable:
            throw TransportFailure(
                .body, "the body of \(request.method) \"\(request.url.host ?? "")\" cannot be read: use a session of Wiretape for it")
        }
        return outgoing
    }

    /// The codings of the request that can be decoded here. The server must not be asked for others, since nobody would decode them.
    private static func codings(_ value: String) -> String {
        let known = value.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { ContentDecoder.names.contains($0.prefix { $0 != ";" }.lowercased().trimmingCharacters(in: .whitespaces)) }
        return known.isEmpty ? "identity" : known.joined(separator: ", ")
    }
}

/// The pieces of a response's body. Translates errors into those that the session knows.
private final class BodyPieces: Sendable {
    private let state: IteratorBox<HTTPClientResponse.Body.AsyncIterator>
    private let request: TransportRequest
    private let transport: AsyncHTTPClientTransport
    private let decoder: ContentDecoder?

    init(
        _ iterator: HTTPClientResponse.Body.AsyncIterator, of request: TransportRequest, _ transport: AsyncHTTPClientTransport,
        _ decoder: ContentDecoder?
    ) {
        self.state = IteratorBox(iterator)
        self.request = request
        self.transport = transport
        self.decoder = decoder
    }

    func next() async throws -> Data? {
        while let bytes = try await self.received() {
            guard let decoder = self.decoder else { return bytes }
            let content = try decoder.push(bytes)
            if !content.isEmpty { return content }
        }
        try self.decoder?.finish()
        return nil
    }

    private func received() async throws -> Data? {
        do {
            guard let buffer = try await self.state.next() else { return nil }
            return Data(buffer.readableBytesView)
        } catch {
            // A caller's client may try to decode the absent body of a response to HEAD, and fail.
            if self.request.method == "HEAD" { return nil }
            throw NetworkError.failure(error, of: self.request, isAnswered: true)
        }
    }
}

/// Removes the content codings of a response's body as it arrives.
// SAFETY: used by the pieces of one body, which are requested one after another.
private final class ContentDecoder: @unchecked Sendable {
    /// The codings that this build decodes.
    static let names: Set<String> = {
        var names: Set<String> = ["gzip", "deflate", "identity", "*"]
        if DecoderChain([.br], limits: InflateLimits()) != nil { names.formUnion(["br", "zstd"]) }
        return names
    }()

    /// The size of a response is for the caller to limit, as it is without a coding.
    private static let limits = InflateLimits(output: .max, ratio: .max)

    private let chain: DecoderChain
    private let request: TransportRequest
    private var isFed = false

    init(_ encoding: ContentEncoding, of request: TransportRequest) throws(TransportFailure) {
        guard case .coded(let names) = encoding, let chain = DecoderChain(names, limits: Self.limits) else {
            throw Self.failure(
                of: request, "the response has a content coding that this build cannot decode: use the trait Codings, or accept others only"
            )
        }
        self.chain = chain
        self.request = request
    }

    func push(_ bytes: Data) throws -> Data {
        var content = Data()
        self.isFed = self.isFed || !bytes.isEmpty
        _ = try bytes.withUnsafeBytes { try self.chain.push($0) { content.append(contentsOf: $0) } }
        // Return the part that could be decoded first.
        if content.isEmpty, self.chain.problem != nil { throw self.failure }
        return content
    }

    func finish() throws(TransportFailure) {
        if self.isFed, !self.chain.finish() { throw self.failure }
    }

    private var failure: TransportFailure {
        let problem = self.chain.problem.map { "\($0.name): \($0.problem)" } ?? "truncated"
        return Self.failure(of: self.request, "the response cannot be decoded (\(problem))")
    }

    private static func failure(of request: TransportRequest, _ problem: String) -> TransportFailure {
        TransportFailure(.network(.malformed), "\(request.method) to \"\(NetworkError.place(request))\" failed: \(problem)")
    }
}

/// An iterator that one reader after another advances.
// SAFETY: a stream made with `init(unfolding:)` asks for one element at a time, so that the iterator is never used twice at once.
private final class IteratorBox<Iterator: AsyncIteratorProtocol>: @unchecked Sendable where Iterator.Element: Sendable {
    private var iterator: Iterator

    init(_ iterator: Iterator) { self.iterator = iterator }

    func next() async throws -> Iterator.Element? {
        var iterator = self.iterator
        defer { self.iterator = iterator }
        return try await iterator.next()
    }
}

/// A file in pieces, which are read on threads that may block.
private struct FilePieces: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    let path: String
    let request: TransportRequest

    struct AsyncIterator: AsyncIteratorProtocol {
        let file: FileReader
        let request: TransportRequest

        mutating func next() async throws -> ByteBuffer? {
            do {
                let file = self.file
                return try await NIOThreadPool.singleton.runIfActive { try file.next() }
            } catch {
                throw TransportFailure(
                    .body, "the file with the request's body could not be read (\(error)): keep it until the request has ended",
                    cause: error)
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(file: FileReader(path: self.path), request: self.request) }
}

// SAFETY: pieces are requested one after another, and each is read on one thread.
private final class FileReader: @unchecked Sendable {
    private static let size = 128 << 10

    private let path: String
    private var handle: FileHandle?
    private var isOver = false

    init(path: String) { self.path = path }

    func next() throws -> ByteBuffer? {
        guard !self.isOver else { return nil }
        if self.handle == nil { self.handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: self.path)) }
        guard let data = try self.handle?.read(upToCount: Self.size), !data.isEmpty else {
            self.isOver = true
            try self.handle?.close()
            return nil
        }
        return ByteBuffer(bytes: data)
    }
}

extension AsyncHTTPClientTransport: WebSocketTransport {
    /// Opens a WebSocket on a connection of its own, with the roots, pins and identity of the configuration.
    ///
    /// - Throws: `TransportFailure` of the kind `unsupported` if the client belongs to the caller, since its settings cannot be read.
    public func open(_ request: TransportRequest, protocols: [String]) async throws -> any WebSocketConnection {
        guard let connections = self.connections else {
            throw TransportFailure(
                .unsupported,
                "the settings of an HTTPClient are not known here, so no WebSocket was opened: make the transport with AsyncHTTPClientTransport(configuration:)"
            )
        }
        do {
            return try await WireSocket.open(request, protocols: protocols, over: connections.connect(request))
        } catch let refusal as HTTPSession.WebSocket.Refusal {
            throw refusal
        } catch {
            throw NetworkError.failure(error, of: request, isAnswered: false)
        }
    }
}
#endif
