public import ArgumentParser
internal import CassetteModel
internal import CassettePlayback
internal import CassetteTools
internal import Dispatch
internal import Platform
internal import TapeBytes
public import TapeProxy

struct ServeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serve many cassettes at once, each to its own session.",
        discussion: """
            A session is started and ended over HTTP, with the token; its clients name it in the proxy's URL, or use a port of its own. \
            Runs until Ctrl-C or SIGTERM, which closes every cassette.

            Programs that start it themselves, such as drivers for tests, use --share: one line of JSON on standard output says where it \
            listens and holds the token, and it ends when the standard input of all who started it is closed.

            Examples:
              wiretape serve --folder Cassettes --token-file token
              curl -H "Authorization: Bearer $(cat token)" --json '{"cassette": "pets.json"}' http://127.0.0.1:7071/sessions
              curl -H "Authorization: Bearer $(cat token)" -X DELETE http://127.0.0.1:7071/sessions/s1
            """)

    @Option(help: "Address of the proxy for all sessions, HOST:PORT; a loopback address; port 0 picks a free one.")
    var listen = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(help: "Address of the control API, HOST:PORT; a loopback address; port 0 picks a free one.")
    var control = ListenAddress(host: "127.0.0.1", port: 0)

    @Option(
        help: ArgumentHelp(
            "The file with the token for --control, created if it is missing. Default: the token in WIRETAPE_TOKEN; with --json a new one.",
            valueName: "file"), completion: .file())
    var tokenFile: String?

    @Option(
        help: ArgumentHelp("The folder of the cassettes; sessions cannot use files outside it.", valueName: "folder"),
        completion: .directory)
    var folder = "."

    @Flag(help: "When it listens, print one line of JSON on standard output: addresses, token, files to trust.")
    var json = false

    @Flag(help: "End when standard input is closed, as on Ctrl-C; also when the program that started it is killed.")
    var untilEof = false

    @Flag(help: "Share one server with all processes that start it alike; implies --json and --until-eof, and makes --folder.")
    var share = false

    @Flag(name: .shortAndLong, help: "Print only errors.")
    var quiet = false

    /// Shows a page for each session.
    @OptionGroup(title: "Inspector") var page: WebOptions

    @OptionGroup var proxying: SettingOptions<ProxyGroup>

    @OptionGroup(title: "Threads and log") var server: ServerOptions

    @OptionGroup(title: "HTTPS with clients") var tls: TLSOptions
    @OptionGroup(title: "Origins") var upstreamTLS: UpstreamTLSOptions

    @OptionGroup(title: "For all sessions; a session's own settings override them") var rules: SettingOptions<RuleGroup>
    @OptionGroup(title: "More on matching, for all sessions") var more: SettingOptions<MoreRuleGroup>
    @OptionGroup(title: "Verdict, for all sessions") var failures: SettingOptions<FailureGroup>
    @OptionGroup(title: "How a replay answers, for all sessions") var answers: SettingOptions<AnswerGroup>
    @OptionGroup(title: "Time in a replay, for all sessions") var pace: SettingOptions<PaceGroup>
    @OptionGroup(title: "Secrets, for all sessions") var redaction: SettingOptions<RedactionGroup>

    @Flag(help: "Keep secrets in the cassettes: anyone who can read a cassette can read them.")
    var noRedaction = false

    @OptionGroup(title: "Configuration file") var config: ConfigOptions

    @Option(help: "\"normal\" syncs to disk at least every second, \"full\" before each answer ends.")
    var durability = ProxyConfiguration.Durability.normal

    @Option(help: "While the disk is full: \"pass\" lets traffic go on unrecorded, \"refuse\" answers 507.")
    var onDiskFull = ProxyConfiguration.DiskFullPolicy.pass

    /// Not an option of this command. It is declared so that the error can name the alternative.
    @Option(help: .hidden)
    var report: String?

    func validate() throws {
        guard self.report == nil else {
            throw ValidationError("--report is for one cassette: the answer to DELETE /sessions/ID has the report.")
        }
        guard !self.share || self.tokenFile == nil else {
            throw ValidationError("--share has a token of its own: leave out --token-file.")
        }
        guard !self.noRedaction || self.redaction.isEmpty else {
            throw ValidationError("--no-redaction cannot be used together with --redact, --keep or --secret-env.")
        }
    }

    /// Seconds.
    var grace: Int { self.proxying.settings.value(Settings.grace) }

    /// The settings for all sessions, from the command line.
    var settings: RunSettings {
        var own = RunSettings()
        if self.noRedaction { own[Settings.redaction] = Setting(value: false, source: .commandLine) }
        own = self.answers.lay(over: self.failures.lay(over: self.more.lay(over: self.rules.lay(over: own))))
        return self.redaction.lay(over: self.pace.lay(over: self.proxying.lay(over: own)))
    }

    func run() throws { try ServeRun(options: self).run() }
}

