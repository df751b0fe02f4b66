internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteRun
internal import CassetteStore
internal import CassetteTools
internal import Dispatch
internal import Logging
internal import Platform
internal import TapeInspector
internal import TapeIsolation
internal import TapeProxy
internal import TapeRecorder
internal import TrafficRules

/// A run of the proxy from the command line: opens the cassette, listens, runs the program or waits for a signal, closes, and
/// reports the outcome.
struct ProxyRun {
    var file: String
    /// The file of the cassette, if `file` is a pointer to one in a store.
    var pulled: String?
    /// Whether a cassette may be fetched from the store.
    var fetches = false
    /// Nil to take the mode from the settings.
    var mode: RecordMode?
    /// From the command line.
    var settings: RunSettings
    var modify: ModifyOptions
    var config: ConfigOptions
    var reports: [ReportFile]
    var proxy: ProxyOptions
    var tls: TLSOptions
    var trust: TrustOptions
    /// Nil if the command reaches no origin.
    var upstreamTLS: UpstreamTLSOptions?
    /// Nil if the command cannot record.
    var recording: RecordOptions?
    var browser = BrowserOptions()
    /// The URL that the browser opens.
    var url: String?
    var isolation = IsolateOptions()
    /// The program, or the browser's own arguments.
    var command: [String]

    func run() throws {
        try CommandEnd.run {
            var run = self
            try run.findCassette()
            return try run.execute()
        }
    }

    // MARK: The run

    /// Replaces a pointer by the cassette that it names. Such a cassette is only replayed.
    private mutating func findCassette() throws {
        let settings = try self.settingsInForce()
        let mode = self.mode ?? settings.value(Settings.mode)
        let isNamed = CassettePointers.isNamed(self.file)
        guard mode == .none || mode == .once, settings.value(Settings.onExpired) != .rerecord else {
            // A recording replaces a local cassette, whatever a pointer next to it names.
            guard isNamed else { return }
            throw SettingError(
                "\"\(self.file)\" names a cassette in a store, which is never changed: record into a local file, and store it with \"wiretape push\"."
            )
        }
        let path = try CassettePointers.file(
            for: self.file, fetches: self.fetches || settings.value(Settings.fetch) == true, config: self.config)
        guard path != self.file else { return }
        (self.pulled, self.mode) = (path, RecordMode.none)
        if isNamed { self.file = CassettePointers.cassette(of: self.file) }
    }

