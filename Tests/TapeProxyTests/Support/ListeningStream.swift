import NIOCore
import TapeExchange

@testable import TapeProxy

/// A client stream that notes what is sent to it, for code below an exchange.
final class ListeningStream: ClientStream {
    let peer: ClientPeer
    var isWritable = true
    let hasInput = false
    private(set) var text = ""

    init(_ proxy: ProxyContext) { self.peer = ClientPeer(id: 1, session: proxy, sessionGate: .open) }

    var answerSize: Int { self.text.utf8.count }

    /// The text sent since the last call.
    func take() -> String {
        defer { self.text = "" }
        return self.text
    }

    func send(_ piece: BodyPiece) { self.text += String(buffer: piece.bytes) }
    func write(_ buffer: ByteBuffer) { self.text += String(buffer: buffer) }
    func flush() {}
    func setReading(_ reads: Bool) {}
    func closeOutput() {}
    func closeAfterFlush(isCut: Bool) {}
    func send(interim head: ResponseHead) {}
    func send(_ head: ResponseHead, framing: BodyFraming) {}
    func send(_ answer: ProxyAnswer, isFinal: Bool) {}
    func send(_ answer: ReadyAnswer) -> Bool { false }
    func finish() {}
    func cut() {}
    func close() {}
    func become(_ exchange: any ClientExchange) {}
}