extension ProxyConfiguration.Durability: ExpressibleByArgument {}
extension ProxyConfiguration.DiskFullPolicy: ExpressibleByArgument {}

/// A run of the session server: listens, waits for a signal, closes all cassettes, and reports the sessions that are still open.
struct ServeRun {
    var options: ServeCommand

    func run() throws { try CommandEnd.run { try self.execute() } }

    private func execute() throws -> Int32 {
        // Ctrl-C in a terminal would reach the program that started this one. That program ends it by closing standard input.
        if self.endsWithInput { _ = setsid() }
        guard self.options.share else { return try self.serve(nil) }
        let environment = ChildEnvironment.parent
        guard Self.makesFolder(self.options.folder) else {
            throw TrustError(
                "cannot create the folder \"\(self.options.folder)\" (\(String(cString: strerror(errno)))): create it, or name another.")
        }
        switch try SharedServe.join(try self.identity(environment), in: try SharedServe.folder(environment: environment)) {
        case .server(let shared): return try self.serve(shared)
        case .user(let shared, let readyLine):
            Terminal.output.write(readyLine)
            let stop = DispatchSemaphore(value: 0)
            SignalThread.start { _ in stop.signal() }
            StandardInput.whenClosed { stop.signal() }
            // The lock that represents the server is released with `shared`.
            withExtendedLifetime(shared) { stop.wait() }
            return ExitStatus.done
        }
    }

