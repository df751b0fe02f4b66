@testable import TapeTLS

/// The bytes of both ends of one connection, in their order: the handshake, a request, a response, and both closes.
struct TLSTranscript {
    /// The data that is sent in both directions, and so the only data that may ever be read.
    static let request = Array("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n".utf8)
    static let response = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)

    private(set) var fromClient: [[UInt8]] = []
    private(set) var fromServer: [[UInt8]] = []

    /// Runs the connection; `change` may alter each side's bytes in transit.
    static func play(_ pair: TLSPair, change: (_ bytes: [UInt8], _ isFromClient: Bool) -> [UInt8] = { bytes, _ in bytes }) -> Self {
        var transcript = Self()
        var (hasAsked, hasAnswered) = (false, false)
        pair.client.receive()
        // Damage can delay a connection but never lengthen it: ten turns are enough for an intact one.
        for _ in 0..<12 {
            if pair.client.isEstablished, pair.client.failure == nil, !hasAsked {
                hasAsked = true
                try? pair.client.send(Self.request)
            }
            let up = pair.client.output()
            if !up.isEmpty {
                transcript.fromClient.append(up)
                pair.server.receive(change(up, true))
            }
            if pair.server.isEstablished, pair.server.failure == nil, !hasAnswered, pair.server.plaintext == Self.request {
                hasAnswered = true
                try? pair.server.send(Self.response)
                pair.server.closeOutput()
            }
            let down = pair.server.output()
            if !down.isEmpty {
                transcript.fromServer.append(down)
                pair.client.receive(change(down, false))
            }
            if pair.client.isEnded { pair.client.closeOutput() }
            if up.isEmpty, down.isEmpty, pair.client.pendingOutput == 0 { break }
        }
        return transcript
    }
}
