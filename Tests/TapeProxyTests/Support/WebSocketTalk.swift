import CassetteModel
import CassetteStore
import TapeBytes
import TapeExchange
import TapeTestSupport

/// The messages of the ends of a WebSocket as bytes, and as a cassette has them.
enum WebSocketTalk {
    /// RFC 6455, 1.3 contains this key and its accept value.
    static let switching = opening()

    static func opening(deflates: Bool = false) -> String {
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
            + (deflates ? "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n" : "\r\n")
    }

    /// - Parameter url: in the form that the request uses.
    static func request(_ url: String, host: String, deflates: Bool = false) -> String {
        "GET \(url) HTTP/1.1\r\nHost: \(host)\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
            + (deflates ? "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n" : "\r\n")
    }

    /// An HTTP/1.1 request to a proxy.
    static func request(_ origin: RawOrigin, deflates: Bool = false) -> String {
        self.request("http://\(origin.authority)/chat", host: origin.authority, deflates: deflates)
    }

    static func text(_ text: String, from side: WebSocketSide) -> [UInt8] {
        var writer = WebSocketWriter(side, generator: SeededGenerator(seed: 1))
        var bytes: [UInt8] = []
        Array(text.utf8).withUnsafeBytes { writer.message(true, $0, to: &bytes) }
        return bytes
    }

    static func close(_ code: Int, from side: WebSocketSide) -> [UInt8] {
        var writer = WebSocketWriter(side, generator: SeededGenerator(seed: 2))
        var bytes: [UInt8] = []
        writer.close(code, to: &bytes)
        return bytes
    }

    /// One message as a cassette has it, with all its bytes.
    struct Said: Equatable {
        var from: WebSocketSide
        var kind: String
        var bytes: [UInt8]
        var isDeflated = false
        /// The sizes of the fragments. For a deflated message they are those of its coded bytes.
        var frames: [Int] = []
    }

    static func said(in interaction: Interaction, beside path: String) throws -> [Said] {
        guard let messages = interaction.webSocket else { throw TestProblem("no WebSocket was recorded") }
        let reader = BodyReader(cassettePath: path)
        var said: [Said] = []
        try reader.forEachMessage(of: messages, digest: PortableSHA256()) { message, _ in
            func bytes(_ payload: WebSocketPayload) throws -> [UInt8] {
                if case .file(let sidecar) = payload { return try reader.read(sidecar, digest: PortableSHA256()) }
                return payload.inlineBytes ?? []
            }
            let (kind, content): (String, [UInt8]) =
                switch message.content {
                case .text(let payload): ("text", try bytes(payload))
                case .binary(let payload): ("binary", try bytes(payload))
                case .ping(let bytes): ("ping", bytes)
                case .pong(let bytes): ("pong", bytes)
                case .close(let close): ("close", close.payload)
                }
            let mark = message.isComplete ? "" : " cut"
            said.append(
                Said(from: message.from, kind: kind + mark, bytes: content, isDeflated: message.isDeflated, frames: message.frames))
            return true
        }
        return said
    }

    /// One line for each message: side, kind and content.
    static func lines(in interaction: Interaction, beside path: String) throws -> [String] {
        try self.said(in: interaction, beside: path).map { said in
            let text = said.kind == "close" ? "\(said.bytes)" : String(decoding: said.bytes, as: UTF8.self)
            return "\(said.from.rawValue) \(said.kind) \(text)"
        }
    }
}
