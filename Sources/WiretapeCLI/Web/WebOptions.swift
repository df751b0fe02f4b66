internal import ArgumentParser
internal import CassettePlayback
internal import Dispatch
internal import Platform
internal import TapeBytes
internal import TapeInspector
internal import TapeProxy
internal import TapeRecorder

/// The options of commands that show a page.
struct WebOptions: ParsableArguments {
    @Flag(
        help:
            "Show the cassette in the browser: the address, with its token, is printed on standard error. With serve, one for each session, which is also in the answer to POST /sessions."
    )
    var web = false

    @Option(
        help: ArgumentHelp(
            "The port of --web on 127.0.0.1; by default a free one. With serve, of the first page; the others take the next free ones.",
            valueName: "port"))
    var webPort: Int?

    @Flag(help: "With --web, open the page in the browser.")
    var open = false

    func validate() throws {
        if !self.web, self.webPort != nil { throw ValidationError("--web-port needs --web.") }
        if !self.web, self.open { throw ValidationError("--open needs --web.") }
        if let port = self.webPort, !(0...65_535).contains(port) { throw ValidationError("--web-port takes a number from 0 to 65535.") }
    }
}

/// A page that is served while a command runs. It is announced, opened if that was asked for, and stopped.
struct ServedPage {
    private let server: InspectorServer
    /// The counts of a run that the page shows.
    let counts: RunCounts
    /// The traffic rules of a run; nil if the page shows no run.
    let rules: PageRules?
    /// The question that the page asks when the recording has ended; nil if nobody is asked.
    let question: ReviewQuestion?
    private let file: RedirectFile?

    /// Whether a browser is showing it.
    var isWatched: Bool { self.server.isWatched }

    /// - Parameter say: prints a line for people.
    init(
        _ server: InspectorServer, counts: RunCounts = RunCounts(), rules: PageRules? = nil, question: ReviewQuestion? = nil, opens: Bool,
        say: (String) -> Void
    ) throws {
        self.server = server
        self.counts = counts
        self.rules = rules
        rules?.opened { server.isWatched }
        self.question = question
        say("inspector on \(server.address)")
        guard opens else {
            self.file = nil
            return
        }
        let file = try RedirectFile(server.address)
        self.file = file
        if let problem = file.open() { say(problem) }
    }

    func stop() {
        self.rules?.closed()
        self.server.stop()
        self.file?.remove()
    }
}

extension InspectedRun {
    /// - Parameter counts: the counts of the proxy, once there is one.
    init(
        command: String, name: String, session: CassetteSession, recorded: RecordedCassette?, counts: RunCounts, open: OpenExchanges
    ) {
        var report: (@Sendable () -> ReplayReport)?
        if session.looksUp { report = { session.report(name: name, cassette: recorded) } }
        self.init(command: command, name: name, counts: { counts.current }, report: report, open: open)
        if session.looksUp { self.match = { try counts.match(by: $0) } }
    }

    /// Lets the page pause the recording.
    mutating func pauses(_ session: CassetteSession) {
        self.pause = { isPaused in
            if let isPaused { session.pause(isPaused) }
            return session.isPaused
        }
    }
}

extension OpenExchanges {
    func take(_ exchange: WatchedExchange) {
        switch exchange {
        case .began(let id, let started, let method, let url): self.began(id: id, started: started, method: method, url: url)
        case .discarded(let id): self.discarded(id: id)
        case .replayed, .missed: break
        }
    }
}

/// The pages of the sessions of a server.
///
/// They send nothing: only a session's clients make requests.
struct SessionPages: Sendable {
    /// How many ports are tried, starting with the one that was asked for.
    private static let portTries = 100

    let threads = InspectorThreads()
    private let port: Int
    private let opens: Bool
    private let say: @Sendable (String) -> Void

    /// - Parameter say: prints a line for people.
    init(_ options: WebOptions, say: @escaping @Sendable (String) -> Void) {
        self.port = options.webPort ?? 0
        self.opens = options.open
        self.say = say
    }