    /// Creates the folder with its parents. Sets `errno` if it returns false.
    private static func makesFolder(_ path: String) -> Bool {
        if mkdir(path, 0o777) == 0 || errno == EEXIST { return true }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return false }
        return self.makesFolder(String(path[..<slash])) && (mkdir(path, 0o777) == 0 || errno == EEXIST)
    }

    private var endsWithInput: Bool { self.options.untilEof || self.options.share }

    /// The properties that two processes must have in common to share a server.
    private func identity(_ environment: [String: String]) throws -> [String] {
        let folder = try CassetteFolder(self.options.folder).path
        let variables = environment.filter { name, _ in
            name.hasPrefix("WIRETAPE_") || ChildEnvironment.proxyNames.contains(name) || ["HOME", "XDG_DATA_HOME"].contains(name)
        }
        return [Version.current, folder, ConfigSearch.workingFolder] + ProgramArguments.all.dropFirst()
            + variables.map { "\($0)=\($1)" }.sorted()
    }

    /// - Parameter shared: how other processes find this server; nil if they cannot.
    private func serve(_ shared: SharedServe?) throws -> Int32 {
        let printsJSON = self.options.json || self.options.share
        let screen = RunScreen(quiet: self.options.quiet || printsJSON, hasChild: false)
        let folder = try CassetteFolder(self.options.folder)
        let file = try self.options.config.file()
        for notice in Self.notices(on: file) { screen.say(notice) }
        let token =
            printsJSON && self.options.tokenFile == nil && (self.options.share || !ControlToken.isInEnvironment)
            ? Secret.random() : try ControlToken.find(file: self.options.tokenFile) { screen.say($0) }
        let place = try self.options.tls.authority.place()
        defer { place.temporary?.remove() }
        var limits = ProxyLimits()
        limits.grace = self.options.grace
        let upstream = self.options.upstreamTLS.laid(over: file?.settings ?? RunSettings())
        let tls = try self.options.tls.settings(in: place, upstream: upstream) { screen.say($0) }
        let trust = try ChildTrust.prepare(
            authority: self.options.tls.certificate(in: place).chain, folder: TrustFolder(path: place.trustFolder),
            parent: ChildEnvironment.parent)
        let commandLine = self.options.settings
        let log = try self.options.server.openLog(servesSessions: true)
        defer { log?.flush() }
        let pages = self.options.page.web ? SessionPages(self.options.page) { screen.complain($0) } : nil
        defer { pages?.threads.stop() }
        var configuration = SessionServerConfiguration(
            host: self.options.listen.host, port: self.options.listen.port, folder: folder,
            durability: self.options.durability, diskFullPolicy: self.options.onDiskFull,
            limits: limits, tls: tls,
            settings: { path in
                (file?.settings(for: path, in: ConfigSearch.workingFolder) ?? RunSettings()).adding(commandLine)
            }, secret: EnvironmentSecret.value, version: Version.current,
            loops: self.options.server.provider, logger: log?.logger ?? ProxyConfiguration.silent)
        configuration.client = { ServeClient.settings(proxy: $0, trust: trust) }
        configuration.chain = try self.options.upstreamTLS.proxies.chain { screen.say($0) }
        if let pages { configuration.page = { try pages.page(of: $0) } }
        let server = try SessionServer.start(configuration) {
            // Printed on one line, whatever names a client or an origin sends.
            screen.complain(VisibleText.line($0))
            // The message may contain paths: it is for the person at the screen only.
            log?.logger.warning("a message was printed on standard error")
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
        let closing = ClosingTime(grace: self.options.grace) { server.hasten() }
        SignalThread.start { _ in
            closing.signalled()
            stop.signal()
        }
        screen.say("sessions on http://\(server.address), control on http://\(control.address)/sessions")
        if printsJSON {
            let line = ServeClient.readyLine(
                proxy: server.address, control: control.address, token: token, folder: folder.path, trust: trust)
            try shared?.publish(line)
            Terminal.output.write(line)
        }
        if self.endsWithInput {
            let users = shared?.users
            StandardInput.whenClosed {
                users?.waitForOthers()
                stop.signal()
            }
        }
        stop.wait()
        SignalThread.close(nil)
        // Before the control API, which waits until the sessions that it was asked to end have ended.
        closing.begin()
        control.stop()
        let searching = SearchProgress(screen: screen)
        let reports = server.stop(searching: { searching.show($0) })
        searching.end()
        for line in reports.flatMap(Self.lines) { screen.complain(line) }
        screen.stop()
        return Self.exitStatus(reports)
    }

    /// Host patterns apply to the whole process: whether a tunnel is intercepted is decided before its session is known.
    static func notices(on file: ConfigFile?) -> [String] {
        guard let file,
            file.sections.contains(where: { !$0.settings[Settings.passthrough].isEmpty || !$0.settings[Settings.refuse].isEmpty })
        else {
            return []
        }
        return ["\"\(file.path)\": passthrough and refuse for single cassettes have no effect here: set them for all."]
    }

    /// The smallest exit code except 0, as for several reasons in one run.
    static func exitStatus(_ reports: [SessionReport]) -> Int32 {
        reports.map { Int32($0.exitStatus) }.filter { $0 != ExitStatus.done }.min() ?? ExitStatus.done
    }

    /// The outcome of a session that was still open: each problem with its next step, and a line of numbers.
    static func lines(_ report: SessionReport) -> [String] {
        let flaws = report.details?.flawLines(naming: report.failOn.failing.union([.miss])) ?? []
        var lines = flaws.map { "session \"\(report.label ?? report.name.text)\": \($0)" }
        for leak in report.recorder?.leaks ?? [] {
            let file = report.file ?? report.cassette
            lines.append(
                "session \"\(report.label ?? report.name.text)\": a secret is still in \"\(VisibleText.line(file))\": \(leak); remove the file, or try \"wiretape redact\"."
            )
        }
        return lines + [VisibleText.line(self.line(report))]
    }

    private static func line(_ report: SessionReport) -> String {
        var text = "session \"\(report.label ?? report.name.text)\" with \"\(report.cassette)\" was still open: "
        text += "\(Quantity.count(report.verdict.hits, "hit")), \(Quantity.count(report.verdict.misses, "miss", plural: "misses"))"
        if report.verdict.answeredByRules > 0 { text += ", \(report.verdict.answeredByRules) answered by rules" }
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

/// The information that `serve` gives to the program that starts it, and to the clients of its sessions.
enum ServeClient {
    /// One line of JSON, including its line end.
    static func readyLine(proxy: String, control: String, token: Secret, folder: String, trust: ChildTrust) -> String {
        var writer = JSONWriter()
        writer.beginObject(.inline)
        for (name, value) in [
            ("wiretape", Version.current), ("protocol", SessionServer.protocolVersion), ("proxy", proxy), ("control", "http://\(control)"),
            ("token", token.revealed), ("folder", folder),
        ] {
            writer.member(named: name)
            writer.string(value)
        }
        writer.member("trust")
        writer.beginObject(.inline)
        for (name, value) in self.files(trust) {
            writer.member(named: name)
            writer.string(value)
        }
        writer.endObject()
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self) + "\n"
    }

    static func settings(proxy: String, trust: ChildTrust) -> SessionClientSettings {
        SessionClientSettings(
            environment: ChildEnvironment.changes(proxy: proxy, trust: trust, parent: ChildEnvironment.parent), trust: self.files(trust))
    }

    private static func files(_ trust: ChildTrust) -> [(name: String, value: String)] {
        let java = trust.javaStore.map { [("java", $0), ("javaPassword", ChildTrust.javaPassword)] } ?? []
        return [("bundle", trust.bundle)] + java
    }
}

/// The end of standard input.
enum StandardInput {
    /// Reads and drops all input, on a thread of its own.
    static func whenClosed(_ then: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "wiretape.input").async {
            var buffer = [UInt8](repeating: 0, count: 512)
            while true {
                let count = read(STDIN_FILENO, &buffer, buffer.count)
                guard count > 0 || (count < 0 && errno == EINTR) else { break }
            }
            then()
        }
    }
}