    private func execute() throws -> Int32 {
        let settings = try self.settingsInForce()
        try self.isolation.validate(settings.failOnInForce, command: self.command)
        let mode = self.mode ?? settings.value(Settings.mode)
        let plan = try RunPlan(
            self.pulled ?? self.file, mode: mode,
            options: settings.planOptions(mayRerecord: self.recording != nil && mode != .none, secret: EnvironmentSecret.value))
        let screen = RunScreen(quiet: self.proxy.quiet, hasChild: self.hasProgram)
        for notice in plan.notices { screen.say(notice) }
        // Before the run: an earlier run's report must not be mistaken for this run's.
        let reports = try self.reports.map {
            (report: $0, file: try OutputFile(path: $0.path, from: self.pulled ?? self.file, removesOld: true))
        }
        // A mistyped name leaves no folders, cassettes and logs behind.
        if !self.browser.browser, let name = self.command.first, !ProgramSearch.isThere(name) {
            screen.complain(ChildProcess.notFound(name))
            return ExitStatus.commandNotFound
        }
        let log = try self.proxy.server.openLog(beside: self.file)
        defer { log?.flush() }
        var configuration = self.configuration(settings)
        guard !self.browser.browser || configuration.credentials == nil else { throw BrowserOptions.noPassword }
        if let log { configuration.logger = log.logger }
        let place = try self.tls.authority.place()
        defer { place.temporary?.remove() }
        let clock = try self.clock(settings, plan)
        if let notice = clock?.notice { screen.say(notice) }
        configuration.tls = try self.tls.settings(
            in: place, upstream: self.upstreamTLS?.laid(over: settings), validAt: clock?.start
        ) { screen.say($0) }
        configuration.chain = try self.upstreamTLS?.proxies.chain { screen.say($0) } ?? UpstreamChain()
        configuration.settings = settings
        configuration.latency = settings.value(Settings.latency)
        configuration.originErrors = settings.value(Settings.originErrors)
        configuration.refresh = plan.refresh
        configuration.rules = try settings.ruleEngine(match: plan.rules, redaction: plan.redaction, mayGetRules: self.proxy.page.web)
        configuration.clientIsBrowser = self.browser.browser
        configuration.judgesClient = settings.value(Settings.verdict) != nil
        let isolation = try self.isolation.make(cassette: plan.cassette, mayForward: plan.recording.target != .nothing)
        configuration.isolation = isolation
        let program = try self.hasProgram ? self.trustedProgram(place, isolation, clock, screen) : nil
        defer {
            // Helpers of a browser may outlive it for a moment, and write.
            if let profile = program?.profile, !profile.remove(attempts: 20) {
                screen.complain("the browser's profile \"\(profile.path)\" is still in use: remove it when the browser has ended.")
            }
        }
        if plan.recording.target != .nothing {
            for name in settings.missingSecrets(secret: EnvironmentSecret.value) { screen.say(RedactCommand.missing(name)) }
        }
        let cassette = try OpenCassette(
            plan, version: Version.current, digest: { FastSHA256() }, refusesUnrecorded: configuration.diskFullPolicy == .refuse,
            notify: {
                screen.say($0)
                // The message may contain paths: it is for the person at the screen only.
                log?.logger.warning("the recorder printed a message on standard error")
            })
        let (session, recorder) = (cassette.session, cassette.recorder)
        if let repaired = recorder?.repaired { screen.say(repaired.summary + ".") }
        for notice in recorder?.recovered ?? [] { screen.say(notice) }
        let server: ProxyServer
        let ports = ClosedPorts()
        let page: ServedPage?
        do {
            page = try self.page(of: cassette, settings, ports: ports, screen, &configuration)
        } catch {
            try cassette.abandon()
            throw error
        }
        defer { page?.stop() }
        if configuration.pauseDesk == nil, configuration.rules?.pauses == true {
            screen.complain(
                page == nil
                    ? "the rules pause messages, but this run has no page: nothing waits. Add --web to look at them."
                    : "the rules pause messages, but the variable CI is set: nothing waits.")
        }
        let lines = self.lines(screen, recorder: recorder?.path, cassette: plan.cassette, &configuration)
        do {
            server = try ProxyServer.start(configuration, session: session, recorder: recorder, cassette: plan.cassette) {
                // Printed on one line, whatever names a client or an origin sends.
                screen.complain(VisibleText.line($0))
            }
        } catch {
            try cassette.abandon()
            throw error
        }
        ports.add(.init(host: configuration.host, port: server.port))
        page?.counts.follow({ server.counts }, recorder, match: { try server.match(by: $0) })
        let limits = settings.value(Settings.verdict) ?? ClientVerdict.Limits()
        page?.rules?.follow(elapsed: { server.elapsed }, verdict: { server.clientVerdict(exitCode: nil, limits: limits) })
        lines?.start()
        let closing = ClosingTime(grace: settings.value(Settings.grace), hasten: { recorder?.hasten() })
        let outcome =
            program.map {
                self.serve(
                    server, screen, child: $0, isolation, configuration.credentials, recordedAt: plan.cassette?.firstStart, clock, closing)
            }
            ?? self.serve(server, screen, configuration.credentials, closing)
        let waiting = StopNotice(screen, grace: settings.value(Settings.grace), open: { lines?.open ?? [] })
        server.stop()
        #if os(Linux)
        isolation?.stop()
        #endif
        waiting.end()
        lines?.stop()
        screen.stop()
        if server.counts.tlsFailures > 0 || server.counts.tunnels > 0 {
            for notice in program?.notices ?? [] { screen.say(notice) }
        }
        if let startStatus = outcome.startStatus {
            try cassette.abandon()
            return startStatus
        }

        let childFailed = outcome.childStatus.map { $0 != 0 } ?? false
        var path = self.file
        var review: RecordingReview.Outcome?
        if let recorder {
            let progress = ProgressLine(label: "decoding")
            let searching = SearchProgress(screen: screen)
            let keepsOld = childFailed && settings.value(Settings.keepOnFailure)
            // The next run would mistake an empty cassette for a recorded one.
            path = try recorder.close(
                keepsOld: keepsOld || settings.value(Settings.review), keepsEmpty: false,
                progress: { done, count in
                    searching.end()
                    progress.show(done, of: count)
                }, searching: { searching.show($0) })
            searching.end()
            progress.end()
            lines?.finish(path)
            Self.note(recorder.currentStatus, log)
            if settings.value(Settings.review), !keepsOld, path != plan.recording.path, RecordingReview.mayBeTaken(recorder.currentStatus) {
                let asked = RecordingReview.onTerminal(
                    old: plan.recording.path, new: path, assumesYes: self.recording?.yes == true, page: page)
                review = try asked.run()
                if review != .pending { path = plan.recording.path }
            }
        }
        let rules = configuration.rules?.report() ?? []
        let findings = server.clientVerdict(
            exitCode: outcome.childStatus, limits: settings.value(Settings.verdict) ?? ClientVerdict.Limits())
        var replay = session.report(name: self.file, cassette: plan.cassette)
        replay.checks = RuleLines.checks(rules, findings)
        let isolated = isolation.map { IsolationLines(report: $0.report, isReplay: plan.recording.target == .nothing) }
        let summary = RunSummary(
            path: path, plan: plan.recording, counts: server.counts, replay: replay,
            recorder: recorder?.currentStatus, childStatus: outcome.childStatus, command: self.command, failOn: settings.failOnInForce,
            rules: rules, clientVerdict: findings, isolation: isolated,
            lint: try settings.failOnInForce.others.contains(.lint) ? RunLint(path) : nil, review: review,
            address: self.browser.browser ? nil : ProxyAddress.reachable(server.address),
            keepsOnFailure: settings.value(Settings.keepOnFailure))
        for (report, file) in reports {
            try report.bytes(summary.replay, failOn: summary.failOn, isolation: isolated).withUnsafeBytes { try file.write($0) }
            try file.finish()
        }
        if self.proxy.json {
            Terminal.error.line(summary.json)
        } else {
            summary.report(to: screen)
        }
        guard self.recording?.push == true else { return summary.exitStatus }
        return try self.push(
            summary.exitStatus, path, isClean: recorder.map { RecordingReview.mayBeTaken($0.currentStatus) } ?? true, screen)
    }

