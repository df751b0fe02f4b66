internal import ArgumentParser
internal import CassettePlayback
internal import CassetteTools
internal import Platform
internal import TapeBytes
internal import TapeIsolation
internal import TapeProxy
internal import TapeTrust

struct IsolateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "isolate",
        abstract: "Run a program in a network of its own, and list what it does there (Linux).",
        discussion: """
            Connections of HTTP and TLS are passed on and listed; everything else is refused and listed. Nothing is recorded: \
            \"wiretape record FILE --isolate\" does that. With --session, the connections go to a session of \"wiretape serve\".

            Examples:
              wiretape isolate -- npm test
              wiretape isolate --offline --fail-on escapes -- make test
              wiretape isolate --session s1 -- python3 -m pytest
            """)

    /// What fails the run besides the command itself.
    enum Failing: String, ExpressibleByArgument, CaseIterable {
        case none, escapes
    }

    @Option(
        help: ArgumentHelp(
            "Pass the connections to this session of \"wiretape serve\", whose variables are in the environment.", valueName: "id"))
    var session: String?

    @Flag(help: "Refuse all connections, those of HTTP as well.")
    var offline = false

    @Option(help: "What fails the run: escapes (exit code 10: something was refused), or none. Default: none.")
    var failOn = Failing.none

    @Flag(help: "Print the list as one JSON line on standard error.")
    var json = false

    @Flag(name: .shortAndLong, help: "Print only what was refused.")
    var quiet = false

    @OptionGroup var exits: IsolationExits
    @OptionGroup(title: "Origins") var proxies: UpstreamProxyOptions
    @OptionGroup var authority: AuthorityOptions

    @Argument(parsing: .postTerminator, help: "The program to run.", completion: .file())
    var command: [String] = []

    func validate() throws {
        #if !os(Linux)
        throw ValidationError("isolate works only on Linux: this system has no network namespaces.")
        #else
        guard !self.command.isEmpty else { throw ValidationError("isolate needs a program: pass one after \"--\".") }
        guard !self.offline || self.session == nil else {
            throw ValidationError("--offline and --session cannot be used together: the session decides what it answers.")
        }
        #endif
    }

    func run() throws {
        #if os(Linux)
        try CommandEnd.run { try self.execute() }
        #endif
    }

    #if os(Linux)
    private func execute() throws -> Int32 {
        let screen = RunScreen(quiet: self.quiet || self.json, hasChild: true)
        if let name = self.command.first, ProgramSearch.file(name) == nil {
            screen.complain(ChildProcess.notFound(name))
            return ExitStatus.commandNotFound
        }
        let parent = ChildEnvironment.parent
        let place = try self.authority.place()
        defer { place.temporary?.remove() }
        let session = try self.session.map { try SessionAccess($0, environment: parent) }
        let watch = try session?.watch()
        var settings = self.exits.settings(cassette: nil, mayForward: !self.offline)
        settings.refusesConnections = self.offline
        // A session that only replays needs no name outside.
        if let watch { settings.mayForward = watch.mayForward }
        let isolation = try Isolation(settings)
        var configuration = ProxyConfiguration()
        configuration.isolation = isolation
        configuration.chain = try session?.chain ?? self.proxies.chain { screen.say($0) }
        // A passage leads to its server, and not into the session.
        if session != nil { configuration.chain.exceptions += self.exits.allow.flatMap(\.patterns) }
        let folder = TrustFolder(path: place.trustFolder)
        var plan =
            try session?.bundle.map { try NamespacePlan.prepare(sessionBundle: $0, folder: folder) }
            ?? NamespacePlan(bundle: "", holder: try NamespacePlan.holder(in: folder), files: [], folders: [], roots: [])
        plan.isolation = isolation.plan(socket: nil, port: 0)
        if let advice = NamespaceChoice.obstacle(plan) { throw TrustError(advice.isolationRefusal) }
        let server = try ProxyServer.start(configuration, session: try CassetteSession(mode: .passthrough)) {
            screen.complain(VisibleText.line($0))
        }
        plan.isolation = isolation.plan(socket: isolation.innerEnd, port: UInt16(clamping: server.port))
        watch?.start(for: isolation)
        let status = self.serve(isolation, server, NamespaceChoice(plan: plan).command(self.command), parent, screen)
        server.stop()
        watch?.stop()
        isolation.stop()
        screen.stop()
        guard let status else { return ExitStatus.failed }
        let report = isolation.report
        self.print(IsolationLines(report: report, isReplay: self.offline), screen)
        if status != ExitStatus.done { return status }
        return self.failOn == .escapes && report.refusals > 0 ? RunFailure.escapes.rawValue : ExitStatus.done
    }

    /// - Returns: the command's exit code; nil if it was not started.
    private func serve(
        _ isolation: Isolation, _ server: ProxyServer, _ command: [String], _ parent: [String: String], _ screen: RunScreen
    ) -> Int32? {
        // All connections come here, so that servers inside are reached directly, and proxies outside are not missed.
        let proxyNames = ChildEnvironment.proxyNames + ["WIRETAPE_REVERSE"]
        var environment = parent.filter { !proxyNames.contains($0.key) && $0.key != UpstreamProxyOptions.authVariable }
        environment["JAVA_TOOL_OPTIONS"] = parent["JAVA_TOOL_OPTIONS"].map(JavaOptions.withoutProxy)
        let child: ChildProcess
        do throws(ChildProcess.StartError) {
            child = try ChildProcess(command: command, environment: environment, inherited: [isolation.innerEnd])
        } catch {
            switch error {
            case .notFound(let message), .failed(let message): screen.complain(message)
            }
            return nil
        }
        if let problem = isolation.open(for: server) {
            screen.complain(problem)
            child.send(signal: SIGKILL)
            _ = child.wait()
            return nil
        }
        let stubborn = StubbornCommand(say: { Terminal.error.complain($0) }, send: { child.send(signal: $0) })
        SignalThread.start { arrival in
            if arrival.isFromTerminal { stubborn.interrupted() } else { child.send(signal: arrival.signal) }
        }
        defer { stubborn.ended() }
        return child.wait()
    }

    private func print(_ lines: IsolationLines, _ screen: RunScreen) {
        guard !self.json else { return Terminal.error.line(String(decoding: lines.json, as: UTF8.self)) }
        for line in lines.reached { screen.say(line) }
        for line in lines.refusals { screen.complain(line) }
        screen.say(lines.connections)
    }
    #endif
}

