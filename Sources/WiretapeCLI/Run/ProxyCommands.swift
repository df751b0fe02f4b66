internal import ArgumentParser
internal import CassetteStore
internal import TapeProxy

struct RecordCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "record",
        abstract: "Record traffic into a cassette.",
        discussion: """
            If FILE exists, the new recording is written beside it and replaces it when it is closed cleanly; if the command fails, \
            the old one is kept.

            Examples:
              wiretape record Cassettes/pets.json -- python3 client.py
              wiretape record Cassettes/pets.json -- npm test
              wiretape record Cassettes/pets.json --browser https://example.com/
              wiretape record Cassettes/pets.json --listen 127.0.0.1:7070
              http_proxy=http://127.0.0.1:7070 curl http://127.0.0.1:9000/pets
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Argument(help: "With --browser: the page that it opens.")
    var url: String?

    @OptionGroup var rules: SettingOptions<RuleGroup>
    @OptionGroup(title: "More on matching") var more: SettingOptions<MoreRuleGroup>
    @OptionGroup var failures: SettingOptions<FailureGroup>
    @OptionGroup(title: "Changing the traffic") var modify: ModifyOptions
    @OptionGroup(title: "Changing the traffic") var drawing: SettingOptions<SeedGroup>
    @OptionGroup(title: "Configuration file") var config: ConfigOptions
    @OptionGroup var listening: SettingOptions<ListenGroup>
    @OptionGroup(title: "The proxy") var reach: ReachOptions
    @OptionGroup(title: "The proxy") var proxying: SettingOptions<ProxyGroup>
    @OptionGroup(title: "Threads and log") var server: ServerOptions
    @OptionGroup(title: "Inspector") var page: WebOptions
    @OptionGroup(title: "Browser") var browser: BrowserOptions
    @OptionGroup(title: "HTTPS with clients") var tls: TLSOptions
    @OptionGroup(title: "HTTPS with clients") var trust: TrustOptions
    @OptionGroup(title: "Isolation") var isolation: IsolateOptions
    @OptionGroup(title: "Origins") var upstreamTLS: UpstreamTLSOptions
    @OptionGroup var recording: RecordOptions

    @Argument(
        parsing: .postTerminator, help: "The program to run through the proxy; without one the proxy runs until Ctrl-C.",
        completion: .file())
    var command: [String] = []

    private var proxy: ProxyOptions { ProxyOptions(self.listening, self.proxying, self.reach, self.server, self.page) }

    /// The run that the command line asks for.
    var proxyRun: ProxyRun {
        ProxyRun(
            file: self.file, mode: .all,
            settings: self.drawing.lay(over: self.failures.lay(over: self.more.lay(over: self.rules.settings))),
            modify: self.modify, config: self.config,
            reports: [], proxy: self.proxy,
            tls: self.tls, trust: self.trust, upstreamTLS: self.upstreamTLS, recording: self.recording, browser: self.browser,
            url: self.url, isolation: self.isolation,
            command: self.command)
    }

    func validate() throws {
        try self.browser.validate(url: self.url, command: self.command)
        try self.trust.validate(with: self.command)
        try self.isolation.validate(
            with: self.command, isBrowser: self.browser.browser, failOn: self.failures.settings.value(Settings.failOn))
    }

    func run() throws { try self.proxyRun.run() }
}

struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Answer from a cassette, with no network.",
        discussion: """
            Each recorded exchange answers one request. A request that was not recorded is answered with status 424 and a text that \
            names the nearest recorded ones, and the run exits with 3.

            Examples:
              wiretape replay Cassettes/pets.json -- python3 client.py
              wiretape replay Cassettes/pets.json --listen 127.0.0.1:7070 --repeat last
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Argument(help: "With --browser: the page that it opens.")
    var url: String?

    @OptionGroup var fetching: FetchOptions
    @OptionGroup var rules: SettingOptions<RuleGroup>
    @OptionGroup(title: "More on matching") var more: SettingOptions<MoreRuleGroup>
    @OptionGroup var failures: SettingOptions<FailureGroup>
    @OptionGroup(title: "How a replay answers") var answers: SettingOptions<AnswerGroup>
    @OptionGroup var reports: ReportOptions
    @OptionGroup(title: "Time in a replay") var pace: SettingOptions<PaceGroup>
    @OptionGroup(title: "Time in a replay") var clock: SettingOptions<ClockGroup>
    @OptionGroup(title: "Changing the traffic") var modify: ModifyOptions
    @OptionGroup(title: "Changing the traffic") var drawing: SettingOptions<SeedGroup>
    @OptionGroup(title: "Configuration file") var config: ConfigOptions
    @OptionGroup var listening: SettingOptions<ListenGroup>
    @OptionGroup(title: "The proxy") var reach: ReachOptions
    @OptionGroup(title: "The proxy") var proxying: SettingOptions<ProxyGroup>
    @OptionGroup(title: "Threads and log") var server: ServerOptions
    @OptionGroup(title: "Inspector") var page: WebOptions
    @OptionGroup(title: "Browser") var browser: BrowserOptions
    @OptionGroup(title: "HTTPS with clients") var tls: TLSOptions
    @OptionGroup(title: "HTTPS with clients") var trust: TrustOptions
    @OptionGroup(title: "Isolation") var isolation: IsolateOptions

    @Argument(
        parsing: .postTerminator, help: "The program to run through the proxy; without one the proxy runs until Ctrl-C.",
        completion: .file())
    var command: [String] = []

    private var proxy: ProxyOptions { ProxyOptions(self.listening, self.proxying, self.reach, self.server, self.page) }

    private var settings: RunSettings {
        let rules = self.more.lay(over: self.rules.settings)
        return self.drawing.lay(
            over: self.clock.lay(over: self.pace.lay(over: self.answers.lay(over: self.failures.lay(over: rules)))))
    }

    /// The run that the command line asks for.
    var proxyRun: ProxyRun {
        ProxyRun(
            file: self.file, fetches: self.fetching.fetch, mode: RecordMode.none,
            settings: self.settings,
            modify: self.modify, config: self.config,
            reports: self.reports.report, proxy: self.proxy, tls: self.tls, trust: self.trust, upstreamTLS: nil, recording: nil,
            browser: self.browser, url: self.url, isolation: self.isolation,
            command: self.command)
    }

    func validate() throws {
        guard self.answers.settings.value(Settings.onExpired) != .rerecord else {
            throw ValidationError("replay does not use the network: pass --on-expired rerecord to \"wiretape run\".")
        }
        try self.browser.validate(url: self.url, command: self.command)
        try self.trust.validate(with: self.command)
        try self.isolation.validate(
            with: self.command, isBrowser: self.browser.browser, failOn: self.failures.settings.value(Settings.failOn))
    }

    func run() throws { try self.proxyRun.run() }
}

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Record if there is no cassette yet, replay if there is.",
        discussion: """
            With --mode new-episodes, recorded requests are replayed and new ones are forwarded and added.

            Examples:
              wiretape run Cassettes/pets.json -- python3 client.py
              wiretape run Cassettes/pets.json --mode new-episodes -- python3 client.py
              wiretape run Cassettes/pets.json --mode all --review -- python3 client.py
            """)

    @Argument(help: "The cassette, a JSON file.", completion: .file())
    var file: String

    @Argument(help: "With --browser: the page that it opens.")
    var url: String?

    @OptionGroup var mode: SettingOptions<ModeGroup>

    @OptionGroup var fetching: FetchOptions
    @OptionGroup var rules: SettingOptions<RuleGroup>
    @OptionGroup(title: "More on matching") var more: SettingOptions<MoreRuleGroup>
    @OptionGroup var failures: SettingOptions<FailureGroup>
    @OptionGroup(title: "How a replay answers") var answers: SettingOptions<AnswerGroup>
    @OptionGroup var reports: ReportOptions
    @OptionGroup(title: "Time in a replay") var pace: SettingOptions<PaceGroup>
    @OptionGroup(title: "Time in a replay") var clock: SettingOptions<ClockGroup>
    @OptionGroup(title: "Changing the traffic") var modify: ModifyOptions
    @OptionGroup(title: "Changing the traffic") var drawing: SettingOptions<SeedGroup>
    @OptionGroup(title: "Configuration file") var config: ConfigOptions
    @OptionGroup var listening: SettingOptions<ListenGroup>
    @OptionGroup(title: "The proxy") var reach: ReachOptions
    @OptionGroup(title: "The proxy") var proxying: SettingOptions<ProxyGroup>
    @OptionGroup(title: "Threads and log") var server: ServerOptions
    @OptionGroup(title: "Inspector") var page: WebOptions
    @OptionGroup(title: "Browser") var browser: BrowserOptions
    @OptionGroup(title: "HTTPS with clients") var tls: TLSOptions
    @OptionGroup(title: "HTTPS with clients") var trust: TrustOptions
    @OptionGroup(title: "Isolation") var isolation: IsolateOptions
    @OptionGroup(title: "Origins") var upstreamTLS: UpstreamTLSOptions
    @OptionGroup var recording: RecordOptions

    @Argument(
        parsing: .postTerminator, help: "The program to run through the proxy; without one the proxy runs until Ctrl-C.",
        completion: .file())
    var command: [String] = []

    private var proxy: ProxyOptions { ProxyOptions(self.listening, self.proxying, self.reach, self.server, self.page) }

    private var settings: RunSettings {
        let rules = self.more.lay(over: self.rules.settings)
        return self.drawing.lay(
            over: self.clock.lay(over: self.pace.lay(over: self.answers.lay(over: self.failures.lay(over: rules)))))
    }

    /// The run that the command line asks for.
    var proxyRun: ProxyRun {
        ProxyRun(
            file: self.file, fetches: self.fetching.fetch, mode: nil, settings: self.mode.lay(over: self.settings), modify: self.modify,
            config: self.config,
            reports: self.reports.report, proxy: self.proxy,
            tls: self.tls, trust: self.trust, upstreamTLS: self.upstreamTLS, recording: self.recording, browser: self.browser,
            url: self.url, isolation: self.isolation,
            command: self.command)
    }

    func validate() throws {
        try self.browser.validate(url: self.url, command: self.command)
        try self.trust.validate(with: self.command)
        try self.isolation.validate(
            with: self.command, isBrowser: self.browser.browser, failOn: self.failures.settings.value(Settings.failOn))
    }

    func run() throws { try self.proxyRun.run() }
}
