@testable import TapeTLS

/// What both ends of one connection said, in the order they said it: handshake, a request, a response, both ends.
struct TLSTranscript {
    /// What is sent in both directions, and so all that may ever be read.
    static let request = Array("GET / HTTP/1.1\r\nHost: example.test\r\n\r\n".utf8)
    static let response = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)

    private(set) var fromClient: [[UInt8]] = []
    private(set) var fromServer: [[UInt8]] = []

    /// Plays the connection; what each side says may be changed on its way.
    static func play(_ pair: TLSPair, change: (_ bytes: [UInt8], _ isFromClient: Bool) -> [UInt8] = { bytes, _ in bytes }) -> Self {
        var transcript = Self()
        var (hasAsked, hasAnswered) = (false, false)
        pair.client.receive()
        // Damage can delay a connection, never make it longer: ten turns are enough for what is whole.
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
