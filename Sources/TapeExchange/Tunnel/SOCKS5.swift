/// The SOCKS 5 protocol elements that both sides share (RFC 1928, RFC 1929).
public enum SOCKS5 {
    static let version: UInt8 = 5
    /// The version of the user and password exchange (RFC 1929).
    static let loginVersion: UInt8 = 1

    enum Method {
        static let none: UInt8 = 0
        static let login: UInt8 = 2
        static let unacceptable: UInt8 = 0xFF
    }

    enum Command {
        static let connect: UInt8 = 1
        // Of no registry (RFC 1928, 4): from the process that isolates a program to the session that answers it.
        static let connectIsolated: UInt8 = 0x80
        static let watch: UInt8 = 0x81
    }

    /// What a client asks for.
    public enum Request: Sendable, Hashable {
        case connect
        /// A connection of an isolated program.
        ///
        /// - Parameter address: the one to which the program connected, 4 or 16 bytes; nil if the host is that address.
        case connectIsolated(address: [UInt8]?)
        /// No connection, but news of isolated programs.
        case watch

        fileprivate var command: UInt8 {
            switch self {
            case .connect: Command.connect
            case .connectIsolated: Command.connectIsolated
            case .watch: Command.watch
            }
        }

        /// What follows the port.
        fileprivate var rest: [UInt8] {
            switch self {
            case .connect, .watch: []
            case .connectIsolated(let address): [UInt8(address?.count ?? 0)] + (address ?? [])
            }
        }
    }

    /// The host that a client wants to connect to.
    public enum Host: Sendable, Hashable {
        case name(String)
        /// 4 or 16 bytes.
        case address([UInt8])

        /// Including the address type; nil for a name that is too long or empty.
        fileprivate var bytes: [UInt8]? {
            switch self {
            case .address(let address): return [address.count == 4 ? 1 : 4] + address
            case .name(let name):
                guard (1...255).contains(name.utf8.count) else { return nil }
                return [3, UInt8(name.utf8.count)] + name.utf8
            }
        }
    }

    /// A server's answer to a request (RFC 1928, 6).
    public enum Reply: UInt8, Sendable {
        case granted, failed, notAllowed, networkUnreachable, hostUnreachable, refused, expired, unknownCommand, unknownAddressType

        /// Does not reveal the bound address.
        public var bytes: [UInt8] { [SOCKS5.version, self.rawValue, 0, 1, 0, 0, 0, 0, 0, 0] }
    }

    /// Takes a host and a port from the front of the input, after a request's or an answer's first three bytes.
    ///
    /// - Returns: nil if they are incomplete.
    fileprivate static func takeAddress(_ input: inout ArraySlice<UInt8>) throws(UnknownAddressType) -> (host: Host, port: Int)? {
        guard let type = input.first else { return nil }
        let length: Int
        var start = input.startIndex + 1
        switch type {
        case 1: length = 4
        case 4: length = 16
        case 3:
            guard start < input.endIndex else { return nil }
            length = Int(input[start])
            start += 1
        default: throw UnknownAddressType()
        }
        guard input.endIndex - start >= length + 2 else { return nil }
        let bytes = input[start..<start + length]
        let port = Int(input[start + length]) << 8 | Int(input[start + length + 1])
        input = input[(start + length + 2)...]
        return (type == 3 ? .name(String(decoding: bytes, as: UTF8.self)) : .address(Array(bytes)), port)
    }

    fileprivate struct UnknownAddressType: Error {}
}

/// The server side of SOCKS 5 up to the request: takes bytes and returns what to do.
///
/// Does not open connections or check passwords; the caller does.
public struct SOCKSServer: Sendable {
    public enum Step: Sendable, Hashable {
        case needsMore
        case send([UInt8])
        /// Call `accepted` or `rejected` for the answer.
        case login(user: [UInt8], password: [UInt8])
        case connect(SOCKS5.Host, port: Int, SOCKS5.Request)
        /// Send this and close.
        case refuse([UInt8], reason: String)
    }

    private enum Phase { case greeting, login, request, over }

