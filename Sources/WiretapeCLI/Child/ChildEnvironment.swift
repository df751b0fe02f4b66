internal import CassetteModel
internal import Platform
internal import TapeProxy

/// The environment of a program that is run through the proxy.
enum ChildEnvironment {
    /// Names under which programs look for a proxy. curl reads only the lower-case `http_proxy`; others read either case.
    static let proxyNames = ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    private static let exceptionNames = ["no_proxy", "NO_PROXY"]

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

    /// The parent's environment with the proxy in it, and the files that make programs trust it.
    static func through(proxy: String, trust: ChildTrust, parent: [String: String]) -> [String: String] {
        var environment = parent
        for (name, value) in self.changes(proxy: proxy, trust: trust, parent: parent) { environment[name] = value }
        return environment
    }

    /// The instant of the recording that is replayed, for programs that would take their clock from it; none where nothing is replayed,
    /// whatever the parent's environment has.
    static func recordingTime(_ start: Timestamp?) -> [(name: String, value: String?)] {
        [
            ("WIRETAPE_RECORDED_AT", start?.formatted),
            ("WIRETAPE_RECORDED_AT_UNIX", start.map { String(($0.microseconds - ($0.microseconds < 0 ? 999_999 : 0)) / 1_000_000) }),
        ]
    }

    /// The variables that differ from the parent's.
    ///
    /// Loopback names are taken out of `NO_PROXY`, so that an origin on this machine is recorded too; other exceptions stay. A
    /// `*`, which would switch the proxy off, goes as well. SSL_CERT_DIR stays: libraries search it beside the file.
    ///
    /// - Parameter proxy: the proxy's URL, with credentials if it wants some.
    static func changes(proxy: String, trust: ChildTrust, parent: [String: String]) -> [(name: String, value: String)] {
        var changes = self.proxyNames.map { (name: $0, value: proxy) }
        if let reverse = self.reverse(of: proxy) { changes.append(("WIRETAPE_REVERSE", reverse)) }
        for name in self.exceptionNames {
            guard let value = parent[name] else { continue }
            changes.append((name, self.withoutLoopback(value)))
        }
        changes.append(("NODE_USE_ENV_PROXY", "1"))
        changes += ChildTrust.names.map { ($0, trust.bundle) }
        for name in ChildTrust.namesIfSet where parent[name] != nil { changes.append((name, trust.bundle)) }
        changes.append(("WGETRC", trust.wgetSettings))
        if let address = self.address(of: proxy) {
            let options = JavaOptions.value(proxy: address, store: trust.javaStore, parent: parent["JAVA_TOOL_OPTIONS"])
            changes.append(("JAVA_TOOL_OPTIONS", options))
        }
        return changes
    }

    /// What a program writes before a URL that it asks the proxy for without a proxy's help: `http://127.0.0.1:7070/`.
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

/// The value of JAVA_TOOL_OPTIONS, which every Java from 5 on puts before its own command line.
///
/// Holds no password of the proxy: Java prints the value at each start, and reads none from there.
enum JavaOptions {
    static func value(proxy: ListenAddress, store: String?, parent: String?) -> String {
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
            // Without it Java goes to loopback directly.
            ("http.nonProxyHosts", ""),
        ]
        let ours = properties.map { "-D\($0.name)=" }
        // Ours would win anyway; left in, those of each run in a run would pile up.
        let kept = self.words(parent ?? "").filter { word in
            let bare = word.filter { $0 != "\"" && $0 != "'" }
            return !ours.contains(where: bare.hasPrefix)
        }
        return (kept + properties.map { self.quoted("-D\($0.name)=\($0.value)") }).joined(separator: " ")
    }

    /// Takes the value apart as Java does, which knows both quotes and no backslash; quotes stay on.
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
        // An apostrophe goes between double quotes.
        return word.split(separator: "'", omittingEmptySubsequences: false).map { "'\($0)'" }.joined(separator: "\"'\"")
    }
}
