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
    var repetition: Repetition
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
        }
    }

    private func fail(_ message: String) throws -> Never {
        Terminal.error.complain(message)
        throw ExitCode(ExitStatus.failed)
    }

    // MARK: The run

    private func execute() throws -> Int32 {
        let plan = try RecordingPlan(path: self.file, mode: self.mode, exists: CassettePlace.exists(self.file))
        let cassette = plan.replays ? try RecordedCassette(path: self.file) : nil
        let screen = RunScreen(quiet: self.proxy.quiet, hasChild: !self.command.isEmpty)
        if let damage = cassette?.damage { screen.say(damage.summary + ".") }
        var configuration = self.configuration
        let place = try self.tls.authority.place()
        defer { place.temporary?.remove() }
        configuration.tls = try self.tls.settings(in: place, upstream: self.upstreamTLS) { screen.say($0) }
        let program = try self.command.isEmpty ? nil : self.trustedProgram(place, screen)
        let rules = try self.redactionRules()
        if plan.target != .nothing {
            for name in self.recording?.redaction.missing() ?? [] { screen.say(RedactCommand.missing(name)) }
        }
        let recorder = try Recorder(plan, version: Version.current, redaction: rules) { screen.say($0) }
        if let repaired = recorder?.repaired { screen.say(repaired.summary + ".") }
        let session = try Session(
            mode: self.mode, cassette: cassette, repetition: self.repetition, redaction: try self.liveRedactor(cassette, rules))
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
        let outcome = program.map { self.serve(server, screen, child: $0) } ?? self.serve(server, screen)
        server.stop()
        screen.stop()
        if let startStatus = outcome.startStatus {
            try recorder?.abandon()
            return startStatus
        }

        let childFailed = outcome.childStatus.map { $0 != 0 } ?? false
        var path = self.file
        if let recorder {
            let progress = ProgressLine(label: "developing")
            path = try recorder.close(keepsOld: childFailed) { progress.show($0, of: $1) }
            progress.end()
        }
        let summary = RunSummary(
            path: path, plan: plan, counts: server.counts, verdict: session.verdict(), recorder: recorder?.currentStatus,
            recorded: cassette?.answerableCount ?? 0, childStatus: outcome.childStatus)
        if self.proxy.json {
            Terminal.error.line(summary.json)
        } else {
            summary.report(to: screen)
        }
        return summary.exitStatus
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
    private func redactionRules() throws(CassetteError) -> RedactionRules? {
        do {
            return try self.recording?.redactionRules()
        } catch {
            throw CassetteError(.unwritable, error.message)
        }
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

    private func serve(_ server: ProxyServer, _ screen: RunScreen, child program: TrustedProgram) -> Outcome {
        let credentials = self.configuration.credentials.map { Self.percentEncoded($0) + "@" } ?? ""
        let environment = ChildEnvironment.through(
            proxy: "http://\(credentials)\(Self.reachable(server.address))", trust: program.trust, parent: ChildEnvironment.parent)
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
