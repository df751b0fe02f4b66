import CassetteModel
import NIOCore
import TapeExchange
import TapeHTTP2

/// One end of HTTP/2 on a socket, controlled by a test, which can wait for events.
final class HTTP2Peer {
    let codec: HTTP2Connection
    private let connection: RawConnection
    private(set) var heads: [Int32: HTTP2FieldSection] = [:]
    private(set) var trailers: [Int32: HTTP2FieldSection] = [:]
    private(set) var bodies: [Int32: [UInt8]] = [:]
    private(set) var ended: Set<Int32> = []
    private(set) var closed: [Int32: HTTP2ErrorCode] = [:]
    /// Streams whose own answers have been sent as far as they go, and that broke.
    private(set) var broken: Set<Int32> = []
    private(set) var hasGoAway = false
    private(set) var isOver = false
    /// Streams whose bodies get no credit, so that their peer has to wait.
    var stalled: Set<Int32> = []
    /// It has ended its side, and drops what it would send.
    var isSilent = false

    init(_ role: HTTP2Connection.Role, over connection: RawConnection, settings: HTTP2Connection.Settings = HTTP2Connection.Settings())
        throws
    {
        self.codec = try HTTP2Connection(role, settings: settings)
        self.connection = connection
    }

    /// Ends this side of the connection, and can still read.
    func closeOutput() { self.connection.closeOutput() }

    func reset() { self.connection.reset() }

    /// Sends a request for a URL to the proxy's own port.
    func request(_ url: String, method: String = "GET", _ lines: [String] = [], hasBody: Bool = false) throws -> Int32 {
        var head = RequestHead(method: method, target: "/" + url, version: .http2, fields: HeaderFields(lines))
        head.authority = "127.0.0.1"
        let id = try self.codec.request(
            HTTP2Fields(head, target: .origin("/" + url), origin: Origin(scheme: .http, host: "127.0.0.1", port: 80)), hasBody: hasBody)
        try self.flush()
        return id
    }

    func respond(_ id: Int32, _ status: Int = 200, _ lines: [String] = [], body: String? = nil, trailers: [String]? = nil) throws {
        let head = ResponseHead(version: .http2, status: status, reason: [], fields: HeaderFields(lines))
        self.codec.respond(id, HTTP2Fields(head), hasBody: body != nil)
        if let body {
            self.codec.send(id, ByteBuffer(string: body))
            self.codec.end(id, trailers: trailers.map { HTTP2Fields(trailers: HeaderFields($0)) })
        }
        try self.flush()
    }

    func flush() throws {
        while true {
            let (bytes, events) = try self.codec.takeOutput()
            self.note(events, ByteBuffer())
            guard bytes.readableBytes > 0 else { return }
            if !self.isSilent { try self.connection.send(Array(bytes.readableBytesView)) }
        }
    }

    /// Reads until the condition is true. Throws if that takes too long or if the connection ends first.
    func wait(for what: String, until isSo: (HTTP2Peer) -> Bool) throws {
        while !isSo(self) {
            guard let bytes = try self.next(what) else {
                self.isOver = true
                if isSo(self) { return }
                throw RawError("the connection ended before \(what)")
            }
            let buffer = ByteBuffer(bytes: bytes)
            self.note(try self.codec.receive(buffer), buffer)
            try self.flush()
        }
    }

    private func next(_ what: String) throws -> [UInt8]? {
        do {
            return try self.connection.next()
        } catch {
            let bodies = self.bodies.mapValues(\.count)
            throw RawError("\(error), waiting for \(what) with bodies of \(bodies), ended \(self.ended), closed \(self.closed)")
        }
    }

    private func note(_ events: [HTTP2Event], _ buffer: ByteBuffer) {
        for event in events {
            switch event {
            case .headers(let id, let section, let ends):
                if self.heads[id] == nil || self.heads[id]?.status.map({ $0 < 200 }) == true {
                    self.heads[id] = section
                } else {
                    self.trailers[id] = section
                }
                if ends { self.ended.insert(id) }
            case .data(let id, let range):
                self.bodies[id, default: []] += buffer.getBytes(at: buffer.readerIndex + range.lowerBound, length: range.count) ?? []
                if !self.stalled.contains(id) { self.codec.credit(id, range.count) }
            case .ended(let id): self.ended.insert(id)
            case .closed(let id, let code): self.closed[id] = code
            case .goAway: self.hasGoAway = true
            case .broken(let id): self.broken.insert(id)
            case .answered, .settings: break
            }
        }
    }

    func text(_ id: Int32) -> String { String(decoding: self.bodies[id] ?? [], as: UTF8.self) }
}
