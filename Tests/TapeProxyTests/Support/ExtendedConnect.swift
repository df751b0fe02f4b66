/// An HTTP/2 client with one stream, a WebSocket (RFC 8441), in frames that the test writes itself.
///
/// Supports only the part of HPACK that it sends: fields that are in no table. Reads the status if a static entry has it.
final class ExtendedConnect {
    private let connection: RawConnection
    private var input: [UInt8] = []
    private var code: Int?
    private var hasEnded = false
    private var wasReset = false

    init(_ connection: RawConnection, authority: String, path: String) throws {
        self.connection = connection
        let fields = [
            (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"), (":path", path), (":authority", authority),
            // As haproxy forwards them, although RFC 8441, 5 does not use them.
            ("sec-websocket-version", "13"), ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ]
        var block: [UInt8] = []
        for (name, value) in fields { block += [0] + Self.string(name) + Self.string(value) }
        try connection.send(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + Self.frame(4, 0, []) + Self.frame(1, 4, block, stream: 1))
    }

    private static func string(_ text: String) -> [UInt8] { [UInt8(text.utf8.count)] + Array(text.utf8) }

    private static func frame(_ type: UInt8, _ flags: UInt8, _ payload: [UInt8], stream: UInt8 = 0) -> [UInt8] {
        let size = payload.count
        return [UInt8(size >> 16), UInt8(size >> 8 & 255), UInt8(size & 255), type, flags, 0, 0, 0, stream] + payload
    }

    func send(_ bytes: [UInt8]) throws { try self.connection.send(Self.frame(0, 0, bytes, stream: 1)) }

    func end() throws { try self.connection.send(Self.frame(0, 1, [], stream: 1)) }

    func status() throws -> Int? {
        while self.code == nil { try self.readFrame() }
        return self.code
    }

    func read(count: Int) throws -> [UInt8] {
        while self.input.count < count {
            guard !self.hasEnded, !self.wasReset else { throw RawError("the stream ended after \(self.input.count) of \(count) bytes") }
            try self.readFrame()
        }
        defer { self.input.removeFirst(count) }
        return Array(self.input.prefix(count))
    }

    /// Waits until the peer ends the stream, without a reset.
    func expectEnd() throws {
        while !self.hasEnded, !self.wasReset { try self.readFrame() }
        guard self.input.isEmpty, !self.wasReset else {
            throw RawError("\(self.input.count) bytes, or a reset, came in the place of the end")
        }
    }

    private func readFrame() throws {
        let head = try self.connection.read(count: 9)
        let payload = try self.connection.read(count: Int(head[0]) << 16 | Int(head[1]) << 8 | Int(head[2]))
        switch head[3] {
        case 0:
            self.input += payload
            if head[4] & 1 != 0 { self.hasEnded = true }
        case 1:
            // RFC 7541, A: 0x88 is :status 200.
            self.code = payload.first == 0x88 ? 200 : 0
            if head[4] & 1 != 0 { self.hasEnded = true }
        case 3: self.wasReset = true
        case 4 where head[4] & 1 == 0: try self.connection.send(Self.frame(4, 1, []))
        case 7: throw RawError("the connection is over: GOAWAY \(payload)")
        default: break
        }
    }
}
