/// A URL cut into what exchanges are paired and compared by. Text only: decodes nothing.
struct URLPieces: Sendable, Hashable {
    /// Scheme and authority in lower case, and the path.
    var base: String
    /// In the order of the URL; a value is nil without an equals sign.
    var query: [(name: String, value: String?)] = []

    init(_ url: String) {
        let text = url.prefix { $0 != "#" }
        let base = text.prefix { $0 != "?" }
        if let scheme = base.firstRange(of: "://") {
            let path = base[scheme.upperBound...].firstIndex(of: "/") ?? base.endIndex
            self.base = base[..<path].lowercased() + (path == base.endIndex ? "/" : base[path...])
        } else {
            self.base = String(base)
        }
        guard base.endIndex < text.endIndex else { return }
        for item in text[text.index(after: base.endIndex)...].split(separator: "&", omittingEmptySubsequences: true) {
            let name = item.prefix { $0 != "=" }
            self.query.append((String(name), name.endIndex < item.endIndex ? String(item[item.index(after: name.endIndex)...]) : nil))
        }
    }

    /// Equal for URLs that differ in the order of their query alone.
    var key: String {
        self.base + "?" + self.query.map { $0.name + ($0.value.map { "=" + $0 } ?? "") }.sorted().joined(separator: "&")
    }

    static func == (one: Self, other: Self) -> Bool { one.key == other.key }

    func hash(into hasher: inout Hasher) { hasher.combine(self.key) }
}
