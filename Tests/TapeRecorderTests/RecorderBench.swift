import CassetteModel
import CassetteRedaction
import CassetteStore
import Foundation
import TapeBytes
import TapeExchange
import TapeTestSupport
import Testing
@testable import TapeRecorder

/// A recorder's worker without a thread, with a disk that fails on demand and a manual clock.
final class RecorderBench {
    let folder: TemporaryFolder
    let disk = FailingDisk()
    let file: RecordingFile
    let queue = RecorderQueue { _ in }
    let status = Guarded(RecorderStatus())
    let clock = Guarded<UInt64>(1_000_000_000_000)
    let notices = Guarded<[String]>([])
    /// The number of times that memory was released.
    let givenBack = Guarded(0)
    /// Called after the queue has drained.
    let drained = Guarded<(@Sendable () -> Void)?>(nil)
    let worker: RecorderWorker
    private let outcomes = Guarded<[Int: Result<Void, RecorderProblem>]>([:])

    init(
        in folder: TemporaryFolder? = nil, mode: RecordMode = .all, refuses: Bool = false, heldLimit: Int = RecorderWorker.heldLimit,
        processors: Int = 1,
        startSearch: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = { DedicatedThread.start($0) }
    ) throws {
        self.folder = try folder ?? TemporaryFolder()
        let plan = try RecordingPlan(path: self.folder.file("tape.json"), mode: mode, exists: self.folder.exists("tape.json"))
        self.file = try #require(try RecordingFile(plan, version: "1", digest: { PortableSHA256() }, disk: self.disk.calls))
        let (clock, notices, givenBack) = (self.clock, self.notices, self.givenBack)
        self.worker = RecorderWorker(
            file: self.file, queue: self.queue, status: self.status, drained: self.drained,
            options: RecorderWorker.Options(
                refusesUnrecorded: refuses, heldLimit: heldLimit, startSearch: startSearch, processors: processors,
                giveBackMemory: { givenBack.withLock { $0 += 1 } },
                clock: { clock.withLock { $0 } }),
            notify: { text in notices.withLock { $0.append(text) } })
    }

    /// - Parameter waits: whether a caller waits for it.
    func put(_ exchange: TapedExchange, waits: Bool = false) {
        let id = exchange.interaction.id
        let stored: RecorderItem.Stored = { [outcomes] result in outcomes.withLock { $0[id] = result } }
        _ = self.queue.put(.exchange(exchange, stored: waits ? stored : nil), now: self.clock.withLock { $0 })
    }

    func turn(after milliseconds: UInt64 = 0) {
        self.clock.withLock { $0 += milliseconds * 1_000_000 }
        _ = self.worker.turn()
    }

    /// The reason why it is not stored; nil if it is.
    func problem(_ id: Int) throws -> RecorderProblem? {
        switch try #require(self.outcomes.withLock { $0[id] }, "nobody was told of exchange \(id)") {
        case .success: nil
        case .failure(let problem): problem
        }
    }

    var inFile: [Int] {
        get throws { try RecordedExchanges.read(self.folder.file("tape.json")).map(\.id) }
    }

    var now: RecorderStatus { self.status.withLock { $0 } }
}

/// Conversations.
extension RecorderBench {
    func open(_ id: Int, as form: ConversationForm = .webSocket, url: String = "http://h/talk") {
        _ = self.queue.put(.opened(SampleConversation.head(id, url: url), form), now: self.clock.withLock { $0 })
    }

    func say(_ text: String, in id: Int) {
        _ = self.queue.put(.message(exchange: id, SampleMessage(text: text)), now: self.clock.withLock { $0 })
    }

    /// A piece of an answer's body.
    func piece(_ text: String, in id: Int) {
        let message = SampleMessage(text: text, from: "server")
        _ = self.queue.put(.message(exchange: id, message), now: self.clock.withLock { $0 })
    }

    /// A text message in memory.
    func sayText(_ text: String, in id: Int) {
        var message = TapedMessage(.text)
        message.bytes = Array(text.utf8)
        message.size = message.bytes.count
        let taped = TapedWebSocketMessage(message, at: 1, from: .client)
        _ = self.queue.put(.message(exchange: id, taped), now: self.clock.withLock { $0 })
    }

