internal import Foundation

/// A URL for logs and messages.
enum LogURL {
    /// Without user, password and fragment, and with the names of its query alone: the values may be secrets.
    static func text(_ url: URL) -> String {
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return "" }
        let names = (parts.percentEncodedQuery ?? "").split(separator: "&").map { pair in
            pair.firstIndex(of: "=").map { "\(pair[..<$0])=…" } ?? "…"
        }
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        let text = (parts.string ?? "") + (names.isEmpty ? "" : "?" + names.joined(separator: "&"))
        return text.utf8.count <= self.limit ? text : String(text.prefix(self.limit)) + "…"
    }

    /// Characters; a line of a log is no place for more.
    private static let limit = 500
}
