public import CassetteModel

/// What client and server have negotiated about deflated messages (RFC 7692, 7.1).
public struct PerMessageDeflate: Sendable, Hashable {
    static let name = "permessage-deflate"

    /// Whether each message of the side starts with an empty window.
    public var serverForgets: Bool
    public var clientForgets: Bool
    /// How far the side's messages look back, as a power of two: 8 to 15.
    public var serverWindowBits: Int
    public var clientWindowBits: Int

    public init(serverForgets: Bool = false, clientForgets: Bool = false, serverWindowBits: Int = 15, clientWindowBits: Int = 15) {
        self.serverForgets = serverForgets
        self.clientForgets = clientForgets
        self.serverWindowBits = serverWindowBits
        self.clientWindowBits = clientWindowBits
    }

    public func forgets(_ side: WebSocketSide) -> Bool { side == .client ? self.clientForgets : self.serverForgets }

    public func windowBits(_ side: WebSocketSide) -> Int { side == .client ? self.clientWindowBits : self.serverWindowBits }

    /// The parameters in a server's answer; nil for another extension, or for parameters that RFC 7692, 7.1 does not allow.
    public init?(answer: WebSocketExtension) {
        guard answer.name == Self.name else { return nil }
        self.init()
        var seen: Set<String> = []
        for parameter in answer.parameters {
            guard seen.insert(parameter.name).inserted else { return nil }
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil): self.serverForgets = true
            case ("client_no_context_takeover", nil): self.clientForgets = true
            case ("server_max_window_bits", let value?):
                guard let bits = Self.bits(value) else { return nil }
                self.serverWindowBits = bits
            case ("client_max_window_bits", let value?):
                guard let bits = Self.bits(value) else { return nil }
                self.clientWindowBits = bits
            default: return nil
            }
        }
    }

    /// RFC 7692, 7.1.2.1: a whole number from 8 to 15 without leading zeros.
    private static func bits(_ text: String) -> Int? {
        guard let bits = Int(text), (8...15).contains(bits), text == String(bits) else { return nil }
        return bits
    }

    /// The answer to the first acceptable offer, as close to the recorded answer as the offer allows; nil if none is acceptable.
    public static func answer(to offers: [WebSocketExtension], recorded: PerMessageDeflate) -> WebSocketExtension? {
        offers.lazy.compactMap { self.answer(to: $0, recorded: recorded) }.first
    }

    private static func answer(to offer: WebSocketExtension, recorded: PerMessageDeflate) -> WebSocketExtension? {
        guard offer.name == self.name else { return nil }
        var agreed = recorded
        // RFC 7692, 7.1.2.2: the server may limit the client's window only if the offer has this parameter.
        var limitsClient = false
        var limitsServer = recorded.serverWindowBits < 15
        var seen: Set<String> = []
        for parameter in offer.parameters {
            guard seen.insert(parameter.name).inserted else { return nil }
            switch (parameter.name, parameter.value) {
            case ("server_no_context_takeover", nil): agreed.serverForgets = true
            case ("client_no_context_takeover", nil): agreed.clientForgets = true
            case ("server_max_window_bits", let value?):
                guard let bits = self.bits(value) else { return nil }
                agreed.serverWindowBits = min(agreed.serverWindowBits, bits)
                limitsServer = true
            case ("client_max_window_bits", let value):
                guard let bits = value.map(self.bits) ?? 15 else { return nil }
                agreed.clientWindowBits = min(agreed.clientWindowBits, bits)
                limitsClient = agreed.clientWindowBits < 15
            default: return nil
            }
        }
        var answer = WebSocketExtension(self.name)
        if agreed.serverForgets { answer.parameters.append(.init("server_no_context_takeover")) }
        if agreed.clientForgets { answer.parameters.append(.init("client_no_context_takeover")) }
        if limitsServer { answer.parameters.append(.init("server_max_window_bits", String(agreed.serverWindowBits))) }
        if limitsClient { answer.parameters.append(.init("client_max_window_bits", String(agreed.clientWindowBits))) }
        return answer
    }
}

/// What the extensions of a WebSocket mean for its frames.
public struct WebSocketAgreement: Sendable, Hashable {
    /// nil if messages are not deflated, or cannot be inflated.
    public var deflate: PerMessageDeflate?
    /// Names of accepted extensions that are unknown here. Messages with reserved bits are kept as sent.
    public var unknown: [String]

    public init(deflate: PerMessageDeflate? = nil, unknown: [String] = []) {
        self.deflate = deflate
        self.unknown = unknown
    }

    /// The extensions that the answer accepts. The offer matters only for an extension that was not offered, which the two sides cannot
    /// share.
    ///
    /// - Parameters:
    ///   - offer: the request's fields.
    ///   - answer: the fields of the 101 response, or of the 2xx response to an extended CONNECT.
    public init(offer: HeaderFields, answer: HeaderFields) {
        self.init()
        guard let accepted = WebSocketExtension.list(in: answer) else {
            self.unknown = ["a Sec-WebSocket-Extensions field that cannot be read"]
            return
        }
        let offered = WebSocketExtension.list(in: offer)
        for (index, one) in accepted.enumerated() {
            let isOffered = offered?.contains { $0.name == one.name } ?? true
            // RFC 6455, 9.1: the extension named last is applied last. If another follows deflate, its effect on the bytes cannot be
            // undone.
            if let deflate = PerMessageDeflate(answer: one), isOffered, index == accepted.count - 1 {
                self.deflate = deflate
            } else {
                self.unknown.append(one.name)
            }
        }
    }

    public var reservedBits: WebSocketReservedBits {
        self.unknown.isEmpty ? self.deflate == nil ? .zero : .deflate : .any
    }
}