    /// Stores what was recorded, if the run was a success and its recording has the cassette's name.
    private func push(_ status: Int32, _ path: String, isClean: Bool, _ screen: RunScreen) throws -> Int32 {
        guard status == ExitStatus.done, isClean, path == self.file, CassettePlace.exists(path), self.pulled == nil else {
            if self.pulled == nil {
                screen.complain("\"\(self.file)\" was not pushed, since the run was no success: \"wiretape push \(self.file)\" stores it.")
            }
            return status
        }
        let shard = self.recording?.shard.map { ["--shard", $0] } ?? []
        return try PushCommand.parse([path] + shard + (self.config.config.map { ["--config", $0] } ?? [])).push()
    }

    /// The configuration file's settings, overridden by the command line's.
    private func settingsInForce() throws -> RunSettings {
        var settings = try self.modify.lay(over: self.settings.adding(self.proxy.settings))
        if let recording { settings = recording.lay(over: settings) }
        if let file = try self.config.file() { settings = file.settings(for: self.file, in: ConfigSearch.workingFolder).adding(settings) }
        settings = self.modify.judging(settings)
        try settings.check(assumesYes: self.recording?.yes == true)
        return settings
    }

    /// The clock of the program; nil for the real one.
    private func clock(_ settings: RunSettings, _ plan: RunPlan) throws -> RecordedClock? {
        guard settings.value(Settings.clock) == .recorded else { return nil }
        switch plan.recording.target {
        case .nothing: break
        case .append:
            throw SettingError(
                "clock: recorded is for replays: with --mode new-episodes, origins would get requests from the past. Choose --mode none, or leave the clock real."
            )
        // The recording gives the time.
        case .create, .stage, .replace: return nil
        }
        guard !self.browser.browser, let name = self.command.first else {
            guard settings[Settings.clock]?.source == .commandLine else { return nil }
            throw SettingError(
                "--clock recorded moves the clock of a program, not of a browser that wiretape starts: pass a program after \"--\".")
        }
        return try RecordedClock(
            start: plan.cassette?.firstStart, cassette: self.file, program: name, environment: ChildEnvironment.parent)
    }

