internal import ArgumentParser
internal import Dispatch
internal import TapeCore
internal import TapeProxy

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// One run of the proxy from the command line: opens the cassette, listens, runs the program or waits for a signal, closes, and
/// says what came of it.
struct ProxyRun {
    var file: String
    var mode: RecordMode
    /// What the command line says.
    var settings: RunSettings
    var config: ConfigOptions
    var reports: [ReportFile]
    var proxy: ProxyOptions
    var tls: TLSOptions
    /// Nil where the command reaches no origin.
    var upstreamTLS: UpstreamTLSOptions?
    /// Nil where the command cannot record.
    var recording: RecordOptions?
    var command: [String]

    func run() throws {
        do {
            let status = try self.execute()
            guard status == ExitStatus.done else { throw ExitCode(status) }
        } catch let error as CassetteError {
            try self.fail(error.message)
        } catch let error as TrustError {
            try self.fail(error.message)
        } catch let error as ProxyError {
            try self.fail(error.message)
        } catch let error as SettingError {
            try self.fail(error.message)
        } catch let error as LatencyError {
            try self.fail(error.message)
        } catch let error as MatchRuleError {
            try self.fail(error.message + ".")
        } catch let error as RunPlan.Expired {
            try self.fail(error.message, status: ExitStatus.expired)
        }
    }

    private func fail(_ message: String, status: Int32 = ExitStatus.failed) throws -> Never {
        Terminal.error.complain(message)
        throw ExitCode(status)
    }

    // MARK: The run

    private func execute() throws -> Int32 {
        let settings = try self.settingsInForce()
        let plan = try RunPlan(
            file: self.file, mode: self.mode, settings: settings, mayRecord: self.recording != nil, now: Int64(time(nil)))
        let cassette = plan.cassette
        let screen = RunScreen(quiet: self.proxy.quiet, hasChild: !self.command.isEmpty)
        for notice in plan.notices { screen.say(notice) }
        // Before the run: a report of an earlier one must not be taken for this one's.
        let reports = try self.reports.map { (report: $0, file: try OutputFile(path: $0.path, from: self.file)) }
        var configuration = self.configuration
        let place = try self.tls.authority.place()
        defer { place.temporary?.remove() }
        var tls = try self.tls.settings(in: place, upstream: self.upstreamTLS) { screen.say($0) }
        if self.upstreamTLS != nil {
            tls.passthrough = settings.passthrough.map(\.value) + tls.passthrough
            tls.refused = settings.refuse.map(\.value) + tls.refused
        }
        configuration.tls = tls
        configuration.latency = try settings.latency.map { try Latency($0.value) } ?? .none
        configuration.refresh = try settings.refreshDates.map { try RefreshRules($0.value) }
        let program = try self.command.isEmpty ? nil : self.trustedProgram(place, screen)
        let redaction = try self.redactionRules(settings)
        if plan.recording.target != .nothing {
            for name in self.missingSecrets(settings) { screen.say(RedactCommand.missing(name)) }
        }
        let recorder = try Recorder(plan.recording, version: Version.current, redaction: redaction) { screen.say($0) }
        if let repaired = recorder?.repaired { screen.say(repaired.summary + ".") }
        let session = try Session(
            mode: plan.recording.mode, cassette: cassette, rules: plan.rules, repetition: settings.repetitionInForce,
            order: settings.orderInForce, redaction: try self.liveRedactor(cassette, redaction), digest: { FastSHA256() })
        let server: ProxyServer
        do {
            server = try ProxyServer.start(configuration, session: session, recorder: recorder, cassette: cassette) {
                // One line, whatever names a client or an origin gives.
                screen.complain(VisibleText.line($0))
            }
        } catch {
            try recorder?.abandon()
            throw error
        }
        let outcome =
            program.map { self.serve(server, screen, child: $0, recordedAt: cassette?.firstStart) } ?? self.serve(server, screen)
        server.stop()
        screen.stop()
        if let startStatus = outcome.startStatus {
            try recorder?.abandon()
            return startStatus
        }

        let childFailed = outcome.childStatus.map { $0 != 0 } ?? false
        var path = self.file
        var review: RecordingReview.Outcome?
        if let recorder {
            let progress = ProgressLine(label: "developing")
            let keepsOld = childFailed && self.recording?.keepOnFailure != true
            path = try recorder.close(keepsOld: keepsOld || self.recording?.review == true) { progress.show($0, of: $1) }
            progress.end()
            if let options = self.recording, options.review, !keepsOld, path != self.file, recorder.currentStatus.lost == 0 {
                review = try RecordingReview.onTerminal(old: self.file, new: path, assumesYes: options.yes).run()
                if review != .pending { path = self.file }
            }
        }
        let summary = RunSummary(
            path: path, plan: plan.recording, counts: server.counts, replay: session.report(name: self.file, cassette: cassette),
            recorder: recorder?.currentStatus, childStatus: outcome.childStatus, failOn: settings.failOnInForce, review: review,
            keepsFailed: self.recording?.keepOnFailure == true)
        for (report, file) in reports {
            try report.bytes(summary.replay, failOn: summary.failOn).withUnsafeBytes { try file.write($0) }
            try file.finish()
        }
        if self.proxy.json {
            Terminal.error.line(summary.json)
        } else {
            summary.report(to: screen)
        }
        return summary.exitStatus
    }

