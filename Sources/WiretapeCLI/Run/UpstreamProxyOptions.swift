internal import ArgumentParser
internal import TapeBytes
internal import TapeProxy
internal import TapeTrust

/// The proxies on the way to origins, in the commands that reach them.
struct UpstreamProxyOptions: ParsableArguments {
    /// `USER:PASSWORD`, in place of those in a URL.
    static let authVariable = "WIRETAPE_UPSTREAM_PROXY_AUTH"

    static let proxyHelp = ArgumentHelp(
        "Reach origins through this proxy: http://, https:// or socks5://HOST:PORT. Default: https_proxy, http_proxy, all_proxy and no_proxy of the environment. Servers on this machine are always reached directly.",
        valueName: "url")
    static let exceptionHelp = ArgumentHelp("Reach these hosts directly; \"*\" all of them. Repeatable.", valueName: "pattern")
    static let fileHelp = ArgumentHelp(
        "A file with USER:PASSWORD for the upstream proxy. Default: \(UpstreamProxyOptions.authVariable), or what is in the variable's URL.",
        valueName: "file")

    @Option(help: Self.proxyHelp)
    var upstreamProxy: String?

    @Option(help: Self.exceptionHelp, transform: { try HostPattern($0) })
    var noUpstreamProxy: [HostPattern] = []

    @Option(help: Self.fileHelp, completion: .file())
    var upstreamProxyAuthFile: String?

    init() {}

    init(upstreamProxy: String?, noUpstreamProxy: [HostPattern], upstreamProxyAuthFile: String?) {
        self.upstreamProxy = upstreamProxy
        self.noUpstreamProxy = noUpstreamProxy
        self.upstreamProxyAuthFile = upstreamProxyAuthFile
    }

    /// The value is parsed here and not by the parser, whose messages repeat it: it may contain a password.
    func validate() throws { _ = try self.proxy() }

    private func proxy() throws(ValidationError) -> UpstreamProxy? {
        guard let upstreamProxy else { return nil }
        let proxy: UpstreamProxy
        do {
            proxy = try UpstreamProxy(upstreamProxy, source: "--upstream-proxy")
        } catch {
            throw ValidationError("\(error.message).")
        }
        guard proxy.credentials == nil else {
            throw ValidationError(
                "--upstream-proxy takes no user and password, since every user of the machine can see arguments: set \(Self.authVariable) to USER:PASSWORD, or pass --upstream-proxy-auth-file FILE."
            )
        }
        return proxy
    }

    /// - Parameter notice: receives a line about a variable that cannot be used.
    func chain(
        environment: [String: String] = ChildEnvironment.parent, notice: (String) -> Void
    ) throws(TrustError) -> UpstreamChain {
        var chain: UpstreamChain
        if let proxy = try? self.proxy() {
            chain = UpstreamChain(http: proxy, https: proxy)
        } else {
            var told: Set<String> = []
            chain = .environment(environment) { problem in
                if told.insert(problem.message).inserted { notice("\(problem.message); it is not used.") }
            }
        }
        chain.exceptions = self.noUpstreamProxy
        guard let credentials = try self.credentials(environment) else { return chain }
        chain.http?.credentials = credentials
        chain.https?.credentials = credentials
        return chain
    }

    private func credentials(_ environment: [String: String]) throws(TrustError) -> [UInt8]? {
        let (pair, place): ([UInt8], String)
        if let path = self.upstreamProxyAuthFile {
            pair = Array(try WholeFile.read(path).prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") })
            place = "\"\(path)\""
        } else if let variable = environment[Self.authVariable], !variable.isEmpty {
            (pair, place) = (Array(variable.utf8), Self.authVariable)
        } else {
            return nil
        }
        guard pair.contains(UInt8(ascii: ":")), pair.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw TrustError("\(place) is not USER:PASSWORD: write both in one line, with a colon between them.")
        }
        return pair
    }
}