    func configuration(_ settings: RunSettings) -> ProxyConfiguration {
        var limits = ProxyLimits()
        limits.grace = settings.value(Settings.grace)
        let credentials = self.proxy.proxyAuth ?? getenv("WIRETAPE_PROXY_AUTH").map { String(cString: $0) }
        var configuration = ProxyConfiguration(
            host: settings.value(Settings.listen).host, port: settings.value(Settings.listen).port, allowsRemote: self.proxy.allowRemote,
            credentials: credentials, durability: settings.value(Settings.durability), diskFullPolicy: settings.value(Settings.onDiskFull),
            limits: limits,
            cassetteName: self.file.split(separator: "/").last.map(String.init) ?? "", loops: self.proxy.server.provider)
        configuration.isTransparent = self.proxy.transparent
        return configuration
    }

    /// Lines for each exchange, if the run prints them.
    private func lines(
        _ screen: RunScreen, recorder path: String?, cassette: RecordedCassette?, _ configuration: inout ProxyConfiguration
    ) -> TrafficLines? {
        let isWatched = !self.hasProgram && Terminal.error.isTerminal
        guard !self.proxy.quiet, !self.proxy.json, self.proxy.verbose || isWatched else { return nil }
        let lines = TrafficLines(screen: screen, path: path, cassette: cassette)
        let watch = configuration.watch
        configuration.watch = { exchange in
            watch?(exchange)
            lines.take(exchange)
        }
        return lines
    }

    /// The page of the run, if one was asked for. It shows the file that is recorded, or else the one that is replayed.
    private func page(
        of cassette: OpenCassette, _ settings: RunSettings, ports: ClosedPorts, _ screen: RunScreen,
        _ configuration: inout ProxyConfiguration
    ) throws -> ServedPage? {
        guard self.proxy.page.web else { return nil }
        guard cassette.recorder != nil || cassette.cassette != nil else {
            screen.complain("nothing is recorded or replayed, so there is nothing to show: leave out --web, or choose another --mode.")
            return nil
        }
        let open = OpenExchanges()
        let counts = RunCounts()
        let command =
            switch self.mode {
            case RecordMode.none?: "replay"
            case .all?: "record"
            default: "run"
            }
        var run = InspectedRun(
            command: command, name: self.file, session: cassette.session, recorded: cassette.cassette, counts: counts, open: open)
        if cassette.recorder != nil { run.pauses(cassette.session) }
        if let isolation = configuration.isolation {
            let isReplay = cassette.plan.recording.target == .nothing
            run.isolation = {
                let lines = IsolationLines(report: isolation.report, isReplay: isReplay)
                return .init(verdict: lines.verdict, refused: lines.refusals)
            }
        }
        let target = cassette.plan.recording.path
        let new = cassette.recorder.flatMap { $0.path == target ? nil : $0.path }
        if settings.value(Settings.review), let new { run.review = ReviewQuestion(old: target, new: new) }
        var rules: PageRules?
        if let engine = configuration.rules {
            let made = PageRules(engine, judgesClient: configuration.judgesClient)
            rules = made
            run.rules = made.inspected(saving: try self.config.ruleSettings(settings))
            configuration.pauseDesk = PageRules.pausesMessages ? made.desk : nil
        }
        // A replay never contacts an origin, so upstream TLS settings do not apply.
        let upstream = cassette.recorder == nil ? nil : self.upstreamTLS?.laid(over: settings)
        let server = try InspectorServer.start(
            InspectedCassette(path: cassette.recorder?.path ?? self.pulled ?? self.file), run: run, older: new.map { _ in target },
            tools: .ofCommands(upstreamTLS: upstream, ports: ports, opens: true), port: self.proxy.page.webPort ?? 0)
        ports.add(.init(port: server.port))
        configuration.closedPorts.append(.init(port: server.port))
        configuration.watch = { open.take($0) }
        return try ServedPage(server, counts: counts, rules: rules, question: run.review, opens: self.proxy.page.open) {
            screen.complain($0)
        }
    }

