internal import ClientCapabilities

/// What was read of a machine; nothing in here is judged yet.
struct CheckupReadings {
    enum Authority: Hashable {
        case missing
        case unreadable(String)
        /// - Parameter until: seconds since 1970.
        case present(until: Int64, warning: String?)
    }

    /// A variable that names a file of roots.
    struct Bundle: Hashable {
        var variable: String
        var path: String
        /// Nil where it cannot be read.
        var hasAuthority: Bool?
    }

    var facts: PlatformFacts
    /// Why no mount namespace can be had; nil where one can, and where there are none.
    var obstacle: NamespaceAdvice?
    var authorityFile: String
    var authority: Authority
    var systemBundles: [String]
    var bundles: [Bundle]
    /// Those with a proxy in them, and its exceptions.
    var variables: [String: String]
    /// Whether somebody listens where the variables have the proxy, for addresses of this machine.
    var proxyListens: Bool?
    /// Seconds since 1970.
    var now: Int64
}
