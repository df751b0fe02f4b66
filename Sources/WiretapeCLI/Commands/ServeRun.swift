internal import ArgumentParser
internal import Dispatch
internal import TapeCore
internal import TapeProxy

/// One run of the server of sessions: listens, waits for a signal, closes all cassettes, and says what came of those that nobody ended.
struct ServeRun {
    var options: ServeCommand

    func run() throws { try CommandEnd.run { try self.execute() } }

    private func execute() throws -> Int32 {
        let screen = RunScreen(quiet: self.options.quiet, hasChild: false)
        let folder = try CassetteFolder(self.options.folder)
        let token = try ControlToken.find(file: self.options.tokenFile) { screen.say($0) }
        let place = try self.options.tls.authority.place()
        defer { place.temporary?.remove() }
        var limits = ProxyLimits()
        limits.grace = self.options.grace
        let configuration = SessionServerConfiguration(
            host: self.options.listen.host, port: self.options.listen.port, folder: folder,
            durability: self.options.recording.durability ?? .normal, diskFullPolicy: self.options.recording.onDiskFull ?? .pass,
            limits: limits,
            tls: try self.options.tls.settings(in: place, upstream: self.options.upstreamTLS) { screen.say($0) }, version: Version.current)
        let server = try SessionServer.start(configuration) {
            // One line, whatever names a client or an origin gives.
            screen.complain(VisibleText.line($0))
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
        for report in reports { screen.complain(VisibleText.line(Self.line(report))) }
        screen.stop()
        return Self.exitStatus(reports)
    }

    /// A failure goes before misses.
    static func exitStatus(_ reports: [SessionReport]) -> Int32 {
        let all = reports.map { Int32($0.exitStatus) }
        return all.contains(ExitStatus.failed) ? ExitStatus.failed : all.max() ?? ExitStatus.done
    }

    /// What came of a session that nobody had ended.
    static func line(_ report: SessionReport) -> String {
        var text = "session \"\(report.name)\" with \"\(report.cassette)\" was still open: "
        text += "\(Quantity.count(report.verdict.hits, "hit")), \(Quantity.count(report.verdict.misses, "miss", plural: "misses"))"
        if let recorder = report.recorder {
            text += ", \(Quantity.count(recorder.recorded, "exchange")) recorded" + (report.file.map { " in \"\($0)\"" } ?? "")
            if recorder.lost > 0 { text += ", \(recorder.lost) lost" }
        }
        return text + (report.problem.map { "; \($0)" } ?? ".")
    }
}
