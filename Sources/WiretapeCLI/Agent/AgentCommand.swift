internal import ArgumentParser
internal import CassetteModel
internal import Platform
internal import TapeBytes

struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Let an agent read cassettes: a server of the Model Context Protocol on standard input and output.",
        discussion: """
            Opens no port and reads no file but the cassette, or those of the folder. Recorded text is in fields named "untrusted", \
            between marks that it cannot contain, with invisible characters spelled out. Nothing is changed, unless --allow names it.

            With --live, the agent also starts and stops replays, and with --allow record recordings: proxies on a port of this \
            machine, which clients use until it calls stop.

            Examples of a client's configuration:
              {"mcpServers": {"wiretape": {"command": "wiretape", "args": ["mcp", "Cassettes"]}}}
              {"mcpServers": {"wiretape": {"command": "wiretape", "args": ["mcp", "Cassettes", "--live", "--allow", "record,rules"]}}}
            """)

    @Argument(help: "A cassette, or a folder of cassettes.", completion: .file())
    var path: String = "."

    @Option(
        help: ArgumentHelp(
            "What the agent may do besides reading, comma-separated: rules (write match rules into a cassette), edit (change recorded exchanges), record (record new cassettes, with --live), send (send recorded requests again).",
            valueName: "what"),
        transform: { try AgentCommand.permissions($0) })
    var allow: [[AgentTools.Permission]] = []

    @Flag(help: "Let the agent start and stop a replay, and with --allow record a recording.")
    var live = false

    @OptionGroup(title: "Recordings and replays") var config: ConfigOptions
    @OptionGroup(title: "Origins") var upstreamTLS: UpstreamTLSOptions

    private var permissions: Set<AgentTools.Permission> { Set(self.allow.flatMap { $0 }) }

    func validate() throws {
        guard self.live || !self.permissions.contains(.record) else {
            throw ValidationError("--allow record needs --live, since a recording listens on a port of this machine: pass both.")
        }
    }

    private static func permissions(_ text: String) throws -> [AgentTools.Permission] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            guard let permission = AgentTools.Permission(rawValue: String(word)) else {
                let known = AgentTools.Permission.allCases.map(\.rawValue).joined(separator: ", ")
                throw ValidationError("\"\(word.prefix(40))\" cannot be allowed; write \(known)")
            }
            return permission
        }
    }

    func run() throws {
        if !self.live { SignalThread.unblock() }
        try CommandEnd.run {
            let (files, untrusted) = (try AgentFiles(self.path), UntrustedText())
            let ports = ClosedPorts()
            let runs = self.live ? AgentRuns(.init(config: self.config, upstreamTLS: self.upstreamTLS, ports: ports)) : nil
            if let runs {
                // A recording is finished, not left to be repaired.
                SignalThread.start { arrival in
                    SignalThread.close(runs.run?.file)
                    Self.finish(runs)
                    Platform.exit(128 + arrival.signal)
                }
            }
            let server = AgentServer(
                tools: AgentTools(
                    files: files, permissions: self.permissions, untrusted: untrusted, runs: runs,
                    sender: self.permissions.contains(.send) ? Self.sender(self.upstreamTLS, ports) : nil),
                resources: AgentResources(files: files, untrusted: untrusted))
            var lines = MessageLines(limit: AgentServer.messageLimit)
            while let line = lines.next() {
                guard !line.isEmpty, let answer = server.answer(to: line) else { continue }
                guard MessageLines.write(answer + [10]) else { break }
            }
            // The client has left without stopping its run.
            if let runs { Self.finish(runs) }
            return ExitStatus.done
        }
    }

    private static func sender(_ upstreamTLS: UpstreamTLSOptions, _ ports: ClosedPorts) -> LiveResend {
        LiveResend(
            upstreamTLS: upstreamTLS, ports: ports,
            advice: "the user can send it with \"wiretape check --against live --fill\", which takes the value from a variable")
    }

    private static func finish(_ runs: AgentRuns) {
        do {
            _ = try runs.stop()
        } catch {
            Terminal.error.complain(CommandEnd.message(of: error) ?? "\(error)")
        }
    }
}

/// The lines of standard input. A line beyond a limit is returned only as far as one byte more than the limit.
struct MessageLines {
    private let limit: Int
    private var held: [UInt8] = []
    private var isEnded = false

    init(limit: Int) { self.limit = limit }

    /// Nil at the end of the input.
    mutating func next() -> [UInt8]? {
        var line: [UInt8] = []
        while true {
            if let end = self.held.firstIndex(of: 10) {
                line += self.held[..<end].prefix(max(0, self.limit + 1 - line.count))
                self.held.removeSubrange(...end)
                if line.last == 13 { line.removeLast() }
                return line
            }
            line += self.held.prefix(max(0, self.limit + 1 - line.count))
            self.held = []
            guard !self.isEnded else { return line.isEmpty ? nil : line }
            self.fill()
        }
    }

    private mutating func fill() {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            if count > 0 { self.held += buffer[..<count] } else { self.isEnded = true }
            return
        }
    }

    /// False if the other side has closed its end.
    static func write(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Platform.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
