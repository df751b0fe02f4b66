public import CassetteModel
internal import TapeBytes

/// The rules for opening a WebSocket (RFC 6455, 4; for HTTP/2, RFC 8441, 5).
///
/// Over HTTP/2, the request is an extended CONNECT with `:protocol` websocket, answered with 200. Neither has a key, an accept value,
/// Upgrade or Connection. The fields for version, subprotocols and extensions are the same.
public enum WebSocketHandshake {
    /// RFC 6455, 1.3.
    private static let identifier = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"

    /// The Sec-WebSocket-Accept for a Sec-WebSocket-Key (RFC 6455, 4.2.2).
    public static func accept(for key: String) -> String {
        var text: [UInt8] = []
        SHA1.digest(of: Array((key + self.identifier).utf8)).withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// A key as sent by a client: 16 random bytes (RFC 6455, 4.1).
    public static func key(using generator: inout some RandomNumberGenerator) -> String {
        var text: [UInt8] = []
        (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }.withUnsafeBytes { Base64.encode($0, into: &text) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Whether a request asks for a WebSocket, even if it is malformed.
    public static func isAsked(by head: RequestHead) -> Bool {
        head.connectProtocol != nil || HopByHop.asksUpgrade(head) && self.names(head.fields, "upgrade", "websocket")
    }

    /// Whether a final response to such a request opens the WebSocket. After it, the connection carries frames.
    public static func isOpened(by head: ResponseHead) -> Bool {
        head.status == 101 && self.names(head.fields, "upgrade", "websocket")
    }

    /// The answer to an extended CONNECT, made from an HTTP/1.1 answer that opens the WebSocket (RFC 8441, 5).
    public static func extendedAnswer(_ head: ResponseHead) -> ResponseHead {
        let fields = HopByHop.multiplexed(head.fields.removing("sec-websocket-accept"), dropsHost: false)
        return ResponseHead(version: .http2, status: 200, reason: [], fields: fields)
    }

    private static func names(_ fields: HeaderFields, _ name: StaticString, _ wanted: StaticString) -> Bool {
        for index in 0..<fields.count where fields.isNamed(name, at: index) {
            for element in FieldList(fields.valueBytes(at: index)) where FieldList.equals(element, wanted) { return true }
        }
        return false
    }

    /// The fields of a replayed answer: the recorded ones, in order and spelling, with the values adapted that depend on the current
    /// client.
    ///
    /// The accept value is computed. Extensions and subprotocol are those of the recording that the client offers. The same offer gets
    /// exactly the same answer.
    ///
    /// - Parameters:
    ///   - recorded: the fields of the recorded request and of its answer.
    ///   - request: the current client's request.
    /// - Returns: the fields, and what both sides have negotiated.
    public static func replayed(
        _ recorded: (request: HeaderFields, answer: HeaderFields), to request: WebSocketRequest
    ) -> (fields: HeaderFields, agreement: WebSocketAgreement) {
        let agreed = self.extensions(recorded, request)
        var fields = HeaderFields()
        var isExtensionWritten = false
        for index in 0..<recorded.answer.count {
            let name = recorded.answer.name(at: index)
            if recorded.answer.isNamed("sec-websocket-accept", at: index) {
                if let key = request.key, !fields.contains("sec-websocket-accept") {
                    fields.append(name: name, value: self.accept(for: key))
                }
            } else if recorded.answer.isNamed("sec-websocket-extensions", at: index) {
                switch agreed {
                case .asRecorded: fields.append(line: recorded.answer.line(at: index))
                case .these(let extensions):
                    guard !isExtensionWritten, !extensions.isEmpty else { continue }
                    isExtensionWritten = true
                    fields.append(name: name, value: extensions.map(\.text).joined(separator: ", "))
                }
            } else if recorded.answer.isNamed("sec-websocket-protocol", at: index) {
                // RFC 6455, 4.2.2: the field is omitted if the client does not offer the recorded subprotocol.
                if request.protocols.contains(recorded.answer.value(at: index)) { fields.append(line: recorded.answer.line(at: index)) }
            } else {
                fields.append(line: recorded.answer.line(at: index))
            }
        }
        // Needed if recorded over HTTP/2 and replayed over HTTP/1.1. In the opposite case, translation drops these fields.
        if let key = request.key {
            if !fields.contains("upgrade") { fields.append(name: "Upgrade", value: "websocket") }
            if !fields.contains("connection") { fields.append(name: "Connection", value: "Upgrade") }
            if !fields.contains("sec-websocket-accept") { fields.append(name: "Sec-WebSocket-Accept", value: self.accept(for: key)) }
        }
        return (fields, WebSocketAgreement(offer: request.fields, answer: fields))
    }

    private enum Extensions {
        case asRecorded
        case these([WebSocketExtension])
    }

    /// Unknown extensions are not replayed, because the meaning of their bits is unknown.
    private static func extensions(_ recorded: (request: HeaderFields, answer: HeaderFields), _ request: WebSocketRequest) -> Extensions {
        let agreement = WebSocketAgreement(offer: recorded.request, answer: recorded.answer)
        guard let deflate = agreement.deflate else { return .these([]) }
        if agreement.unknown.isEmpty, WebSocketExtension.list(in: recorded.request) == request.extensions { return .asRecorded }
        return .these(PerMessageDeflate.answer(to: request.extensions, recorded: deflate).map { [$0] } ?? [])
    }
}

/// A client's checked request to open a WebSocket.
public struct WebSocketRequest: Sendable, Hashable {
    /// As sent; nil over HTTP/2.
    public let key: String?
    /// Subprotocols in the client's order of preference.
    public let protocols: [String]
    public let extensions: [WebSocketExtension]
    public let fields: HeaderFields

    /// Checks an HTTP/1.1 request (RFC 6455, 4.2.1) or an extended CONNECT.
    public init(_ head: RequestHead) throws(WebSocketRefusal) {
        guard head.connectProtocol == nil else {
            try self.init(extendedConnect: head.fields)
            return
        }
        guard head.method == "GET", WebSocketHandshake.isAsked(by: head) else {
            throw WebSocketRefusal(400, "a WebSocket is opened by GET with 'Connection: Upgrade' and 'Upgrade: websocket'")
        }
        let keys = head.fields.values("sec-websocket-key")
        guard keys.count == 1, let bytes = Base64.decode(Array(keys[0].utf8)), bytes.count == 16 else {
            throw WebSocketRefusal(400, "expected one Sec-WebSocket-Key, the base64 of 16 bytes; found \(Self.told(keys))")
        }
        try self.init(head.fields, key: keys[0])
    }

    /// Checks the fields of an extended CONNECT whose `:protocol` is `websocket` (RFC 8441, 5).
    public init(extendedConnect fields: HeaderFields) throws(WebSocketRefusal) {
        try self.init(fields, key: nil)
    }

    private init(_ fields: HeaderFields, key: String?) throws(WebSocketRefusal) {
        let versions = fields.values("sec-websocket-version")
        guard versions == ["13"] else {
            throw WebSocketRefusal(426, "expected 'Sec-WebSocket-Version: 13', found \(Self.told(versions))", names13: true)
        }
        var protocols: [String] = []
        for index in 0..<fields.count where fields.isNamed("sec-websocket-protocol", at: index) {
            for name in FieldList(fields.valueBytes(at: index)) {
                // A token that the client got from a replayed answer is a placeholder, which has other characters.
                let isPlaceholder =
                    name.starts(with: "{{".utf8) || name.contains(UInt8(ascii: ":")) && name.suffix(2).elementsEqual("}}".utf8)
                guard name.allSatisfy({ ASCII.isToken($0) || isPlaceholder && "{}:".utf8.contains($0) }) else {
                    throw WebSocketRefusal(400, "expected tokens in Sec-WebSocket-Protocol, found \(ASCII.quoted(name))")
                }
                protocols.append(String(decoding: name, as: UTF8.self))
            }
        }
        guard let extensions = WebSocketExtension.list(in: fields) else {
            throw WebSocketRefusal(
                400,
                "expected 'name; parameter=value' in Sec-WebSocket-Extensions, found \(Self.told(fields.values("sec-websocket-extensions")))"
            )
        }
        self.key = key
        self.protocols = protocols
        self.extensions = extensions
        self.fields = fields
    }

    private static func told(_ values: [String]) -> String {
        guard !values.isEmpty else { return "none" }
        return values.prefix(4).map { ASCII.quoted(Array($0.utf8)) }.joined(separator: ", ")
    }
}

/// Why a WebSocket request is refused, and how to answer it.
public struct WebSocketRefusal: Error, Hashable, Sendable {
    public var status: Int
    /// What is wrong, and what was expected.
    public var message: String
    /// Whether the answer names the supported version, as `Sec-WebSocket-Version: 13` (RFC 6455, 4.2.2).
    public var names13: Bool

    public init(_ status: Int, _ message: String, names13: Bool = false) {
        self.status = status
        self.message = message
        self.names13 = names13
    }
}
