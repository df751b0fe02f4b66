internal import CassetteModel
internal import Platform
internal import TapeIsolation
internal import TapeProxy

/// The environment of a program that runs through the proxy.
enum ChildEnvironment {
    /// The names of the proxy variables. curl reads only the lower-case `http_proxy`; others read either case. aiohttp reads the last two for
    /// WebSockets, and no others.
    static let proxyNames = [
        "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "ws_proxy", "wss_proxy",
    ]
    private static let exceptionNames = ["no_proxy", "NO_PROXY"]
    /// Some libraries do not read address blocks.
    private static let loopbackNames = "localhost,127.0.0.1,127.0.0.0/8,::1"

    /// The hosts by which an isolated program names its own servers, besides loopback: they may print or look up any of these.
    static func ownHosts(named names: [String]) -> [String] { ["0.0.0.0", "::"] + Isolation.ownAddresses + names }

    /// This process's own.
    static var parent: [String: String] {
        var variables: [String: String] = [:]
        var next = environ
        while let entry = next.pointee {
            let text = String(cString: entry)
            if let equals = text.firstIndex(of: "=") { variables[String(text[..<equals])] = String(text[text.index(after: equals)...]) }
            next += 1
        }
        return variables
    }

    /// The parent's environment with the proxy in it, and the files that make programs trust it. The password of an upstream proxy is
    /// removed, because the program does not talk to that.
    static func through(
        proxy: String, trust: ChildTrust, parent: [String: String], own: [String]? = nil
    ) -> [String: String] {
        var environment = parent
        environment[UpstreamProxyOptions.authVariable] = nil
        for (name, value) in self.changes(proxy: proxy, trust: trust, parent: parent, own: own) { environment[name] = value }
        return environment
    }

    /// The start of the replayed recording, for programs that take their clock from it. Unset if nothing is replayed, even if the parent
    /// has set it.
    static func recordingTime(_ start: Timestamp?) -> [(name: String, value: String?)] {
        [
            ("WIRETAPE_RECORDED_AT", start?.formatted),
            ("WIRETAPE_RECORDED_AT_UNIX", start.map { String(($0.microseconds - ($0.microseconds < 0 ? 999_999 : 0)) / 1_000_000) }),
        ]
    }

    /// The variables that differ from the parent's.
    ///
    /// Loopback names are removed from `NO_PROXY`, so that an origin on this machine is recorded too; other exceptions stay. A
    /// `*`, which would disable the proxy, is removed as well. SSL_CERT_DIR stays: libraries search it in addition to the file.
    ///
    /// - Parameters:
    ///   - proxy: the proxy's URL, with credentials if it requires them.
    ///   - own: hosts besides loopback by which an isolated program names its own servers. It asks them directly; connections to others
    ///     come to the proxy anyway. Nil if it is not isolated.
    static func changes(
        proxy: String, trust: ChildTrust, parent: [String: String], own: [String]? = nil
    ) -> [(name: String, value: String)] {
        var changes = self.proxyNames.map { (name: $0, value: proxy) }
        if let reverse = self.reverse(of: proxy) { changes.append(("WIRETAPE_REVERSE", reverse)) }
        for name in self.exceptionNames {
            guard own != nil || parent[name] != nil else { continue }
            let kept = self.withoutLoopback(parent[name] ?? "")
            changes.append((name, own.map { ([self.loopbackNames] + $0 + (kept.isEmpty ? [] : [kept])).joined(separator: ",") } ?? kept))
        }
        // Node from 24 and 22.21 on, Perl's LWP and its Mojo read the proxy variables only if these are set.
        for name in ["NODE_USE_ENV_PROXY", "PERL_LWP_ENV_PROXY", "MOJO_PROXY"] { changes.append((name, "1")) }
        changes += ChildTrust.names.map { ($0, trust.bundle) }
        for name in ChildTrust.namesIfSet where parent[name] != nil { changes.append((name, trust.bundle)) }
        changes.append(("WGETRC", trust.wgetSettings))
        if let folder = trust.phpSettings {
            // An empty name means the folder that PHP was built with.
            let folders = (parent["PHP_INI_SCAN_DIR"] ?? "").split(separator: ":", omittingEmptySubsequences: false).filter { $0 != folder }
            changes.append(("PHP_INI_SCAN_DIR", (folders.map(String.init) + [folder]).joined(separator: ":")))
        }
        if let address = self.address(of: proxy) {
            let options = JavaOptions.value(
                proxy: address, needsPassword: proxy.contains("@"), own: own, store: trust.javaStore,
                parent: parent["JAVA_TOOL_OPTIONS"])
            changes.append(("JAVA_TOOL_OPTIONS", options))
        }
        return changes
    }