    func page(of shown: ShownSession) throws -> SessionPage {
        let (open, counts) = (OpenExchanges(), RunCounts())
        let rules = PageRules(shown.rules, desk: shown.desk, judgesClient: shown.judgesClient)
        var run = InspectedRun(
            command: "serve", name: shown.cassetteName, session: shown.session, recorded: shown.recorded, counts: counts, open: open)
        run.rules = rules.inspected(saving: nil)
        if shown.recorder != nil { run.pauses(shown.session) }
        let server = try self.server(InspectedCassette(path: shown.path), run)
        rules.opened { server.isWatched }
        let recorder = shown.recorder
        let file: RedirectFile?
        do {
            file = self.opens ? try RedirectFile(server.address) : nil
        } catch {
            rules.closed()
            server.stop()
            throw error
        }
        if let file {
            let say = self.say
            // The answer to the request for a session must not wait for a browser.
            DispatchQueue.global().async { if let problem = file.open() { say(problem) } }
        }
        return SessionPage(
            address: server.address, port: server.port, pausesMessages: PageRules.pausesMessages, watch: { open.take($0) },
            follow: { progress in
                counts.follow(progress.counts, recorder, match: progress.match)
                rules.follow(elapsed: progress.elapsed, verdict: progress.verdict)
            },
            stop: {
                rules.closed()
                server.stop()
                file?.remove()
            })
    }

    /// Starts on the first free port, beginning with the one that was asked for.
    private func server(_ cassette: InspectedCassette, _ run: InspectedRun) throws(InspectorServer.StartError) -> InspectorServer {
        let tools = InspectorTools.ofCommands(upstreamTLS: nil, ports: ClosedPorts())
        func start(_ port: Int) throws(InspectorServer.StartError) -> InspectorServer {
            try InspectorServer.start(cassette, run: run, tools: tools, port: port, on: self.threads)
        }
        guard self.port > 0 else { return try start(0) }
        for port in self.port..<min(self.port + Self.portTries, 65_536) {
            if let server = try? start(port) { return server }
        }
        return try start(self.port)
    }
}

/// The progress of a run, and its match rules, once it has a proxy.
///
/// Any thread may use it.
final class RunCounts: Sendable {
    private let source = Guarded<(@Sendable () -> InspectedRun.Counts)?>(nil)
    private let adding = Guarded<(@Sendable (MatchRuleTexts) throws -> Void)?>(nil)

    var current: InspectedRun.Counts { self.source.withLock { $0 }?() ?? InspectedRun.Counts() }

    /// Adds match rules to the running proxy.
    func match(by texts: MatchRuleTexts) throws {
        guard let add = self.adding.withLock({ $0 }) else {
            throw CassetteError(.inUse, "the replay has not started yet: try again.")
        }
        try add(texts)
    }

    /// - Parameter match: adds match rules to the proxy.
    func follow(
        _ proxyCounts: @escaping @Sendable () -> ProxyCounts, _ recorder: Recorder?,
        match: @escaping @Sendable (MatchRuleTexts) throws -> Void
    ) {
        self.adding.withLock { $0 = match }
        self.source.withLock { source in
            source = {
                let (proxy, status) = (proxyCounts(), recorder?.currentStatus)
                var counts = InspectedRun.Counts()
                counts.hits = proxy.replayed
                counts.misses = proxy.misses
                counts.recorded = status?.recorded ?? 0
                counts.lost = status?.lost ?? 0
                counts.problem = status?.obstacle?.message
                return counts
            }
        }
    }
}

/// A file that redirects a browser to the page. Other users can read the arguments of a program, and the address contains the token.
struct RedirectFile: Sendable {
    #if os(macOS)
    static let opener = "open"
    #else
    static let opener = "xdg-open"
    #endif

    let path: String

    init(_ address: String) throws(TrustError) {
        let folder = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(folder)/wiretape-XXXXXX.html".utf8CString)
        let descriptor = mkstemps(&template, 5)
        guard descriptor >= 0 else {
            throw TrustError(
                "a file to open the page with cannot be made in \"\(folder)\" (\(String(cString: strerror(errno)))): leave out --open.")
        }
        // mkstemps creates it with mode 0600.
        self.path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let text = "<!doctype html><meta charset=utf-8><title>wiretape</title><meta http-equiv=refresh content=\"0;url=\(address)\">\n"
        let written = Array(text.utf8).withUnsafeBytes { Platform.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
        guard written == text.utf8.count else {
            self.remove()
            throw TrustError("the file \"\(self.path)\" cannot be written: leave out --open.")
        }
    }

    /// Opens the file in the browser, and waits until the browser has read it.
    ///
    /// - Returns: why it was not opened, for people.
    func open() -> String? {
        do throws(ChildProcess.StartError) {
            let opener = try ChildProcess(command: [Self.opener, self.path], environment: ChildEnvironment.parent)
            // Reaps the opener; the browser itself continues.
            _ = opener.wait()
            return nil
        } catch {
            switch error {
            case .notFound(let message), .failed(let message): return message
            }
        }
    }

    func remove() { unlink(self.path) }
}
