public import CassetteModel

/// Asks a proxy for a connection to an origin: bytes in, what to do out.
public protocol TunnelClient: Sendable {
    /// What the client sends first.
    var greeting: [UInt8] { get }
    /// Takes what the proxy sent from the front of the input; after `open`, the rest of it is the origin's.
    mutating func receive(_ input: inout ArraySlice<UInt8>) -> TunnelStep
}

public enum TunnelStep: Sendable, Hashable {
    case needsMore
    case send([UInt8])
    /// What comes from now on is the origin's.
    case open
    case failed(TunnelProblem)
}

/// Why a proxy opened no tunnel.
public enum TunnelProblem: Sendable, Hashable {
    /// What it answered is not what it was taken for.
    case notThisProtocol
    /// It takes no user, or not this one; the schemes that it names, which are empty for SOCKS.
    case needsLogin([String])
    /// It does not let this tunnel through, in its own words.
    case refused(String)
    /// The request has passed too many proxies, which name each other.
    case ring
    /// It could not reach the origin, in its own words.
    case unreachable(String)
}

/// CONNECT from the client's side (RFC 9110, 9.3.6).
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
    ///   - hop: the number of this one among the proxies on the way.
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
                // RFC 9110, 15.2: interim answers may come before the final one.
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
        // So tinyproxy refuses a user that it does not know.
        case 401 where self.authorization != nil: return .needsLogin([])
        case 508: return .ring
        case 500...599: return .unreachable(line)
        default: return .refused(line)
        }
    }
}

/// A proxy that requests are sent to with their whole URL (RFC 9112, 3.2.2).
public struct ProxyHop: Sendable, Hashable {
    public let origin: Origin
    /// The value of the `Proxy-Authorization` field.
    public let authorization: String?
    /// Its place among the proxies on the way, which each of Wiretape's counts.
    public let number: Int

    /// Tells proxies of Wiretape that name each other from a long way: it is for them alone, and no origin gets it.
    public static let fieldName = "Wiretape-Hops"
    public static let limit = 8

    public init(to origin: Origin, authorization: String?, number: Int) {
        self.origin = origin
        self.authorization = authorization
        self.number = number
    }

    /// How many proxies a request says it has passed; 0 if that is no number.
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
