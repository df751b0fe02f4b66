public import CassetteModel

/// What client and server have agreed on about deflated messages (RFC 7692, 7.1).
public struct PerMessageDeflate: Sendable, Hashable {
    static let name = "permessage-deflate"

    /// Whether each message of the side begins with an empty window.
    public var serverForgets: Bool
    public var clientForgets: Bool
    /// 8 to 15: how far the side's messages look back, as a power of two.
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

    /// What a server's answer says; nil for another extension, or parameters that RFC 7692, 7.1 does not allow.
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

    /// The answer to the first of the offers that can be accepted, as near to the recorded one as the offer allows; nil for none.
    public static func answer(to offers: [WebSocketExtension], recorded: PerMessageDeflate) -> WebSocketExtension? {
        offers.lazy.compactMap { self.answer(to: $0, recorded: recorded) }.first
    }

    private static func answer(to offer: WebSocketExtension, recorded: PerMessageDeflate) -> WebSocketExtension? {
        guard offer.name == self.name else { return nil }
        var agreed = recorded
        // RFC 7692, 7.1.2.2: without it in the offer, the server may not limit the client's window.
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
    /// Nil if messages are not deflated in a way that can be undone.
    public var deflate: PerMessageDeflate?
    /// Names of accepted extensions that are not known here: messages with reserved bits are kept as they were sent.
    public var unknown: [String]

    public init(deflate: PerMessageDeflate? = nil, unknown: [String] = []) {
        self.deflate = deflate
        self.unknown = unknown
    }

    /// What the answer accepts. The offer has no say in it, but for what was not offered: that is nothing both sides know.
    ///
    /// - Parameters:
    ///   - offer: the request's fields.
    ///   - answer: those of the 101, or of the 2xx to an extended CONNECT.
    public init(offer: HeaderFields, answer: HeaderFields) {
        self.init()
        guard let accepted = WebSocketExtension.list(in: answer) else {
            self.unknown = ["a Sec-WebSocket-Extensions field that cannot be read"]
            return
        }
        let offered = WebSocketExtension.list(in: offer)
        for (index, one) in accepted.enumerated() {
            let isOffered = offered?.contains { $0.name == one.name } ?? true
            // RFC 6455, 9.1: the one named last is applied last. What another one has done to deflated bytes cannot be undone.
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