    /// The configuration file's, with the command line's laid over them.
    private func settingsInForce() throws(SettingError) -> RunSettings {
        guard let file = try self.config.file() else { return self.settings }
        return file.settings(for: self.file, in: ConfigSearch.workingFolder).adding(self.settings)
    }

    var configuration: ProxyConfiguration {
        var limits = ProxyLimits()
        limits.grace = self.proxy.grace
        let credentials = self.proxy.proxyAuth ?? getenv("WIRETAPE_PROXY_AUTH").map { String(cString: $0) }
        return ProxyConfiguration(
            host: self.proxy.listen.host, port: self.proxy.listen.port, allowsRemote: self.proxy.allowRemote, credentials: credentials,
            durability: self.recording?.durability ?? .normal, diskFullPolicy: self.recording?.onDiskFull ?? .pass, limits: limits,
            cassetteName: self.file.split(separator: "/").last.map(String.init) ?? "")
    }

    /// What is taken out of a recording; nil where secrets are kept, or nothing is recorded.
    /// What the command line and the configuration file take out of a recording; nil where secrets are kept.
    private func redactionRules(_ settings: RunSettings) throws(CassetteError) -> RedactionRules? {
        guard self.recording?.noRedaction != true else { return nil }
        let options = self.recording?.redaction
        do {
            return try RedactionOptions.rules(
                redact: settings.redact.map(\.value) + (options?.rules ?? []), keep: settings.keep.map(\.value) + (options?.keep ?? []),
                secretEnv: settings.secretEnv.map(\.value) + (options?.secretEnv ?? []))
        } catch {
            throw CassetteError(.unwritable, error.message)
        }
    }

    private func missingSecrets(_ settings: RunSettings) -> [String] {
        guard let recording, !recording.noRedaction else { return [] }
        return RedactionOptions.missing(settings.secretEnv.map(\.value) + recording.redaction.secretEnv)
    }

    /// Live requests are compared as the cassette's were kept; nil where those are as they came.
    private func liveRedactor(_ cassette: RecordedCassette?, _ rules: RedactionRules?) throws(CassetteError) -> LiveRedactor? {
        guard let own = try cassette?.redactionRules() else { return nil }
        return LiveRedactor(Redactor(rules: rules.map { own.adding($0) } ?? own))
    }

    private struct Outcome {
        /// The program's exit code; nil where there was none.
        var childStatus: Int32?
        /// The exit code of a program that could not be started.
        var startStatus: Int32?
    }

    // MARK: Without a program

    private func serve(_ server: ProxyServer, _ screen: RunScreen) -> Outcome {
        let stop = DispatchSemaphore(value: 0)
        SignalThread.start { _ in stop.signal() }
        screen.say("listening on http://\(server.address)")
        screen.showCounts { server.counts }
        stop.wait()
        return Outcome()
    }

    // MARK: With a program

    /// The program's command line, and the files that make it trust the authority.
    private struct TrustedProgram {
        var command: [String]
        var trust: ChildTrust
    }

    private func trustedProgram(_ place: AuthorityPlace, _ screen: RunScreen) throws(TrustError) -> TrustedProgram {
        let trust = try ChildTrust.prepare(
            authority: self.tls.certificate(in: place).chain, folder: TrustFolder(path: place.trustFolder), parent: ChildEnvironment.parent)
        for notice in trust.notices { screen.say(notice) }
        guard self.tls.privateTrust else { return TrustedProgram(command: self.command, trust: trust) }
        let files = SystemRoots.files()
        try PrivateTrust.check(bundle: trust.bundle, files: files, user: getuid(), group: getgid(), environment: ChildEnvironment.parent)
        let command = PrivateTrust.command(self.command, bundle: trust.bundle, files: files, user: getuid(), group: getgid())
        return TrustedProgram(command: command, trust: trust)
    }

    private func serve(
        _ server: ProxyServer, _ screen: RunScreen, child program: TrustedProgram, recordedAt start: Timestamp?
    ) -> Outcome {
        let credentials = self.configuration.credentials.map { Self.percentEncoded($0) + "@" } ?? ""
        var environment = ChildEnvironment.through(
            proxy: "http://\(credentials)\(Self.reachable(server.address))", trust: program.trust, parent: ChildEnvironment.parent)
        for (name, value) in ChildEnvironment.recordingTime(start) { environment[name] = value }
        let child: ChildProcess
        do throws(ChildProcess.StartError) {
            child = try ChildProcess(command: program.command, environment: environment)
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
        if self.proxy.verbose { screen.say("listening on http://\(server.address)") }
        screen.showCounts { server.counts }
        SignalThread.start { arrival in
            if !arrival.isFromTerminal { child.send(signal: arrival.signal) }
        }
        return Outcome(childStatus: child.wait())
    }

    /// Where clients on this machine reach a proxy that listens on every address.
    static func reachable(_ address: String) -> String {
        if address.hasPrefix("0.0.0.0:") { return "127.0.0.1:" + address.dropFirst(8) }
        if address.hasPrefix("[::]:") { return "[::1]:" + address.dropFirst(5) }
        return address
    }

    /// User information for a URL: everything but unreserved characters and the first colon (RFC 3986, 3.2.1).
    static func percentEncoded(_ pair: String) -> String {
        var text = ""
        var sawColon = false
        for byte in pair.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ":") where !sawColon:
                sawColon = true
                text += ":"
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return text
    }
}
