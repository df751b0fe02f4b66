internal import TapeProxy

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
