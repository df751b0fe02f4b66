internal import CassetteModel
internal import NIOCore
internal import TapeExchange

/// How a client opened its tunnel, which determines the form of the answer.
enum TunnelOpening {
    /// With CONNECT.
    case connect
    /// With SOCKS 5.
    case socks
    /// The client connected to another server, and the kernel redirected the connection to this proxy.
    case transparent

    /// The bytes that tell the client that the tunnel is open.
    var accepted: ByteBuffer {
        switch self {
        case .connect: ByteBuffer(string: "HTTP/1.1 200 Connection established\r\n\r\n")
        case .socks: ByteBuffer(bytes: SOCKS5.Reply.granted.bytes)
        case .transparent: ByteBuffer()
        }
    }

    /// Sends an answer in place of the tunnel and ends the connection.
    func refuse(_ client: any ClientStream, with answer: ProxyAnswer) {
        // For CONNECT, the client's own `send` counts the answer.
        if self != .connect { client.peer.session.count { $0.answered += 1 } }
        switch self {
        case .connect:
            client.send(answer, isFinal: true)
            client.finish()
        case .socks:
            client.write(ByteBuffer(bytes: Self.reply(answer).bytes))
            client.closeAfterFlush(isCut: false)
        case .transparent: client.closeAfterFlush(isCut: true)
        }
    }

    private static func reply(_ answer: ProxyAnswer) -> SOCKS5.Reply {
        switch answer.error {
        case "refused": .refused
        case "dns", "unreachable", "timeout": .hostUnreachable
        default: .notAllowed
        }
    }
}

/// Serves a SOCKS 5 client: reads its login and its request, and then continues as after a CONNECT.
///
/// Not Sendable: lives on its event loop.
final class SOCKSExchange: TunnelExchange {
    private let client: any InterceptableStream
    private let proxy: ProxyContext
    private var state: SOCKSServer
    private var authorization: String?
    private let began: NIODeadline
    private var isOver = false
    let deadline: NIODeadline

    let takesBytes = true

    /// The request has not arrived yet, so stopping the proxy does not wait for it.
    var isIdle: Bool { !self.isOver }

    init(client: any InterceptableStream) {
        self.client = client
        self.proxy = client.peer.session
        self.state = SOCKSServer(needsLogin: client.peer.needsCredentials)
        self.began = self.proxy.now
        self.deadline = self.proxy.now + .seconds(Int64(self.proxy.limits.requestHead))
    }

    func start() { self.client.setReading(true) }

    func clientBytes(_ input: inout ByteBuffer) {
        while !self.isOver, input.readableBytes > 0 {
            var bytes = Array(input.readableBytesView)[...]
            let step = self.state.receive(&bytes)
            input.moveReaderIndex(forwardBy: input.readableBytes - bytes.count)
            switch step {
            case .needsMore: return
            case .send(let answer): self.send(answer)
            case .login(let user, let password): self.login(user, password)
            case .connect(let host, let port, let asked): self.connect(host, port, for: asked)
            case .refuse(let answer, let reason): self.refuse(answer, reason)
            }
        }
    }

    private func send(_ bytes: [UInt8]) {
        self.client.write(ByteBuffer(bytes: bytes))
        self.client.flush()
    }

    private func login(_ user: [UInt8], _ password: [UInt8]) {
        let authorization = "Basic \(BasicCredentials.encoded(user + [UInt8(ascii: ":")] + password))"
        guard self.client.peer.admits(authorization) else {
            return self.refuse(self.state.rejected(), "its user and password are not valid for this port")
        }
        self.authorization = authorization
        self.send(self.state.accepted())
    }

    private func refuse(_ answer: [UInt8], _ reason: String) {
        self.isOver = true
        self.proxy.count { $0.answered += 1 }
        self.proxy.diagnosis.remark("a SOCKS client was refused: \(reason).")
        self.client.write(ByteBuffer(bytes: answer))
        self.client.closeAfterFlush(isCut: false)
    }

    private func connect(_ host: SOCKS5.Host, _ port: Int, for asked: SOCKS5.Request) {
        self.isOver = true
        let name: String?
        switch host {
        case .name(let text): name = text
        case .address(let bytes): name = (try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: port))?.ipAddress
        }
        guard let name else { return self.refuse(SOCKS5.Reply.unknownAddressType.bytes, "its address cannot be read") }
        let authority = ListenAddress(host: name, port: port).description
        var fields = HeaderFields()
        fields.append(name: "Host", value: authority)
        if let authorization { fields.append(name: "Proxy-Authorization", value: authorization) }
        let head = RequestHead(method: "CONNECT", target: authority, version: .http11, fields: fields)
        do throws(MessageError) {
            let request = try IncomingRequest(head, start: self.began, opening: .socks)
            let exchange: any ClientExchange
            switch asked {
            case .watch: exchange = self.watch(request)
            case .connectIsolated(let address):
                self.client.peer.guest = ClientPeer.Guest(address: address.flatMap { IPAddress(bytes: $0) })
                exchange = ExchangeRouter(stream: self.client).exchange(for: request)
            case .connect: exchange = ExchangeRouter(stream: self.client).exchange(for: request)
            }
            self.client.become(exchange)
            exchange.start()
        } catch {
            self.refuse(SOCKS5.Reply.failed.bytes, "it asks for an invalid host (\(error.message))")
        }
    }

    private func watch(_ request: IncomingRequest) -> any ClientExchange {
        if let refusal = self.client.peer.enterSession(request) {
            return RefusedTunnel(client: self.client, opening: .socks, answer: refusal)
        }
        return SessionWatchExchange(client: self.client)
    }

    func clientLeft(_ reason: String) { self.isOver = true }

    func deadlinePassed() { self.client.close() }
}

/// Answers a client in place of opening its tunnel. Not Sendable: lives on its event loop.
final class RefusedTunnel: TunnelExchange {
    private let client: any ClientStream
    private let opening: TunnelOpening
    private let answer: ProxyAnswer

    let takesBytes = false
    let deadline: NIODeadline

    init(client: any ClientStream, opening: TunnelOpening, answer: ProxyAnswer) {
        self.client = client
        self.opening = opening
        self.answer = answer
        self.deadline = client.peer.session.stallDeadline
    }

    func start() { self.opening.refuse(self.client, with: self.answer) }

    func clientBytes(_ input: inout ByteBuffer) {}
    func clientLeft(_ reason: String) {}
    func deadlinePassed() { self.client.close() }
}
