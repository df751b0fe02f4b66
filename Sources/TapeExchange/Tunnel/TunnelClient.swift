public import CassetteModel

/// Asks a proxy for a connection to an origin: takes bytes and returns what to do.
public protocol TunnelClient: Sendable {
    /// The bytes that the client sends first.
    var greeting: [UInt8] { get }
    /// Takes the proxy's bytes from the front of the input. After `open`, the rest of the input belongs to the origin.
    mutating func receive(_ input: inout ArraySlice<UInt8>) -> TunnelStep
}

public enum TunnelStep: Sendable, Hashable {
    case needsMore
    case send([UInt8])
    /// All following bytes belong to the origin.
    case open
    case failed(TunnelProblem)
}

/// Why a proxy did not open a tunnel.
public enum TunnelProblem: Sendable, Hashable {
    /// The answer is not in the expected protocol.
    case notThisProtocol
    /// The proxy requires a user, or rejects this one. Contains the schemes that it names, which are empty for SOCKS.
    case needsLogin([String])
    /// The proxy does not allow this tunnel, in its own words.
    case refused(String)
    /// The request has passed too many proxies that point to each other.
    case ring
    /// The proxy could not reach the origin, in its own words.
    case unreachable(String)
}

/// The client side of CONNECT (RFC 9110, 9.3.6).
public struct ConnectClient: TunnelClient {
    private let authority: String
    private let authorization: String?
    private let hop: Int?
    private let limits = Limits()
    private var parser = HeadParser(limits: Limits())
    private var interimCount = 0

    /// - Parameters:
    ///   - authority: `HOST:PORT`.
    ///   - authorization: the value of the `Proxy-Authorization` field.
    ///   - hop: this proxy's number in the chain of proxies.
    public init(authority: String, authorization: String? = nil, hop: Int? = nil) {
        self.hop = hop
        self.authority = authority
        self.authorization = authorization
    }

    public var greeting: [UInt8] {
        var fields = self.authorization.map { "Proxy-Authorization: \($0)\r\n" } ?? ""
        if let hop { fields += "\(ProxyHop.fieldName): \(hop)\r\n" }
        return Array("CONNECT \(self.authority) HTTP/1.1\r\nHost: \(self.authority)\r\n\(fields)\r\n".utf8)
    }

    public mutating func receive(_ input: inout ArraySlice<UInt8>) -> TunnelStep {
        do throws(MessageError) {
            while true {
                let result = input.withUnsafeBytes { bytes in
                    Result { () throws(MessageError) in try self.parser.parseResponse(bytes) }
                }
                guard let parsed = try result.get() else { return .needsMore }
                input = input.dropFirst(parsed.consumed)
                // RFC 9110, 15.2: interim responses may precede the final one.
                guard parsed.head.status >= 200 else {
                    self.interimCount += 1
                    guard self.interimCount <= self.limits.interimResponses else { return .failed(.notThisProtocol) }
                    continue
                }
                return (200...299).contains(parsed.head.status) ? .open : .failed(self.problem(parsed.head))
            }
        } catch {
            return .failed(.notThisProtocol)
        }
    }

    private func problem(_ head: ResponseHead) -> TunnelProblem {
        let line = "\(head.status) \(String(decoding: head.reason.filter { ASCII.isVisible($0) || $0 == ASCII.space }, as: UTF8.self))"
        switch head.status {
        case 407: return .needsLogin(ProxyHop.schemes(head.fields))
        // tinyproxy refuses an unknown user like this.
        case 401 where self.authorization != nil: return .needsLogin([])
        case 508: return .ring
        case 500...599: return .unreachable(line)
        default: return .refused(line)
        }
    }
}

/// A proxy that requests are sent to with their absolute URL (RFC 9112, 3.2.2).
public struct ProxyHop: Sendable, Hashable {
    public let origin: Origin
    /// The value of the `Proxy-Authorization` field.
    public let authorization: String?
    /// Its number in the chain of proxies, counted by each Wiretape proxy.
    public let number: Int

    /// Lets Wiretape proxies that point to each other detect the loop. Only for them: it is never sent to an origin.
    public static let fieldName = "Wiretape-Hops"
    public static let limit = 8

    public init(to origin: Origin, authorization: String?, number: Int) {
        self.origin = origin
        self.authorization = authorization
        self.number = number
    }

    /// How many proxies the request claims to have passed; 0 if the value is not a number.
    public static func count(_ fields: HeaderFields) -> Int {
        fields.first("wiretape-hops").flatMap { UInt16($0) }.map(Int.init) ?? 0
    }

    /// The authentication schemes that a proxy asks for (RFC 9110, 11.7.1).
    public static func schemes(_ fields: HeaderFields) -> [String] {
        (0..<fields.count).filter { fields.isNamed("proxy-authenticate", at: $0) }.compactMap { index in
            let name = fields.valueBytes(at: index).prefix(while: ASCII.isToken)
            return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
        }
    }
}
