internal import CassetteImport
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteStore
internal import CassetteTools
internal import TapeBytes
internal import TapeInspector
internal import TapeProxy
internal import TapeRecorder
internal import TapeTLS

extension InspectorTools {
    /// - Parameters:
    ///   - upstreamTLS: how origins are reached; nil if the command reaches none.
    ///   - ports: the ports of this process, to which nothing is sent.
    ///   - opens: whether the page opens files.
    ///   - records: whether the page starts recordings.
    static func ofCommands(
        upstreamTLS: UpstreamTLSOptions?, ports: ClosedPorts, opens: Bool = false, records: Bool = false
    ) -> InspectorTools {
        var tools = InspectorTools()
        if opens {
            tools.folder = { try PageFolder.make() }
            tools.importRecordings = { try Self.importRecordings($0, to: $1, $2) }
        }
        if records, let upstreamTLS { tools.record = { try PageProxy.start($0, upstreamTLS: upstreamTLS, ports: ports) } }
        tools.digest = { FastSHA256() }
        tools.unanswerable = { ReplayCheck.problem(of: $0) }
        tools.secrets = { interaction, number, path in
            try CassetteRedaction.secrets(in: interaction, number: number, of: path, digest: { FastSHA256() }).map(
                RedactionService.Found.init)
        }
        tools.tryRedaction = { path, rules in
            let outcome = try CassetteRedaction.redact(
                path, rules: rules, version: Version.current, dryRun: true, digest: { FastSHA256() })
            return RedactionService.Trial(
                exchanges: outcome.exchanges, changed: outcome.changed, places: outcome.places,
                found: outcome.found.map(RedactionService.Found.init))
        }
        if let upstreamTLS {
            let sender = LiveResend(upstreamTLS: upstreamTLS, ports: ports)
            tools.send = { try sender.send($0, $1) }
        }
        return tools
    }
}

extension InspectorTools {
    /// Imports as the command does, with its default redaction.
    private static func importRecordings(_ files: [String], to path: String, _ progress: ImportProgress) throws -> [String] {
        let report = try CassetteImporter(ImportOptions(), digest: { FastSHA256() }).run(
            files, to: path, version: Version.current, isCancelled: { progress.isCancelled }, reading: { progress.read($0) })
        return report.failures.map(\.message)
            + report.losses.map { loss in
                let times = loss.count == 1 ? "once" : "\(loss.count) times"
                return "\(times): \(loss.text) (\(loss.count == 1 ? "" : "the first at ")\(loss.first))."
            }
    }
}

extension RedactionService.Found {
    fileprivate init(_ found: RedactedPlace) {
        self.init(exchange: found.exchange, place: found.place, placeholder: found.placeholder, excerpt: found.excerpt)
    }
}

/// The ports on which this process listens, added as they become known.
///
/// Any thread may use it.
final class ClosedPorts: Sendable {
    private let ports = Guarded<[ProxyConfiguration.ClosedPort]>([])

    var all: [ProxyConfiguration.ClosedPort] { self.ports.withLock { $0 } }

    func add(_ port: ProxyConfiguration.ClosedPort) { self.ports.withLock { $0.append(port) } }
}

/// Sends one request of a cassette by the rules of `check`: as it was recorded, through a proxy of its own that redacts the answer.
struct LiveResend: Sendable {
    /// Limits of an answer, since an event stream may never end, and a page shows only the beginning of an answer.
    private static let limits = LiveSocket.Limits(seconds: 60, bytes: 256 << 20)

    let upstreamTLS: UpstreamTLSOptions
    let ports: ClosedPorts
    /// How a request is sent that has a placeholder.
    var advice = "write the value in the editor, and send from there"

    /// Stops receiving once the work of its thread is cancelled (`WorkCancellation`).
    ///
    /// - Parameter take: is called with the answer while its files still exist.
    func send(_ order: SendService.Order, _ take: (SendService.Answer) throws -> Void) throws {
        let notes = Guarded<[String]>([])
        let stop = LiveStop()
        WorkCancellation.onCancel { stop.stop() }
        let check = LiveCheck(
            path: order.path, allowsUnsafe: order.allowsUnsafe, showsAll: false, seconds: Self.limits.seconds,
            upstreamTLS: self.upstreamTLS, closedPorts: self.ports.all
        ) { note in notes.withLock { $0.append(note) } }
        let request: LiveRequest
        do {
            let reader = BodyReader(cassettePath: order.path)
            request = try LiveRequest(order.interaction.request, allowsUnsafe: order.allowsUnsafe) {
                try reader.wireBytes(of: $0, digest: CareCommand.digest).bytes
            }
        } catch let error as LiveRequest.LeftOut {
            throw SendService.NotSent(reason: self.words(error), isUnsafe: error.isUnsafe)
        }
        let folder = try RunFolder(environment: ChildEnvironment.parent)
        defer { folder.remove() }
        let live = "\(folder.path)/live.json"
        var received: [UInt8] = []
        do {
            try check.recording(live, in: folder, RecordedCassette(path: order.path).redactionRules()) { port in
                do {
                    let sender = LiveSender(port: port, seconds: Self.limits.seconds, limits: Self.limits, stop: stop)
                    received = try sender.send(request)
                } catch let error as LiveSocket.Failure {
                    notes.withLock { $0.append(error.message) }
                } catch let error as TLSFailure {
                    notes.withLock { $0.append(error.message) }
                }
            }
        } catch {
            guard let message = CommandEnd.message(of: error) else { throw error }
            throw SendService.NotSent(reason: message, isUnsafe: false)
        }
        let cassette = try RecordedCassette(path: live)
        // A request that the proxy refuses is not recorded.
        if cassette.count == 0, !received.isEmpty { notes.withLock { $0.append(Self.refusal(received)) } }
        // A failed CONNECT is the only exchange. A successful one is not recorded as an exchange.
        let answer = cassette.count > 0 ? try cassette.interaction(at: cassette.count - 1) : nil
        let comparison = ExchangeComparison(old: order.path, new: live, showsAll: false, digest: CareCommand.digest)
        let changes = try answer.map { try comparison.answerChanges(order.recorded, $0) } ?? []
        try take(SendService.Answer(interaction: answer, changes: changes, notes: notes.withLock { $0 }, path: live))
    }

    /// The reason without the options of `check`, which a page does not have.
    private func words(_ refusal: LiveRequest.LeftOut) -> String {
        guard let option = refusal.reason.firstRange(of: ": --") else { return refusal.reason }
        let words = String(refusal.reason[..<option.lowerBound])
        return refusal.isUnsafe ? words : "\(words): \(self.advice)"
    }

    /// The words of an answer that the proxy made.
    private static func refusal(_ answer: [UInt8]) -> String {
        let text = String(decoding: answer, as: UTF8.self)
        let parts = text.split(separator: "\r\n\r\n", maxSplits: 1)
        return parts.count > 1 ? String(parts[1]).split(separator: "\n").joined(separator: " ") : String(text.prefix { $0 != "\r\n" })
    }
}