/// How the connections of an isolated program enter a session of `wiretape serve`: by the variables that the session's answer had.
struct SessionAccess {
    /// The session's port, by SOCKS, so that a request to an address may name a host.
    var chain: UpstreamChain
    private let id: String
    private let proxy: UpstreamProxy
    /// The file of roots that includes the authority; nil if the variables name none.
    var bundle: String?

    init(_ id: String, environment: [String: String]) throws {
        let next = "set the variables in \"env\" of the answer to POST /sessions, and run this again"
        let url = ChildEnvironment.proxyNames.lazy.compactMap { environment[$0] }.first { !$0.isEmpty }
        guard let url, url.hasPrefix("http://"), let at = url.lastIndex(of: "@") else {
            throw TrustError("--session \(id) needs the session's variables, but the environment has no proxy with a password: \(next).")
        }
        guard url.dropFirst(7).hasPrefix("\(id):") else {
            throw TrustError("the proxy in the environment belongs to another session than \"\(id)\": \(next).")
        }
        let rest = url[url.index(after: url.startIndex)...]
        let proxy = try UpstreamProxy("socks5://" + rest.dropFirst(6), source: "--session")
        guard LoopbackAddress.isOne(String(url[url.index(after: at)...])) else {
            throw TrustError("the session's proxy is not on this machine: \(next).")
        }
        self.chain = UpstreamChain(http: proxy, https: proxy)
        self.chain.isSession = true
        self.bundle = environment["SSL_CERT_FILE"].flatMap { $0.isEmpty ? nil : $0 }
        self.id = id
        self.proxy = proxy
    }

    #if os(Linux)
    /// Asks the session to tell what it refuses.
    func watch() throws -> SessionWatch {
        do throws(SessionWatch.Problem) {
            return try SessionWatch(host: self.proxy.host, port: self.proxy.port, login: self.proxy.login)
        } catch {
            throw TrustError("the session \"\(self.id)\" at \(self.proxy) does not answer: \(error.message).")
        }
    }
    #endif
}

private enum LoopbackAddress {
    static func isOne(_ authority: String) -> Bool {
        authority.hasPrefix("127.") || authority.hasPrefix("[::1]:") || authority.hasPrefix("localhost:")
    }
}