    /// Logs what is wrong with a closed recording.
    private static func note(_ status: RecorderStatus, _ log: LogFile?) {
        guard let log else { return }
        if status.lost > 0 { log.logger.warning("recording incomplete", metadata: ["lost": "\(status.lost)"]) }
        if !status.leaks.isEmpty { log.logger.warning("secrets left in the cassette", metadata: ["places": "\(status.leaks.count)"]) }
    }

    private struct Outcome {
        /// The program's exit code; nil if there is no program.
        var childStatus: Int32?
        /// The exit code of a program that could not be started.
        var startStatus: Int32?
    }

    // MARK: Without a program

    private func showCode(_ phone: PhoneAddress, _ screen: RunScreen) {
        guard let code = QRCode(phone.url) else {
            return screen.complain(
                "\(phone.publicURL), with USER:PASSWORD/ of this port before the second http, is too long for a QR code: open it by hand.")
        }
        screen.complain(
            "the authority's certificate for a phone; then set \(phone.reachable) as its proxy, and open http://wiretape.test/ for the steps:"
        )
        for line in code.lines { Terminal.error.line(line) }
    }

    private func serve(_ server: ProxyServer, _ screen: RunScreen, _ credentials: String?, _ closing: ClosingTime) -> Outcome {
        let stop = DispatchSemaphore(value: 0)
        SignalThread.start { _ in
            closing.signalled()
            stop.signal()
        }
        screen.say("listening on http://\(server.address)")
        if self.proxy.qr || self.proxy.allowRemote && Terminal.error.isTerminal && !self.proxy.quiet {
            self.showCode(PhoneAddress(address: server.address, credentials: credentials), screen)
        }
        screen.showCounts { server.counts }
        stop.wait()
        SignalThread.close(self.file)
        closing.begin()
        return Outcome()
    }

    // MARK: With a program

    /// The program's command line, and the files that make it trust the authority.
    private struct TrustedProgram {
        var command: [String]
        /// The namespaces that the command enters.
        var namespaces = NamespaceChoice()
        var trust: ChildTrust
        /// Nil for any other program.
        var browser: Browser?
        /// The browser's profile.
        var profile: RunFolder?
        var authority: AuthorityCertificate
        /// Notices about the limits of the trust that the program gets. Printed only if TLS failed or if tunnels were passed on unopened,
        /// since most programs need none of it.
        var notices: [String] = []
    }

    private var hasProgram: Bool { self.browser.browser || !self.command.isEmpty }

    private func trustedProgram(
        _ place: AuthorityPlace, _ isolation: Isolation?, _ clock: RecordedClock?, _ screen: RunScreen
    ) throws(TrustError) -> TrustedProgram {
        let certificate = try self.tls.certificate(in: place, validAt: clock?.start)
        let authority = certificate.chain
        let folder = TrustFolder(path: place.trustFolder)
        let trust = try ChildTrust.prepare(authority: authority, folder: folder, parent: ChildEnvironment.parent)
        if self.browser.browser {
            let browser = try Browser.find(self.browser.browserProgram, environment: ChildEnvironment.parent)
            return TrustedProgram(
                command: self.command, trust: trust, browser: browser, profile: try RunFolder(environment: ChildEnvironment.parent),
                authority: certificate)
        }
        if let browser = Browser.started(by: self.command) { screen.say(browser.advice(for: self.file)) }
        let prepare = { () throws(TrustError) in try NamespacePlan.prepare(trust, authority: authority, folder: folder) }
        let means: NamespaceChoice
        if let isolation {
            means = try NamespaceChoice.isolated(
                self.trust.trust, authority: authority, isolation: isolation.plan(socket: nil, port: 0),
                holder: try NamespacePlan.holder(in: folder), prepare: prepare)
        } else {
            means = try NamespaceChoice.make(self.trust.trust, authority: authority, prepare: prepare)
        }
        return TrustedProgram(
            command: self.command, namespaces: means, trust: trust, authority: certificate,
            notices: trust.notices + (means.notice.map { [$0] } ?? []))
    }

    private func commandLine(
        of program: TrustedProgram, _ isolation: Isolation?, at server: ProxyServer
    ) throws(TrustError) -> [String] {
        guard let browser = program.browser, let profile = program.profile else {
            var namespaces = program.namespaces
            namespaces.plan?.isolation = isolation.map { $0.plan(socket: $0.innerEnd, port: UInt16(clamping: server.port)) }
            return namespaces.command(program.command)
        }
        let launch = BrowserLaunch(
            browser: browser, proxy: ProxyAddress.reachable(server.address), profile: profile.path, authority: program.authority,
            leafKey: server.leafKeyDigest ?? [], url: self.url,
            arguments: program.command)
        return try launch.prepare()
    }

