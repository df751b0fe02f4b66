internal import LocalHTTP
internal import TapeProxy

/// The arguments of `docker run` for a container whose programs go through the proxy and trust its authority.
///
/// Passwords are in the file of variables, not in the arguments.
struct DockerRun {
    private static let folder = "/etc/wiretape"

    var proxy: ListenAddress
    /// `USER:PASSWORD`.
    var credentials: String?
    /// The files of this machine.
    var trust: ChildTrust

    /// A container on this machine's own network can reach a port of the loopback address. Elsewhere, Docker runs in a virtual machine,
    /// where a name leads to this machine.
    private var host: String {
        #if os(Linux)
        return self.reachable
        #else
        return self.isLoopback ? "host.docker.internal" : self.reachable
        #endif
    }

    /// The address at which this machine reaches a proxy that listens on every address.
    private var reachable: String { ListenAddress(argument: ProxyAddress.reachable(self.proxy.description))?.host ?? self.proxy.host }

    private var isLoopback: Bool { LoopbackHost.contains(self.reachable) }

    /// The settings of wget are not included: they contain the user's own settings, which only this user may read.
    private var files: [(here: String, there: String)] {
        [(self.trust.bundle, "\(Self.folder)/ca.pem")]
            + (self.trust.javaStore.map { [($0, "\(Self.folder)/java.p12")] } ?? [])
    }

    /// The environment variables for programs in the container.
    var variables: [(name: String, value: String)] {
        let credentials = self.credentials.map { ProxyAddress.percentEncoded($0) + "@" } ?? ""
        let inside = ChildTrust(
            bundle: "\(Self.folder)/ca.pem", javaStore: self.trust.javaStore == nil ? nil : "\(Self.folder)/java.p12",
            wgetSettings: self.trust.wgetSettings, notices: [])
        let address = ListenAddress(host: self.host, port: self.proxy.port)
        return ChildEnvironment.changes(proxy: "http://\(credentials)\(address)", trust: inside, parent: [:]).filter { $0.name != "WGETRC" }
    }

    /// The arguments on one line for `$(…)`, after which a shell removes no quotes.
    ///
    /// - Parameter file: contains the variables.
    func line(file: String) throws(TrustError) -> String {
        let arguments = self.arguments(file: file)
        for argument in arguments where argument.contains(where: { $0.isWhitespace || "*?[".contains($0) }) {
            throw TrustError("\"\(argument)\" would be torn apart by a shell: name a folder without blanks, *, ? and [ with --ca-dir.")
        }
        return arguments.joined(separator: " ")
    }

    /// - Parameter file: contains the variables.
    func arguments(file: String) -> [String] {
        var arguments = ["--env-file", file]
        #if os(Linux)
        if self.isLoopback { arguments += ["--network", "host"] }
        #endif
        for (here, there) in self.files { arguments += ["--volume", "\(here):\(there):ro"] }
        return arguments
    }
}
