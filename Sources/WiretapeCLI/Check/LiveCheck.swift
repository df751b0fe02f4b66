internal import CassetteFormat
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRun
internal import CassetteRedaction
internal import CassetteStore
internal import CassetteTools
internal import Platform
internal import TapeProxy
internal import TapeRecorder
internal import TapeTLS

/// Sends the requests of a cassette again, records the answers into a cassette of its own, and compares them.
///
/// Sends one request at a time, in recorded order. The second cassette is a temporary file, readable by its owner only, and is removed
/// after the check.
struct LiveCheck {
    var path: String
    var allowsUnsafe: Bool
    var showsAll: Bool
    /// How long an answer may take.
    var seconds: Int
    var upstreamTLS: UpstreamTLSOptions
    var fill = PlaceholderFill()
    /// Ports on which this process listens. Nothing is sent to them.
    var closedPorts: [ProxyConfiguration.ClosedPort] = []
    /// Receives lines for people.
    var note: @Sendable (String) -> Void

    struct Outcome: Hashable {
        var same = 0
        var changed = 0
        var leftOut = 0
        /// Sent, but not answered by the origin.
        var unanswered = 0

        var sent: Int { self.same + self.changed + self.unanswered }
    }

    private struct Sent {
        var index: Int
        var method: String
        var url: String
    }

    func run(progress: (_ done: Int, _ of: Int) -> Void, _ found: (CassetteDiff.Entry) throws -> Void) throws -> Outcome {
        let cassette = try CareCommand.cassette(self.path)
        let folder = try RunFolder(environment: ChildEnvironment.parent)
        defer { folder.remove() }
        let live = "\(folder.path)/live.json"
        var outcome = Outcome()
        var sent: [Sent] = []
        let redaction = try cassette.redactionRules()?.adding(self.fill.secrets)
        try self.recording(live, in: folder, redaction) { port in
            let sender = LiveSender(port: port, seconds: self.seconds)
            let reader = BodyReader(cassettePath: self.path)
            for index in 0..<cassette.count {
                progress(index, cassette.count)
                let interaction = try cassette.interaction(at: index)
                do {
                    let request = try LiveRequest(interaction.request, allowsUnsafe: self.allowsUnsafe, fill: self.fill) {
                        try reader.wireBytes(of: $0, digest: CareCommand.digest).bytes
                    }
                    try sender.send(request)
                } catch let error as LiveRequest.LeftOut {
                    outcome.leftOut += 1
                    self.note("\(self.name(index, interaction)): not sent, because \(error.reason).")
                    continue
                } catch let error as LiveSocket.Failure {
                    self.note("\(self.name(index, interaction)): \(error.message).")
                } catch let error as TLSFailure {
                    self.note("\(self.name(index, interaction)): \(error.message)")
                }
                sent.append(Sent(index: index, method: interaction.request.method, url: interaction.request.url))
            }
            progress(cassette.count, cassette.count)
        }
        try self.compare(cassette, sent, with: RecordedCassette(path: live), &outcome, found)
        return outcome
    }

    private func name(_ index: Int, _ interaction: Interaction) -> String {
        "exchange \(index + 1), \(interaction.request.method) \(SecretShapes.shownURL(interaction.request.url))"
    }

    // MARK: The proxy

    /// Runs a proxy that records what `body` sends to its port.
    ///
    /// - Parameter redaction: the cassette's rules. Its secrets are shown nowhere, and answers are compared as they were recorded.
    func recording(_ live: String, in folder: RunFolder, _ redaction: RedactionRules?, _ body: (_ port: Int) throws -> Void) throws {
        var options = RunPlan.Options()
        options.redaction = redaction
        let cassette = try OpenCassette(
            RunPlan(live, mode: .all, options: options), version: Version.current, digest: CareCommand.digest, notify: self.note)
        var configuration = ProxyConfiguration(cassetteName: "live.json", loops: .own(1))
        configuration.tls = try self.settings(folder)
        configuration.chain = try self.upstreamTLS.proxies.chain(notice: self.note)
        configuration.closedPorts = self.closedPorts
        let server: ProxyServer
        do {
            server = try ProxyServer.start(configuration, session: cassette.session, recorder: cassette.recorder, notice: self.note)
        } catch {
            try cassette.abandon()
            throw error
        }
        let result = Result { try body(server.port) }
        server.stop()
        try cassette.close()
        try result.get()
    }

    /// An authority for this check only, which is its only client.
    private func settings(_ folder: RunFolder) throws -> TLSSettings {
        let files = AuthorityFiles(folder: "\(folder.path)/authority")
        let authority: LoadedAuthority
        do throws(CertificateError) {
            authority = LoadedAuthority(try files.loadOrCreate(now: Int64(time(nil))))
        } catch {
            throw TrustError(error.message)
        }
        var settings = TLSSettings(authority: .loaded(authority))
        try self.upstreamTLS.apply(to: &settings)
        return settings
    }

    // MARK: The comparison

    private func compare(
        _ cassette: RecordedCassette, _ sent: [Sent], with live: RecordedCassette, _ outcome: inout Outcome,
        _ found: (CassetteDiff.Entry) throws -> Void
    ) throws {
        let comparison = ExchangeComparison(old: self.path, new: live.path, showsAll: self.showsAll, digest: CareCommand.digest)
        let answered = try (0..<live.count).map { index in
            let interaction = try live.interaction(at: index)
            return (method: interaction.request.method, url: interaction.request.url)
        }
        for step in ExchangePairing(old: sent.map { ($0.method, $0.url) }, new: answered).steps {
            switch step {
            // A failed CONNECT, which the request after it reports as well.
            case .added: break
            case .removed(let index):
                outcome.unanswered += 1
                let interaction = try cassette.interaction(at: sent[index].index)
                try found(.removed(CassetteDiff.Exchange(number: sent[index].index + 1, interaction)))
            case .both(let old, let new):
                let (one, other) = (try cassette.interaction(at: sent[old].index), try live.interaction(at: new))
                let changes = try comparison.answerChanges(one, other)
                guard !changes.isEmpty else {
                    outcome.same += 1
                    continue
                }
                outcome.changed += 1
                let exchange = CassetteDiff.Exchange(number: sent[old].index + 1, one)
                try found(.changed(old: exchange, new: exchange, changes: changes))
            }
        }
    }
}
