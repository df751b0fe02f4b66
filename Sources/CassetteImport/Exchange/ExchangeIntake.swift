internal import CassetteModel
internal import Dispatch
internal import TapeBytes
internal import TapeExchange
internal import TapeRecorder

/// Passes imported exchanges to a recorder as a tap does, and waits while its queue is full.
final class ExchangeIntake {
    /// The block size for long bodies, in bytes.
    private static let blockSize = 1 << 20
    /// In bytes, of a URL that the proxy takes.
    private static let urlLimit = 64 << 10
    /// Milliseconds after which a full queue is checked again.
    private static let wait = 200

    private let recorder: Recorder
    private let room: DispatchSemaphore
    private(set) var count = 0
    private var last: Timestamp?

    init(_ recorder: Recorder) {
        self.recorder = recorder
        let room = DispatchSemaphore(value: 0)
        self.room = room
        recorder.onDrain { room.signal() }
    }

    /// - Parameter fileTime: when the recording was written, for exchanges without a time of their own.
    func put(_ exchange: ImportedExchange, _ context: ImportContext, fileTime: Timestamp) {
        guard exchange.request.url.utf8.count <= Self.urlLimit else { return context.lose(.longURL) }
        var exchange = exchange
        exchange.settle(context)
        if exchange.started == nil { context.lose(.started) }
        let started = exchange.started ?? self.time(of: exchange, fileTime)
        self.last = started
        var interaction = Interaction(
            id: self.recorder.nextID(), started: started, request: exchange.request, interim: exchange.interim, response: exchange.response,
            outcome: exchange.outcome,
            timing: exchange.timing, connection: exchange.connection, unknown: exchange.unknown)
        interaction.stub = exchange.stub
        interaction.repeats = exchange.repeats
        self.count += 1
        if let messages = exchange.messages {
            interaction.response?.trailers = nil
            self.put(.opened(interaction, .webSocket))
            for message in messages { self.put(message, of: interaction.id) }
            return self.put(.closed(interaction, stored: nil))
        }
        let request = self.taped(exchange.requestBody, .request, interaction.id)
        let response = self.taped(exchange.responseBody, .response, interaction.id)
        self.put(.exchange(TapedExchange(interaction: interaction, requestBody: request, responseBody: response), stored: nil))
    }

    private func put(_ message: ImportedMessage, of id: Int) {
        var taped = TapedMessage(message.kind)
        taped.bytes = message.bytes
        taped.size = message.bytes.count
        taped.isComplete = message.isComplete
        self.put(.message(exchange: id, TapedWebSocketMessage(taped, at: message.at, from: message.from)))
    }

    private func taped(_ body: ImportedBody?, _ side: Tap.Side, _ id: Int) -> TapedBody? {
        guard let body else { return nil }
        let arrival = body.chunks ?? (body.pieces.count > 1 ? Arrival(isChunked: false, pieces: body.pieces) : nil)
        let size = body.bytes.count
        guard size > BodyTap.blockSize else {
            return TapedBody(size: size, isComplete: body.isComplete, bytes: body.bytes, arrival: arrival, note: body.note)
        }
        var start = 0
        while start < size {
            let end = min(start + Self.blockSize, size)
            self.put(.block(exchange: id, side: side, bytes: Array(body.bytes[start..<end])))
            start = end
        }
        return TapedBody(size: size, isComplete: body.isComplete, bytes: [], isSpilled: true, arrival: arrival, note: body.note)
    }

    private func put(_ item: RecorderItem) {
        guard self.recorder.put(item) else { return }
        while self.recorder.isFull { _ = self.room.wait(timeout: .now() + .milliseconds(Self.wait)) }
    }

    /// A millisecond after the previous exchange; for the first one, the date of its response, or else the file's time.
    private func time(of exchange: ImportedExchange, _ fileTime: Timestamp) -> Timestamp {
        if let last { return Timestamp(microseconds: last.microseconds + 1000) }
        return exchange.response?.headers.first("date").flatMap { SourceWords.time(httpDate: $0) } ?? fileTime
    }
}
