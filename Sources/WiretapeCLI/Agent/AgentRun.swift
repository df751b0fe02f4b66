internal import CassetteModel
internal import CassettePlayback
internal import CassetteRun
internal import CassetteTools
internal import Platform
internal import TapeBytes
internal import TapeProxy
internal import TapeRecorder

/// The recording or replay that an agent has started: a proxy on a free port of this machine, until it is stopped.
///
/// Takes the settings of the configuration file, as the commands do. Any thread may use it.
final class AgentRun: Sendable {
    enum Kind: String { case recording, replay }

    /// What it came to.
    struct Outcome {
        var verdict: Verdict
        /// Nil for a replay.
        var recorded: RecorderStatus?
        /// The path of the recording; nil if there is none.
        var path: String?
    }

    /// The options of the command.
    struct Options {
        var config: ConfigOptions
        var upstreamTLS: UpstreamTLSOptions
        /// The ports of this process, to which nothing is sent.
        var ports: ClosedPorts
    }

    let kind: Kind
    /// The cassette's name, as tools use it.
    let file: String
    /// The variables that a client of the run needs.
    let environment: [(name: String, value: String)]
    /// The proxy's URL.
    let proxy: String

    private let cassette: OpenCassette
    private let server: ProxyServer
    private let place: AuthorityPlace

    /// - Parameters:
    ///   - file: the cassette's name.
    ///   - path: its path.
    ///   - notify: receives messages for people.
    init(_ kind: Kind, file: String, path: String, options: Options, notify: @escaping @Sendable (String) -> Void) throws {
        let settings = try options.config.file()?.settings(for: path, in: ConfigSearch.workingFolder) ?? RunSettings()
        let tls = try TLSOptions.parse([])
        let upstream = kind == .recording ? options.upstreamTLS.laid(over: settings) : nil
        let place = try tls.authority.place()
        let plan = try RunPlan(
            path, mode: kind == .recording ? .all : .none,
            options: settings.planOptions(mayRerecord: false, secret: EnvironmentSecret.value))
        let cassette = try OpenCassette(plan, version: Version.current, digest: { FastSHA256() }, notify: notify)
        do {
            var configuration = ProxyConfiguration(cassetteName: file, loops: .own(1))
            configuration.tls = try tls.settings(in: place, upstream: upstream, notice: notify)
            configuration.chain = try upstream?.proxies.chain(notice: notify) ?? UpstreamChain()
            configuration.settings = settings
            configuration.latency = settings.value(Settings.latency)
            configuration.originErrors = settings.value(Settings.originErrors)
            configuration.refresh = plan.refresh
            configuration.rules = try settings.ruleEngine(match: plan.rules, redaction: plan.redaction)
            configuration.closedPorts = options.ports.all
            let trust = try ChildTrust.prepare(
                authority: tls.certificate(in: place).chain, folder: TrustFolder(path: place.trustFolder), parent: ChildEnvironment.parent)
            let server = try ProxyServer.start(
                configuration, session: cassette.session, recorder: cassette.recorder, cassette: plan.cassette
            ) { notify(VisibleText.line($0)) }
            options.ports.add(.init(host: configuration.host, port: server.port))
            self.proxy = "http://\(server.address)"
            self.environment = ChildEnvironment.changes(proxy: self.proxy, trust: trust, parent: ChildEnvironment.parent)
            (self.kind, self.file, self.cassette, self.server, self.place) = (kind, file, cassette, server, place)
        } catch {
            try? cassette.abandon()
            place.temporary?.remove()
            throw error
        }
    }

    /// What it came to so far.
    var outcome: Outcome {
        Outcome(
            verdict: self.cassette.session.verdict(), recorded: self.cassette.recorder?.currentStatus, path: self.cassette.recorder?.path)
    }

    /// Stops the proxy, and finishes the recording. Call it once.
    func stop() throws -> Outcome {
        self.server.stop()
        defer { self.place.temporary?.remove() }
        let path = try self.cassette.recorder?.close(keepsOld: false, keepsEmpty: false)
        var outcome = self.outcome
        outcome.path = path.flatMap { access($0, F_OK) == 0 ? $0 : nil }
        return outcome
    }
}

/// The runs of one server: at most one at a time.
final class AgentRuns: Sendable {
    private let current = Guarded<AgentRun?>(nil)
    private let options: AgentRun.Options

    init(_ options: AgentRun.Options) { self.options = options }

    var run: AgentRun? { self.current.withLock { $0 } }

    func start(_ kind: AgentRun.Kind, file: String, path: String) throws -> AgentRun {
        guard self.run == nil else { throw SettingSyntaxError("a run is going on already: stop it first") }
        let run = try AgentRun(kind, file: file, path: path, options: self.options) { Terminal.error.complain($0) }
        self.current.withLock { $0 = run }
        return run
    }

    /// Nil if none is going on. A second thread waits until the first has stopped it.
    func stop() throws -> (AgentRun, AgentRun.Outcome)? {
        try self.current.withLock { current in
            guard let run = current else { return nil }
            current = nil
            return (run, try run.stop())
        }
    }
}
