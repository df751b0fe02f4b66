internal import CassettePlayback
internal import TapeBytes
internal import TapeExchange

/// Where a request goes instead.
package struct MappedTarget: Sendable, Hashable {
    /// Absolute, `http` or `https`.
    package var url: String
    /// The index of the rule.
    package var rule: Int

    /// With its port if the URL has one.
    package var authority: String { URLParts(self.url)?.authority ?? "" }
}

/// Sends requests to another server: replaces the beginning of their URLs.
struct RemoteMap: Sendable {
    let target: String
    private let rest: URLRest

    init(_ node: RuleNode, condition: RuleCondition?, _ reader: RuleReader) throws(SettingSyntaxError) {
        let text = try reader.text(node, "\"mapRemote\"")
        let shown = RuleReader.shown(text)
        func refused(_ reason: String) -> SettingSyntaxError {
            reader.error(node.line, "\"mapRemote\" is \"\(shown)\", \(reason)")
        }
        guard let parts = URLParts(text), ["http", "https"].contains(parts.scheme.lowercased()) else {
            throw refused("which is not a URL with http or https; write for example http://127.0.0.1:3000/v2/")
        }
        guard !text.contains("#") else { throw refused("which has a fragment, and fragments are not sent; remove it") }
        guard !text.contains("?") else { throw refused("which has a query; the query of the request stays, so remove it") }
        do {
            // Refuses user information, and hosts and ports that are none.
            _ = try RequestTarget(text, method: "GET")
        } catch {
            throw reader.error(node.line, "\"mapRemote\": \(error.message)")
        }
        if let pattern = condition?.urlPatterns.first(where: {
            URLRest.isOpenEnded($0.source) && URLRest.literalBeginning($0.source).isEmpty
        }) {
            throw reader.error(
                node.line,
                "\"mapRemote\" cannot tell what of the URL \"~u \(RuleReader.shown(pattern.source))\" replaces: end the pattern where the rest begins, for example \"~u ^https://api\\.example\\.com/v2/\""
            )
        }
        self.target = text
        self.rest = URLRest(condition)
    }

    /// The URL to go to; nil if the request's URL is not one.
    func url(for request: String) -> String? {
        guard let (rest, followsSlash) = self.rest.split(request) else { return nil }
        guard !rest.isEmpty else { return self.target }
        let hasPath = URLParts(self.target).map { !$0.path.isEmpty } ?? false
        if rest.first == "/", hasPath, self.target.hasSuffix("/") { return self.target + rest.dropFirst() }
        if rest.first == "/" || rest.first == "?" && hasPath { return self.target + rest }
        // The slash that was replaced parted the rest from what was before it.
        let needsSlash = !hasPath || followsSlash && !self.target.hasSuffix("/")
        return self.target + (needsSlash ? "/" : "") + rest
    }
}
