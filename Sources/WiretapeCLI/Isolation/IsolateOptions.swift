internal import ArgumentParser
internal import CassetteModel
internal import CassetteStore
internal import LocalHTTP
internal import TapeExchange
internal import TapeIsolation
internal import TapeProxy
internal import TapeTrust

/// How `record`, `replay` and `run` isolate their program.
struct IsolateOptions: ParsableArguments {
    @Flag(
        help:
            "Run the program in a network of its own, in which every connection comes here: programs that use no proxy settings are seen too, and everything but HTTP is refused and listed (Linux)."
    )
    var isolate = false

    @OptionGroup var exits: IsolationExits

    func validate() throws {
        #if !os(Linux)
        guard !self.isolate else {
            throw ValidationError("--isolate works only on Linux: this system has no network namespaces. Set the program's proxy instead.")
        }
        #endif
        guard self.isolate || self.exits.isEmpty else {
            throw ValidationError("--reach, --allow and --real-addresses belong to --isolate: pass it too.")
        }
    }

    /// - Parameter failOn: as the command line has it.
    func validate(with command: [String], isBrowser: Bool, failOn: FailureRule) throws {
        guard self.isolate else {
            guard !failOn.others.contains(.escapes) else {
                throw ValidationError("--fail-on escapes belongs to --isolate, without which nothing is seen to escape: pass it too.")
            }
            return
        }
        guard !isBrowser else { throw ValidationError("--isolate cannot be used together with --browser: pass the browser after \"--\".") }
        guard !command.isEmpty else { throw ValidationError("--isolate needs a program: pass one after \"--\".") }
    }

    /// Refuses a run whose configuration demands what only an isolation can show.
    func validate(_ failOn: FailureRule, command: [String]) throws(SettingError) {
        guard !self.isolate, !command.isEmpty, failOn.others.contains(.escapes) else { return }
        throw SettingError(
            "the configuration's failOn names escapes, but this program is not isolated: pass --isolate, or --fail-on without escapes")
    }

    /// Nil without `--isolate`.
    ///
    /// - Parameters:
    ///   - cassette: the one that is replayed. Its servers of this machine are reached even if they do not run.
    ///   - mayForward: false if nothing is forwarded.
    func make(cassette: RecordedCassette?, mayForward: Bool) throws(IsolationError) -> Isolation? {
        guard self.isolate else { return nil }
        return try Isolation(self.exits.settings(cassette: cassette, mayForward: mayForward))
    }
}

/// Which ways lead out of an isolation.
struct IsolationExits: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "With --isolate: let the program reach this port of this machine through the proxy. Ports on which a server listens at the start are reached anyway. Repeatable.",
            valueName: "port"))
    var reach: [ReachedPort] = []

    @Option(
        help: ArgumentHelp(
            "With --isolate: pass connections to this server through, whatever their protocol: tcp:HOST:PORT. Repeatable.",
            valueName: "server"))
    var allow: [AllowedServer] = []

    @Flag(
        help:
            "With --isolate: give the program the real addresses of names, and in a replay addresses that look public, because some programs refuse private ones. Default: addresses of 198.18.0.0/15."
    )
    var realAddresses = false

    func validate() throws {
        guard !self.allow.contains(where: { $0.passage.port == 53 }) else {
            throw ValidationError("--allow cannot pass port 53 through: the resolver of the isolated network answers there.")
        }
    }

    var isEmpty: Bool { self.reach.isEmpty && self.allow.isEmpty && !self.realAddresses }

    func settings(cassette: RecordedCassette?, mayForward: Bool) -> IsolationSettings {
        var settings = IsolationSettings()
        settings.mayForward = mayForward
        settings.usesRealAddresses = self.realAddresses
        settings.passages = Set(self.allow.map(\.passage))
        settings.hosts = InsideHosts.addresses()
        settings.ownNames = Set(InsideHosts.addressedNames)
        settings.reach = Set(self.reach.map(\.port))
        settings.reach.formUnion(self.allow.filter(\.isLoopback).map(\.passage.port))
        // A replay contacts no server, so those that happen to run do not matter.
        if mayForward { settings.reach.formUnion(ListeningPorts.here()) }
        if let cassette { settings.reach.formUnion(Self.loopbackPorts(of: cassette, names: settings.hosts)) }
        return settings
    }

    private static func loopbackPorts(of cassette: RecordedCassette, names: [String: [String]]) -> [UInt16] {
        cassette.firstOfEachOrigin().compactMap { index in
            guard let url = try? cassette.interaction(at: index).request.url,
                case .absolute(let origin, _)? = try? RequestTarget(url, method: "GET"),
                self.isHere(origin.host) || origin.host.hasSuffix(".localhost") || names[origin.host] != nil
            else { return nil }
            return UInt16(exactly: origin.port)
        }
    }
}

extension IsolationExits {
    private static func isHere(_ host: String) -> Bool {
        LoopbackHost.contains(host) || IPAddress(host).map { $0.isUnspecified || Isolation.isOwn($0) } == true
    }
}

/// A port of this machine: `9000`, or `localhost:9000`.
struct ReachedPort: ExpressibleByArgument, Hashable {
    var port: UInt16

    init?(argument: String) {
        if let colon = argument.lastIndex(of: ":") {
            var host = argument[..<colon]
            if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
            guard LoopbackHost.contains(String(host)) else { return nil }
        }
        let digits = argument.split(separator: ":").last ?? ""
        guard digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }), let port = UInt16(digits), port > 0 else {
            return nil
        }
        self.port = port
    }
}

/// A server that may be talked to in any protocol: `tcp:db.internal:5432`.
struct AllowedServer: ExpressibleByArgument, Hashable {
    var passage: IsolationSettings.Passage

    init?(argument: String) {
        guard argument.hasPrefix("tcp:"), let address = ListenAddress(argument: String(argument.dropFirst(4))),
            let port = UInt16(exactly: address.port), port > 0
        else { return nil }
        guard !argument.dropFirst(4).hasPrefix(":"), !address.host.contains("*"), !argument.dropFirst(4).allSatisfy(\.isNumber) else {
            return nil
        }
        self.passage = .init(host: address.host, port: port)
    }

    var isLoopback: Bool { LoopbackHost.contains(self.passage.host) }

    /// Its names.
    var patterns: [HostPattern] {
        let hosts = self.isLoopback ? ["localhost", "127.0.0.1", "::1"] : [self.passage.host]
        return hosts.compactMap { try? HostPattern(ListenAddress(host: $0, port: Int(self.passage.port)).description) }
    }
}
