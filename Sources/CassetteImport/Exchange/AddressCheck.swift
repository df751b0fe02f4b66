internal import CassetteModel
internal import TapeBytes

/// Decides whether the destination of an imported request can be real, or was removed by the tool that recorded it.
enum AddressCheck {
    /// Words that people write in place of a host. In lower case they may be the name of a real one: Azure's test-proxy uses `sanitized`.
    private static let words: Set<String> = [
        "REDACTED", "FILTERED", "HIDDEN", "MASKED", "REMOVED", "SANITIZED", "SCRUBBED", "PLACEHOLDER", "SECRET", "XXX", "XXXX",
    ]
    private static let shownLimit = 40

    /// Counts an exchange whose destination is unknown.
    ///
    /// - Parameter url: the URL of a request, or what the recording has in its place.
    /// - Returns: the URL; nil if the exchange must be left out.
    static func url(_ url: String, _ context: ImportContext, at value: SourceValue) -> String? {
        guard !self.isHidden(url, context, at: value) else { return nil }
        if let url = SourceWords.url(url) { return url }
        self.lose(url, context, at: value)
        return nil
    }

    /// Whether a placeholder, or a text that no host has, stands for the scheme or the host. Counts the exchange if so.
    static func isHidden(_ url: String, _ context: ImportContext, at value: SourceValue? = nil) -> Bool {
        if Placeholders.isInAddress(of: url) {
            context.lose(.placeholder, at: value, names: Placeholders.names(inURL: url))
            return true
        }
        guard let mark = url.firstRange(of: "://"), !self.canBeHost(self.host(url[mark.upperBound...])) else { return false }
        self.lose(url, context, at: value)
        return true
    }

    private static func lose(_ url: String, _ context: ImportContext, at value: SourceValue?) {
        let rest = url.firstRange(of: "://").map { self.host(url[$0.upperBound...]) } ?? url[...]
        let shown = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }.prefix(self.shownLimit)
        context.lose(.address, at: value, names: shown.isEmpty ? [] : [String(shown)])
    }

    /// Without user information and port.
    private static func host(_ rest: Substring) -> Substring {
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let host = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return host[...end] }
        return host.prefix { $0 != ":" }
    }

    private static func canBeHost(_ host: Substring) -> Bool {
        guard !self.words.contains(String(host)) else { return false }
        if host.hasPrefix("[") {
            // A zone may follow the address (RFC 6874).
            return host.hasSuffix("]")
                && host.dropFirst().dropLast().prefix { $0 != "%" }.utf8.allSatisfy {
                    Hex.value($0) != nil || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".")
                }
        }
        var bytes = Array(host.utf8)[...]
        while let byte = bytes.popFirst() {
            var byte = byte
            if byte == UInt8(ascii: "%"), let decoded = Hex.decode(Array(bytes.prefix(2)))?.first, bytes.count >= 2 {
                byte = decoded
                bytes = bytes.dropFirst(2)
            }
            guard byte > 32, byte != 127, !"<>\"\\^`|*".utf8.contains(byte) else { return false }
        }
        return true
    }
}