    /// A text message that arrives in blocks.
    func sayLong(_ text: String, in id: Int, reserved: UInt8 = 0) {
        let bytes = Array(text.utf8)
        var message = TapedMessage(.text)
        (message.size, message.isSpilled, message.reserved) = (bytes.count, true, reserved)
        message.bytes = bytes.suffix(1000)
        let start = bytes.count - message.bytes.count
        for offset in stride(from: 0, to: start, by: 1 << 20) {
            let block = Array(bytes[offset..<min(start, offset + (1 << 20))])
            _ = self.queue.put(.block(exchange: id, side: .request, bytes: block), now: self.clock.withLock { $0 })
        }
        let taped = TapedWebSocketMessage(message, at: 1, from: .client)
        _ = self.queue.put(.message(exchange: id, taped), now: self.clock.withLock { $0 })
    }

    /// A request that arrives in blocks, for the journal of its answer.
    func large(_ bytes: [UInt8], in id: Int) {
        let rest = bytes.suffix(1000)
        let start = bytes.count - rest.count
        for offset in stride(from: 0, to: start, by: 1 << 20) {
            let block = Array(bytes[offset..<min(start, offset + (1 << 20))])
            _ = self.queue.put(.block(exchange: id, side: .request, bytes: block), now: self.clock.withLock { $0 })
        }
        let headers = HeaderFields(["Content-Type: application/json"])
        for message: any ConversationMessage in [
            TapedLargeRequest(rest: Array(rest), at: 1, headers: headers), TapedStreamPiece(.request, nil, at: 1, headers: headers),
        ] {
            _ = self.queue.put(.message(exchange: id, message), now: self.clock.withLock { $0 })
        }
    }

    func say(_ numbers: Range<Int>, in id: Int) {
        for number in numbers { self.say("\(number)", in: id) }
    }

    /// - Parameter waits: whether a caller waits for it.
    func close(_ id: Int, waits: Bool = false) {
        let stored: RecorderItem.Stored = { [outcomes] result in outcomes.withLock { $0[id] = result } }
        _ = self.queue.put(.closed(SampleConversation.head(id), stored: waits ? stored : nil), now: self.clock.withLock { $0 })
    }

    /// Takes turns until the open conversations are written.
    func turnUntilJournaled() {
        self.turn()
        self.turn(after: RunningConversations.journalAfter / 1_000_000)
    }

    /// Takes turns until the other thread has synced the written data.
    func turnUntilSynced() {
        self.turn()
        self.worker.endSync(waits: true)
        self.turn(after: RecorderWorker.syncInterval / 1_000_000)
        self.worker.endSync(waits: true)
        self.turn()
    }

    var bodies: [String] { get throws { try self.folder.names(in: "tape.bodies") } }

    /// The texts in an exchange of the file; nil if the exchange is missing.
    func said(in id: Int) throws -> [String]? {
        let path = self.folder.file("tape.json")
        return try RecordedExchanges.read(path).first { $0.id == id }.map { try SampleConversation.said(in: $0, beside: path) }
    }
}

/// A message that consists of its text, in which `hunter2` is secret.
struct SampleMessage: ConversationMessage {
    struct Unsearchable: Error {}

    var text: String
    var from: String?
    var weight: Int { self.text.utf8.count }

    func write(_ place: MessagePlace, into writer: inout JSONWriter) throws {
        guard self.text != "unsearchable" else { throw Unsearchable() }
        writer.beginObject(.inline)
        writer.member("at")
        writer.milliseconds(1)
        writer.member("from")
        writer.string(self.from ?? "client")
        writer.member("text")
        writer.string(place.redactor == nil ? self.text : self.text.replacing("hunter2", with: "***"))
        writer.endObject()
    }
}

enum SampleConversation {
    static func head(_ id: Int, url: String = "http://h/talk") -> Interaction {
        Interaction(
            id: id, started: Timestamp(microseconds: 1_700_000_000_000_000 + Int64(id)),
            request: RecordedRequest(method: "GET", url: url, headers: HeaderFields(["Host: h", "Upgrade: websocket"])),
            response: RecordedResponse(
                status: 101, reason: Array("Switching Protocols".utf8), headers: HeaderFields(["Upgrade: websocket"])))
    }

    static func said(in interaction: Interaction, beside path: String) throws -> [String] {
        let sidecar: Sidecar
        switch try #require(interaction.webSocket) {
        case .inline(let messages):
            return messages.compactMap { $0.content.payload?.inlineBytes.map { String(decoding: $0, as: UTF8.self) } }
        case .file(let file, _): sidecar = file
        }
        return try self.lines(BodyReader(cassettePath: path).read(sidecar, digest: PortableSHA256()))
    }

    static func lines(_ bytes: [UInt8]) throws -> [String] {
        try bytes.split(separator: 0x0a).compactMap { try JSONDocument(Array($0)).root["text"]?.string }
    }
}