    private let needsLogin: Bool
    private var phase = Phase.greeting

    public init(needsLogin: Bool) {
        self.needsLogin = needsLogin
    }

    /// Takes one message from the front of the input.
    public mutating func receive(_ input: inout ArraySlice<UInt8>) -> Step {
        switch self.phase {
        case .greeting: self.greeting(&input)
        case .login: self.login(&input)
        case .request: self.request(&input)
        case .over: .needsMore
        }
    }

    private mutating func greeting(_ input: inout ArraySlice<UInt8>) -> Step {
        guard input.count >= 2 else { return .needsMore }
        let count = Int(input[input.startIndex + 1])
        guard input.count >= 2 + count else { return .needsMore }
        let methods = input.dropFirst(2).prefix(count)
        input = input.dropFirst(2 + count)
        if !self.needsLogin, methods.contains(SOCKS5.Method.none) {
            self.phase = .request
            return .send([SOCKS5.version, SOCKS5.Method.none])
        }
        // Without a required login, any login is accepted, because some clients always send one.
        guard methods.contains(SOCKS5.Method.login) else {
            self.phase = .over
            return .refuse(
                [SOCKS5.version, SOCKS5.Method.unacceptable], reason: "it offers no user and password, which this port requires")
        }
        self.phase = .login
        return .send([SOCKS5.version, SOCKS5.Method.login])
    }

    private mutating func login(_ input: inout ArraySlice<UInt8>) -> Step {
        guard input.count >= 2 else { return .needsMore }
        guard input[input.startIndex] == SOCKS5.loginVersion else { return self.refuse(.failed, "its login does not follow RFC 1929") }
        let userCount = Int(input[input.startIndex + 1])
        guard input.count >= 3 + userCount else { return .needsMore }
        let passwordCount = Int(input[input.startIndex + 2 + userCount])
        guard input.count >= 3 + userCount + passwordCount else { return .needsMore }
        let user = Array(input.dropFirst(2).prefix(userCount))
        let password = Array(input.dropFirst(3 + userCount).prefix(passwordCount))
        input = input.dropFirst(3 + userCount + passwordCount)
        return .login(user: user, password: password)
    }

    /// The answer to a correct login.
    public mutating func accepted() -> [UInt8] {
        self.phase = .request
        return [SOCKS5.loginVersion, 0]
    }

    /// The answer to a wrong login, after which the connection closes.
    public mutating func rejected() -> [UInt8] {
        self.phase = .over
        return [SOCKS5.loginVersion, 1]
    }

