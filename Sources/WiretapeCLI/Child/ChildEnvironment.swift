/// The environment of a program that is run through the proxy.
enum ChildEnvironment {
    /// Names under which programs look for a proxy. curl reads only the lower-case `http_proxy`; others read either case.
    static let proxyNames = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    private static let exceptionNames = ["no_proxy", "NO_PROXY"]

    /// The parent's environment with the proxy in it.
    ///
    /// Loopback names are taken out of `NO_PROXY`, so that an origin on this machine is recorded too; other exceptions stay. A
    /// `*`, which would switch the proxy off, goes as well.
    static func through(proxy: String, parent: [String: String]) -> [String: String] {
        var environment = parent
        for name in self.proxyNames { environment[name] = proxy }
        for name in self.exceptionNames {
            guard let value = parent[name] else { continue }
            environment[name] = self.withoutLoopback(value)
        }
        return environment
    }

    static func withoutLoopback(_ exceptions: String) -> String {
        exceptions.split(whereSeparator: { $0 == "," || $0 == " " }).filter { !self.isLoopback($0.lowercased()) }.joined(separator: ",")
    }

    private static func isLoopback(_ exception: String) -> Bool {
        var host = exception
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") {
            host = String(host[host.index(after: host.startIndex)..<end])
        } else if host.filter({ $0 == ":" }).count == 1, let colon = host.firstIndex(of: ":") {
            host = String(host[..<colon])
        }
        if host.hasPrefix(".") { host.removeFirst() }
        return host == "*" || host == "localhost" || host.hasSuffix(".localhost") || host.hasPrefix("127.") || host == "::1"
            || host == "0.0.0.0"
    }
}
