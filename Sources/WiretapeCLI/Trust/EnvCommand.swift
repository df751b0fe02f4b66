internal import ArgumentParser
internal import CassetteTools
internal import TapeBytes
internal import TapeProxy

struct EnvCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "env",
        abstract: "Print the variables that send a program through the proxy and make it trust the authority.",
        discussion: """
            For programs that are not run after "--": the variables that they would get there, as lines for a shell. Credentials are \
            taken from WIRETAPE_PROXY_AUTH.

            Examples:
              wiretape record Cassettes/pets.json --listen 127.0.0.1:7070 &
              eval "$(wiretape env --proxy 127.0.0.1:7070)"
              wiretape env --proxy 127.0.0.1:7070 --shell fish | source
              docker run $(wiretape env --proxy 127.0.0.1:7070 --docker) IMAGE
              wiretape env --proxy 127.0.0.1:7070 --transparent --user tester | sudo nft -f -
            """)

    @Option(help: ArgumentHelp("Address of the proxy, HOST:PORT. Default: WIRETAPE_PROXY.", valueName: "host:port"))
    var proxy: ListenAddress?

    @Option(help: "The shell that reads the lines; sh also covers bash and zsh. Default: from SHELL.")
    var shell: Shell?

    @Flag(help: "Print one JSON object of the variables instead.")
    var json = false

    @Flag(help: "Print the arguments of \"docker run\" instead: the proxy, and the authority as a file in the container.")
    var docker = false

    @Flag(help: "Print rules for nftables instead, which lead connections to a proxy that was started with --transparent (Linux).")
    var transparent = false

    @OptionGroup(title: "With --transparent") var led: LedConnections

    @OptionGroup var authority: AuthorityOptions

    func validate() throws {
        _ = try Self.address(self.proxy, ChildEnvironment.parent)
        guard [self.docker, self.transparent, self.json].count(where: { $0 }) <= 1 else {
            throw ValidationError("only one of --docker, --transparent and --json can be used.")
        }
        guard self.transparent || self.led.isEmpty else {
            throw ValidationError("--user, --interface and --ports are for --transparent: pass it too.")
        }
    }

    func run() throws {
        SignalThread.unblock()
        let parent = ChildEnvironment.parent
        let address = try Self.address(self.proxy, parent)
        try TrustError.reporting { () throws(TrustError) in
            let lines =
                self.transparent
                ? self.led.rules(proxy: address) : self.docker ? try self.dockerLines(address, parent) : try self.lines(address, parent)
            for line in lines { Terminal.output.line(line) }
        }
    }

    /// The proxy that the command line or WIRETAPE_PROXY names.
    static func address(_ proxy: ListenAddress?, _ parent: [String: String]) throws(ValidationError) -> ListenAddress {
        if let proxy { return proxy }
        guard let value = parent["WIRETAPE_PROXY"], !value.isEmpty else {
            throw ValidationError("pass the proxy's address: --proxy 127.0.0.1:7070, as in the recorder's --listen.")
        }
        guard let address = ListenAddress(argument: value) else {
            throw ValidationError("WIRETAPE_PROXY is \"\(value)\", which is not HOST:PORT: write it like 127.0.0.1:7070.")
        }
        return address
    }

    private func trust(_ parent: [String: String]) throws(TrustError) -> ChildTrust {
        let trust = try ChildTrust.prepare(
            authority: self.authority.certificate().chain, folder: TrustFolder(path: self.authority.trustFolder()), parent: parent)
        for notice in trust.notices { Terminal.error.complain(notice) }
        return trust
    }

    private func dockerLines(_ address: ListenAddress, _ parent: [String: String]) throws(TrustError) -> [String] {
        let run = DockerRun(proxy: address, credentials: parent["WIRETAPE_PROXY_AUTH"], trust: try self.trust(parent))
        let file = try self.authority.trustFolder() + "/docker-\(address.port).env"
        try WholeFile.replace(file, with: Array(run.variables.map { "\($0.name)=\($0.value)\n" }.joined().utf8), mode: 0o600)
        return [try run.line(file: file)]
    }

    private func lines(_ address: ListenAddress, _ parent: [String: String]) throws(TrustError) -> [String] {
        let shell = self.shell ?? Shell.standard(environment: parent)
        let trust = try self.trust(parent)
        let credentials = parent["WIRETAPE_PROXY_AUTH"].map { ProxyAddress.percentEncoded($0) + "@" } ?? ""
        let proxy = "http://\(credentials)\(ProxyAddress.reachable(address.description))"
        let changes = ChildEnvironment.changes(proxy: proxy, trust: trust, parent: parent)
        if self.json { return [Self.json(changes)] }
        return changes.map { shell.line($0.name, $0.value) } + [
            // This comes last, because an unquoted eval joins the lines.
            "# For programs that go through the Wiretape proxy at \(address) and trust its authority. Apply with:",
            "# \(shell.evaluation("wiretape env --proxy \(address)"))",
        ]
    }
    private static func json(_ changes: [(name: String, value: String)]) -> String {
        var writer = JSONWriter()
        writer.beginObject(.lines)
        for (name, value) in changes {
            writer.member(named: name)
            writer.string(value)
        }
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

/// A shell, and its syntax for variables.
enum Shell: String, ExpressibleByArgument, CaseIterable {
    case sh, fish, powershell

    /// The shell that the environment names; `sh` covers every shell that understands its lines, such as bash and zsh.
    static func standard(environment: [String: String]) -> Self {
        environment["SHELL"]?.split(separator: "/").last == "fish" ? .fish : .sh
    }

    func line(_ name: String, _ value: String) -> String {
        switch self {
        // The semicolon is for an unquoted eval, which joins the lines.
        case .sh: "export \(name)=\(ShellWord.quoted(value));"
        case .fish: "set -gx \(name) '\(Self.escaped(value, ["\\": "\\\\", "'": "\\'"]))';"
        // Each of these quotes ends a PowerShell string, and is literal when doubled (about_Quoting_Rules).
        case .powershell: "$env:\(name) = '\(Self.escaped(value, Self.doubled))'"
        }
    }

    /// The line that runs the output of `command`.
    func evaluation(_ command: String) -> String {
        switch self {
        case .sh: "eval \"$(\(command))\""
        case .fish: "\(command) | source"
        case .powershell: "\(command) | Out-String | Invoke-Expression"
        }
    }

    private static let doubled = Dictionary(uniqueKeysWithValues: "'\u{2018}\u{2019}\u{201A}\u{201B}".map { ($0, "\($0)\($0)") })

    private static func escaped(_ value: String, _ replacements: [Character: String]) -> String {
        value.map { replacements[$0] ?? String($0) }.joined()
    }
}