/// The token of the control API, from a file, which is created if missing, or from WIRETAPE_TOKEN. Never from the command line,
/// which every user of the machine can read.
enum ControlToken {
    static let variable = "WIRETAPE_TOKEN"

    static var isInEnvironment: Bool { !(ChildEnvironment.parent[self.variable] ?? "").isEmpty }

    /// In bytes: a shorter token can be guessed, and a longer text is probably another file.
    static let sizes = 16...256

    /// - Parameters:
    ///   - file: used instead of the variable.
    ///   - notice: receives a line that a person should know although nothing failed.
    static func find(
        file: String?, environment: [String: String] = ChildEnvironment.parent, notice: (String) -> Void
    ) throws(TrustError) -> Secret {
        if let file { return try self.read(file, notice: notice) }
        if let text = environment[self.variable], !text.isEmpty { return try self.check(text, "the variable \(self.variable)") }
        throw TrustError(
            "the control API needs a token: pass --token-file FILE, which is created if it is missing, or set \(self.variable).")
    }

    private static func read(_ file: String, notice: (String) -> Void) throws(TrustError) -> Secret {
        var status = stat()
        if lstat(file, &status) != 0, errno == ENOENT {
            let secret = Secret.random()
            try WholeFile.replace(file, with: Array("\(secret.revealed)\n".utf8), mode: 0o600)
            notice("created a token for the control API in \"\(file)\".")
            return secret
        }
        let text = String(decoding: try WholeFile.read(file), as: UTF8.self)
        if stat(file, &status) == 0, status.st_mode & 0o077 != 0 {
            notice("other users can open \"\(file)\": run \"chmod 600 \(file)\", or they can start sessions too.")
        }
        return try self.check(text.hasSuffix("\n") ? String(text.dropLast()) : text, "\"\(file)\"")
    }

    private static func check(_ text: String, _ place: String) throws(TrustError) -> Secret {
        guard self.sizes.contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TrustError(
                "\(place) is not a token: a token has \(self.sizes.lowerBound) to \(self.sizes.upperBound) visible ASCII characters and no space, such as \"openssl rand -hex 24\" prints."
            )
        }
        return Secret(text)
    }
}
