internal import CassetteModel
internal import Foundation
internal import TapeBytes
internal import TapeExchange
internal import TapeRecorder

/// A WebSocket that is recorded while another transport carries it.
final class RecordingSocket: WebSocketConnection {
    private let inner: any WebSocketConnection
    private let tape: SocketTape
    let response: HTTPSession.Response

    init(_ inner: any WebSocketConnection, tape: SocketTape) {
        self.inner = inner
        self.tape = tape
        self.response = tape.shown(inner.response)
    }

    func send(_ message: HTTPSession.WebSocket.Message) async throws {
        // Record it before its answer can arrive.
        if self.tape.take(message, from: .client) { await self.tape.waitUntilDrained() }
        do {
            try await self.inner.send(message)
        } catch {
            self.tape.sendFailed(error)
            throw error
        }
    }

    func receive() async throws -> HTTPSession.WebSocket.Event {
        do {
            let event = try await self.inner.receive()
            switch event {
            case .message(let message):
                if self.tape.take(message, from: .server) { await self.tape.waitUntilDrained() }
            case .closed(let closing): self.tape.closed(closing, by: .server)
            }
            return event
        } catch {
            self.tape.broke(error)
            throw error
        }
    }

    func close(_ closing: HTTPSession.WebSocket.Closing) async {
        self.tape.closed(closing, by: .client)
        await self.inner.close(closing)
    }

    func cancel() {
        self.tape.cancelled()
        self.inner.cancel()
    }
}

/// The recording of one WebSocket: passes each message to the recorder as it arrives.
final class SocketTape: RunningTape {
    private struct State: Sendable {
        let interaction: Interaction
        var isOver = false
        /// Why a message was not sent. The recording ends with this if the server sends no close.
        var sendFailure: Outcome?
    }

    let id: Int
    private let recording: CassetteRecording
    private let watch: ElapsedClock
    private let state: Guarded<State>

    /// - Parameters:
    ///   - interaction: both heads.
    ///   - watch: counts from the start of the exchange.
    init(_ interaction: Interaction, recording: CassetteRecording, watch: ElapsedClock) {
        self.id = interaction.id
        self.recording = recording
        self.watch = watch
        self.state = Guarded(State(interaction: interaction))
        _ = recording.put(.opened(interaction, .webSocket))
        recording.add(self)
    }

    func shown(_ response: HTTPSession.Response) -> HTTPSession.Response {
        var response = response
        response.source = .recorded(cassette: self.recording.path, id: self.id)
        return response
    }

    /// - Returns: whether the recorder's queue is full.
    func take(_ message: HTTPSession.WebSocket.Message, from side: WebSocketSide) -> Bool {
        let bytes = Array(message.data)
        var taped = TapedMessage(message.text == nil ? .binary : .text)
        taped.size = bytes.count
        // A long message goes to its file in blocks, as in the proxy.
        taped.isSpilled = bytes.count > 2 * WebSocketReader.blockSize
        let whole = taped.isSpilled ? bytes.count / WebSocketReader.blockSize * WebSocketReader.blockSize : 0
        taped.bytes = Array(bytes[whole...])
        let blocks = stride(from: 0, to: whole, by: WebSocketReader.blockSize).map { start in
            RecorderItem.block(
                exchange: self.id, side: side == .client ? .request : .response,
                bytes: Array(bytes[start..<start + WebSocketReader.blockSize]))
        }
        let last = taped
        return self.put { now, _ in blocks + [.message(exchange: self.id, TapedWebSocketMessage(last, at: now, from: side))] }
    }

    /// Queues items under the lock, so that they are in the order of their times, and closing the cassette waits for items that are about
    /// to be queued.
    ///
    /// - Parameter items: called with the milliseconds since the start, and the interaction.
    private func put(isLast: Bool = false, _ items: (_ now: Double, _ interaction: Interaction) -> [RecorderItem]) -> Bool {
        self.state.withLock { state in
            guard !state.isOver else { return false }
            state.isOver = isLast
            return items(self.watch.milliseconds, state.interaction).reduce(false) { self.recording.put($1) || $0 }
        }
    }

    /// One side has closed the socket, which ends its recording.
    func closed(_ closing: HTTPSession.WebSocket.Closing, by side: WebSocketSide) {
        var taped = TapedMessage(.close)
        if let code = closing.code { taped.bytes = WebSocketClose(code: UInt16(code.rawValue), reason: Array(closing.reason.utf8)).payload }
        taped.size = taped.bytes.count
        let last = taped
        _ = self.put { now, _ in [.message(exchange: self.id, TapedWebSocketMessage(last, at: now, from: side))] }
        self.end(.complete)
    }

    /// The connection has failed, or was cancelled.
    func broke(_ error: any Error) { self.end(Self.outcome(of: error)) }

    /// The server may have sent messages and a close before it left, which can still be received.
    func sendFailed(_ error: any Error) {
        self.state.withLock { $0.sendFailure = $0.sendFailure ?? Self.outcome(of: error) }
    }

    func cancelled() { self.end(self.state.withLock { $0.sendFailure } ?? Self.brokenOff) }

    private static let brokenOff = Outcome.cut(Cut(by: .client, kind: .cancelled, reason: "the client broke the WebSocket off"))

    private static func outcome(of error: any Error) -> Outcome {
        let failure = TransportFailure(error)
        if error is CancellationError || failure?.kind == .network(.cancelled) { return self.brokenOff }
        let kind: Failure.Kind? = if case .network(let kind)? = failure?.kind { kind } else { nil }
        return .cut(Cut(by: .origin, kind: kind, reason: failure?.message ?? (error as NSError).localizedDescription))
    }

    func recorderStopped() {
        self.end(.cut(Cut(by: .recorder, reason: "the cassette was closed before the WebSocket had ended")))
    }

    func drop() { self.end(nil) }

    /// Only the first end counts.
    ///
    /// - Parameter outcome: nil stops the recording without an end.
    func end(_ outcome: Outcome?) {
        _ = self.put(isLast: true) { now, interaction in
            guard let outcome else { return [] }
            var interaction = interaction
            interaction.outcome = outcome
            interaction.timing.total = now
            return [.closed(interaction, stored: nil)]
        }
        self.recording.remove(self.id)
    }

    func waitUntilDrained() async {
        await withCheckedContinuation { waiter in self.recording.whenDrained { waiter.resume() } }
    }
}