    /// The prefix of a URL that a program requests from the proxy as from a server: `http://127.0.0.1:7070/`.
    private static func reverse(of proxy: String) -> String? {
        guard proxy.hasPrefix("http://") else { return nil }
        let parts = proxy.dropFirst(7).split(separator: "@", maxSplits: 1)
        guard let address = parts.last else { return nil }
        return "http://\(address)/" + (parts.count == 2 ? "\(parts[0])/" : "")
    }

    private static func address(of proxy: String) -> ListenAddress? {
        let authority = proxy.hasPrefix("http://") ? proxy.dropFirst(7) : proxy[...]
        return authority.split(separator: "@").last.flatMap { ListenAddress(argument: String($0)) }
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

/// The value of JAVA_TOOL_OPTIONS, which Java from 5 on puts before its own command line.
///
/// Contains no proxy password: Java prints the value at each start, and reads no password from it.
enum JavaOptions {
    /// - Parameters:
    ///   - needsPassword: lets Java send a password for tunnels, which it refuses otherwise.
    ///   - own: hosts that Java connects to directly, besides loopback; nil if to none.
    static func value(
        proxy: ListenAddress, needsPassword: Bool = false, own: [String]? = nil, store: String?, parent: String?
    ) -> String {
        var properties: [(name: String, value: String)] = []
        if let store {
            properties += [
                ("javax.net.ssl.trustStore", store), ("javax.net.ssl.trustStoreType", "PKCS12"),
                ("javax.net.ssl.trustStorePassword", ChildTrust.javaPassword),
            ]
        }
        properties += [
            ("http.proxyHost", proxy.host), ("http.proxyPort", "\(proxy.port)"), ("https.proxyHost", proxy.host),
            ("https.proxyPort", "\(proxy.port)"),
        ]
        let exceptions = "http.nonProxyHosts"
        let direct = own.map { ["localhost", "127.*", "[::1]"] + $0.map { $0.contains(":") ? "[\($0)]" : $0 } } ?? []
        properties.append((exceptions, direct.joined(separator: "|")))
        // Java has "Basic" in this list: an HTTPS request through a proxy with a password would get 407 whatever the program sends.
        if needsPassword { properties.append(("jdk.http.auth.tunneling.disabledSchemes", "")) }
        let ours = (properties.map(\.name) + [exceptions]).map { "-D\($0)=" }
        // Later options win anyway, but nested runs would pile them up.
        let kept = self.words(parent ?? "").filter { word in
            let bare = word.filter { $0 != "\"" && $0 != "'" }
            return !ours.contains(where: bare.hasPrefix)
        }
        return (kept + properties.map { self.quoted("-D\($0.name)=\($0.value)") }).joined(separator: " ")
    }

    /// The value without the proxy, whose port does not exist in an isolation. The store of roots stays.
    static func withoutProxy(_ value: String) -> String {
        let names = ["http.proxyHost", "http.proxyPort", "https.proxyHost", "https.proxyPort", "http.nonProxyHosts"]
        let ours = names.map { "-D\($0)=" }
        return self.words(value).filter { word in
            let bare = word.filter { $0 != "\"" && $0 != "'" }
            return !ours.contains(where: bare.hasPrefix)
        }.joined(separator: " ")
    }

    /// Splits the value as Java does: both quotes, no backslash; quotes stay.
    private static func words(_ value: String) -> [String] {
        var words: [String] = []
        var word = ""
        var quote: Character?
        for character in value {
            if character == quote {
                quote = nil
            } else if quote == nil, character == "\"" || character == "'" {
                quote = character
            } else if quote == nil, character.isWhitespace {
                if !word.isEmpty { words.append(word) }
                word = ""
                continue
            }
            word.append(character)
        }
        return word.isEmpty ? words : words + [word]
    }

    private static func quoted(_ word: String) -> String {
        guard word.contains(where: { $0.isWhitespace || $0 == "\"" || $0 == "'" }) else { return word }
        // An apostrophe goes into double quotes.
        return word.split(separator: "'", omittingEmptySubsequences: false).map { "'\($0)'" }.joined(separator: "\"'\"")
    }
}

/// The proxy's address as a program needs it.
enum ProxyAddress {
    /// The address at which clients on this machine reach a proxy that listens on every address.
    static func reachable(_ address: String) -> String {
        if address.hasPrefix("0.0.0.0:") { return "127.0.0.1:" + address.dropFirst(8) }
        if address.hasPrefix("[::]:") { return "[::1]:" + address.dropFirst(5) }
        return address
    }

    /// User information for a URL: escapes everything but unreserved characters and the first colon (RFC 3986, 3.2.1).
    static func percentEncoded(_ pair: String) -> String {
        var text = ""
        var sawColon = false
        for byte in pair.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ":") where !sawColon:
                sawColon = true
                text += ":"
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                text += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
        return text
    }
}
