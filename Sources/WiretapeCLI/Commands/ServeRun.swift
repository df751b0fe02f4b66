internal import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import Dispatch
internal import TapeProxy

/// One run of the server of sessions: listens, waits for a signal, closes all cassettes, and says what came of those that nobody ended.
struct ServeRun {
    var options: ServeCommand

    func run() throws { try CommandEnd.run { try self.execute() } }

    private func execute() throws -> Int32 {
        let screen = RunScreen(quiet: self.options.quiet, hasChild: false)
        let folder = try CassetteFolder(self.options.folder)
        let file = try self.options.config.file()
        for notice in Self.notices(on: file) { screen.say(notice) }
        let token = try ControlToken.find(file: self.options.tokenFile) { screen.say($0) }
        let place = try self.options.tls.authority.place()
        defer { place.temporary?.remove() }
        var limits = ProxyLimits()
        limits.grace = self.options.grace
        let upstream = self.options.upstreamTLS.laid(over: file?.settings ?? RunSettings())
        let tls = try self.options.tls.settings(in: place, upstream: upstream) { screen.say($0) }
        let commandLine = self.options.settings
        let log = try self.options.server.openLog(servesSessions: true)
        defer { log?.flush() }
        let configuration = SessionServerConfiguration(
            host: self.options.listen.host, port: self.options.listen.port, folder: folder,
            durability: self.options.durability, diskFullPolicy: self.options.onDiskFull,
            limits: limits, tls: tls,
            settings: { path in
                (file?.settings(for: path, in: ConfigSearch.workingFolder) ?? RunSettings()).adding(commandLine)
            }, secret: RedactionOptions.variable, version: Version.current,
            loops: self.options.server.provider, logger: log?.logger ?? ProxyConfiguration.silent)
        let server = try SessionServer.start(configuration) {
            // One line, whatever names a client or an origin gives.
            screen.complain(VisibleText.line($0))
            // What is said may hold paths: it is for the person at the screen.
            log?.logger.warning("something was said on standard error")
        }
        let control: ControlServer
        do {
            control = try ControlServer.start(
                for: server, host: self.options.control.host, port: self.options.control.port, token: token)
        } catch {
            _ = server.stop()
            throw error
        }
        let stop = DispatchSemaphore(value: 0)
        SignalThread.start { _ in stop.signal() }
        screen.say("sessions on http://\(server.address), control on http://\(control.address)/sessions")
        stop.wait()
        control.stop()
        let reports = server.stop()
        for line in reports.flatMap(Self.lines) { screen.complain(line) }
        screen.stop()
        return Self.exitStatus(reports)
    }

    /// Host patterns are of the whole process: a tunnel is opened or not before it is known what is in it.
    static func notices(on file: ConfigFile?) -> [String] {
        guard let file, file.sections.contains(where: { !$0.settings.passthrough.isEmpty || !$0.settings.refuse.isEmpty }) else {
            return []
        }
        return ["\"\(file.path)\": passthrough and refuse for some cassettes do not hold here: write them for all."]
    }

    /// The smallest but 0, as of several reasons in one run.
    static func exitStatus(_ reports: [SessionReport]) -> Int32 {
        reports.map { Int32($0.exitStatus) }.filter { $0 != ExitStatus.done }.min() ?? ExitStatus.done
    }

    /// What came of a session that nobody had ended: what went wrong, each with its next step, and a line of numbers.
    static func lines(_ report: SessionReport) -> [String] {
        let flaws = report.details?.flawLines(naming: report.failOn.flaws.union([.miss])) ?? []
        var lines = flaws.map { "session \"\(report.name)\": \($0)" }
        for leak in report.recorder?.leaks ?? [] {
            let file = report.file ?? report.cassette
            lines.append(
                "session \"\(report.name)\": a secret is still in \"\(VisibleText.line(file))\": \(leak); remove the file, or try \"wiretape redact\"."
            )
        }
        return lines + [VisibleText.line(self.line(report))]
    }

    private static func line(_ report: SessionReport) -> String {
        var text = "session \"\(report.name)\" with \"\(report.cassette)\" was still open: "
        text += "\(Quantity.count(report.verdict.hits, "hit")), \(Quantity.count(report.verdict.misses, "miss", plural: "misses"))"
        if report.verdict.orderViolations > 0 { text += ", \(report.verdict.orderViolations) out of order" }
        if !report.verdict.unused.isEmpty { text += ", \(report.verdict.unused.count) unused" }
        if let recorder = report.recorder {
            text += ", \(Quantity.count(recorder.recorded, "exchange")) recorded" + (report.file.map { " in \"\($0)\"" } ?? "")
            if recorder.lost > 0 { text += ", \(recorder.lost) lost" }
        }
        if report.exitStatus != 0 { text += ", exit code \(report.exitStatus)" }
        return text + (report.problem.map { "; \($0)" } ?? ".")
    }
}