    private mutating func request(_ input: inout ArraySlice<UInt8>) -> Step {
        guard input.count >= 4 else { return .needsMore }
        guard input[input.startIndex] == SOCKS5.version else { return self.refuse(.failed, "its request is not a SOCKS 5 request") }
        let command = input[input.startIndex + 1]
        guard [SOCKS5.Command.connect, SOCKS5.Command.connectIsolated, SOCKS5.Command.watch].contains(command) else {
            return self.refuse(.unknownCommand, "it asks for a command other than CONNECT, such as UDP ASSOCIATE")
        }
        var rest = input.dropFirst(3)
        do {
            guard let (host, port) = try SOCKS5.takeAddress(&rest) else { return .needsMore }
            var request = SOCKS5.Request.connect
            if command == SOCKS5.Command.watch { request = .watch }
            if command == SOCKS5.Command.connectIsolated {
                guard let count = rest.popFirst().map(Int.init), rest.count >= count else { return .needsMore }
                guard [0, 4, 16].contains(count) else { return self.refuse(.unknownAddressType, "its address has an unknown type") }
                request = .connectIsolated(address: count == 0 ? nil : Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            input = rest
            self.phase = .over
            return .connect(host, port: port, request)
        } catch {
            return self.refuse(.unknownAddressType, "its address has an unknown type")
        }
    }

    private mutating func refuse(_ reply: SOCKS5.Reply, _ reason: String) -> Step {
        self.phase = .over
        return .refuse(reply.bytes, reason: reason)
    }
}

/// The client side of SOCKS 5: asks a proxy for a connection to a host.
public struct SOCKSClient: TunnelClient {
    private enum Phase { case method, login, reply, over }

    private let host: SOCKS5.Host
    private let port: Int
    private let login: (user: [UInt8], password: [UInt8])?
    private let asked: SOCKS5.Request
    private var phase = Phase.method

    public init(
        host: SOCKS5.Host, port: Int, login: (user: [UInt8], password: [UInt8])? = nil, for asked: SOCKS5.Request = .connect
    ) {
        self.asked = asked
        self.host = host
        self.port = port
        self.login = login
    }

    public var greeting: [UInt8] {
        self.login == nil
            ? [SOCKS5.version, 1, SOCKS5.Method.none] : [SOCKS5.version, 2, SOCKS5.Method.none, SOCKS5.Method.login]
    }

    public mutating func receive(_ input: inout ArraySlice<UInt8>) -> TunnelStep {
        switch self.phase {
        case .method: self.method(&input)
        case .login: self.loggedIn(&input)
        case .reply: self.reply(&input)
        case .over: .needsMore
        }
    }

    private mutating func method(_ input: inout ArraySlice<UInt8>) -> TunnelStep {
        guard input.count >= 2 else { return input.first ?? SOCKS5.version == SOCKS5.version ? .needsMore : self.fail(.notThisProtocol) }
        guard input[input.startIndex] == SOCKS5.version else { return self.fail(.notThisProtocol) }
        let method = input[input.startIndex + 1]
        input = input.dropFirst(2)
        switch method {
        case SOCKS5.Method.none: return self.request()
        case SOCKS5.Method.login:
            guard let login, login.user.count < 256, login.password.count < 256 else { return self.fail(.needsLogin([])) }
            self.phase = .login
            return .send(
                [SOCKS5.loginVersion, UInt8(login.user.count)] + login.user + [UInt8(login.password.count)] + login.password)
        default: return self.fail(.needsLogin([]))
        }
    }

    private mutating func loggedIn(_ input: inout ArraySlice<UInt8>) -> TunnelStep {
        guard input.count >= 2 else { return .needsMore }
        let isAccepted = input[input.startIndex + 1] == 0
        input = input.dropFirst(2)
        return isAccepted ? self.request() : self.fail(.needsLogin([]))
    }

    private mutating func request() -> TunnelStep {
        guard let host = self.host.bytes else { return self.fail(.refused("a name of more than 255 bytes")) }
        self.phase = .reply
        return .send(
            [SOCKS5.version, self.asked.command, 0] + host + [UInt8(self.port >> 8 & 0xFF), UInt8(self.port & 0xFF)] + self.asked.rest)
    }

    private mutating func reply(_ input: inout ArraySlice<UInt8>) -> TunnelStep {
        guard input.count >= 4 else { return .needsMore }
        guard input[input.startIndex] == SOCKS5.version else { return self.fail(.notThisProtocol) }
        guard input[input.startIndex + 1] == 0 else { return self.fail(Self.problem(input[input.startIndex + 1])) }
        var rest = input.dropFirst(3)
        do {
            guard try SOCKS5.takeAddress(&rest) != nil else { return .needsMore }
        } catch {
            return self.fail(.notThisProtocol)
        }
        input = rest
        self.phase = .over
        return .open
    }

    private static func problem(_ code: UInt8) -> TunnelProblem {
        switch SOCKS5.Reply(rawValue: code) {
        case .notAllowed: .refused("not allowed by its rules")
        case .networkUnreachable: .unreachable("network unreachable")
        case .hostUnreachable: .unreachable("host unreachable")
        case .refused: .unreachable("connection refused")
        case .expired: .unreachable("the time to live expired")
        case .failed: .unreachable("general failure")
        case .unknownCommand, .unknownAddressType, .granted, nil: .refused("reply \(code)")
        }
    }

    private mutating func fail(_ problem: TunnelProblem) -> TunnelStep {
        self.phase = .over
        return .failed(problem)
    }
}