    private func serve(
        _ server: ProxyServer, _ screen: RunScreen, child program: TrustedProgram, _ isolation: Isolation?, _ credentials: String?,
        recordedAt start: Timestamp?, _ clock: RecordedClock?,
        _ closing: ClosingTime
    ) -> Outcome {
        let credentials = credentials.map { ProxyAddress.percentEncoded($0) + "@" } ?? ""
        var environment = ChildEnvironment.through(
            // Inside, the proxy listens on loopback whatever it listens on outside.
            proxy: "http://\(credentials)\(isolation == nil ? ProxyAddress.reachable(server.address) : "127.0.0.1:\(server.port)")",
            trust: program.trust, parent: ChildEnvironment.parent,
            own: isolation == nil ? nil : ChildEnvironment.ownHosts(named: InsideHosts.machineNames))
        for (name, value) in ChildEnvironment.recordingTime(start) { environment[name] = value }
        // The process that enters the namespaces would find out only after it has started.
        if isolation != nil, let name = self.command.first, ProgramSearch.file(name) == nil {
            screen.complain(ChildProcess.notFound(name))
            return Outcome(startStatus: ExitStatus.commandNotFound)
        }
        let command: [String]
        do throws(TrustError) {
            command = try self.commandLine(of: program, isolation, at: server)
        } catch {
            screen.complain(error.message)
            return Outcome(startStatus: ExitStatus.failed)
        }
        clock?.apply(to: &environment, isEntered: program.namespaces.plan != nil)
        let child: ChildProcess
        do throws(ChildProcess.StartError) {
            child = try ChildProcess(
                command: command, environment: environment, inherited: isolation.map { [$0.innerEnd] } ?? [])
        } catch {
            switch error {
            case .notFound(let message):
                screen.complain(message)
                return Outcome(startStatus: ExitStatus.commandNotFound)
            case .failed(let message):
                screen.complain(message)
                return Outcome(startStatus: ExitStatus.failed)
            }
        }
        #if os(Linux)
        if let isolation, let problem = isolation.open(for: server) {
            screen.complain(problem)
            child.send(signal: SIGKILL)
            _ = child.wait()
            return Outcome(startStatus: ExitStatus.failed)
        }
        #endif
        if self.proxy.verbose { screen.say("listening on http://\(server.address)") }
        screen.showCounts { server.counts }
        let stubborn = StubbornCommand(say: { Terminal.error.complain($0) }, send: { child.send(signal: $0) })
        SignalThread.start { arrival in
            closing.signalled()
            if arrival.isFromTerminal { stubborn.interrupted() } else { child.send(signal: arrival.signal) }
        }
        let status = child.wait()
        stubborn.ended()
        SignalThread.close(self.file)
        closing.begin()
        return Outcome(childStatus: status)
    }
}

extension RunSettings {
    /// Throws if options of the command line make no sense with the other settings.
    func check(assumesYes: Bool = false) throws {
        if self[Settings.onExpired]?.source == .commandLine, self.value(Settings.maxAge) == nil {
            throw ValidationError("--on-expired applies to a cassette older than --max-age: pass both.")
        }
        let fields = self[Settings.refreshFields]
        if fields.contains(where: { $0.source == .commandLine }), !self.value(Settings.refreshDates) {
            throw ValidationError("--refresh-field applies to dates that --refresh-dates moves: pass both.")
        }
        if self.value(Settings.clock) == .recorded, self.value(Settings.refreshDates) {
            throw SettingError(
                "clock: recorded moves the program into the past, and refreshDates moves the recording to now: choose one of them.")
        }
        // A --no-refresh-dates for one run is not an error in the file.
        if let field = fields.first, self[Settings.refreshDates] == nil {
            throw SettingError(
                "\(field.source): refreshFields applies to dates that refreshDates moves: set \"refreshDates: true\" too, or remove it.")
        }
        if assumesYes, !self.value(Settings.review) { throw ValidationError("--yes answers --review: pass both.") }
    }
}
