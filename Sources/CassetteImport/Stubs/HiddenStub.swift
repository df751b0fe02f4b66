internal import TapeBytes

/// A stub that has no exchange: its URL is a pattern, or it forwards its requests. Its tool may still prefer it to others.
struct HiddenStub {
    /// Names the stub in messages.
    let name: String
    let file: String
    /// Nil if it answers requests with any method.
    let method: String?
    let rank: Int
    let paths: Paths
    /// The scenario that it depends on or changes; nil if it does neither.
    var scenario: String?
    /// The state that its answer leads to; nil if it keeps the state.
    var next: String?
    /// The position among the stubs.
    var added = 0

    /// The paths, without the query, of requests that it may answer.
    struct Paths {
        /// All of them begin with this.
        let prefix: String
        private let takes: (_ path: String) -> Bool

        static var all: Paths { Paths(prefix: "") { _ in true } }

        static let prefixLimit = 64

        /// - Parameter check: for paths with the prefix.
        init(prefix: some StringProtocol, _ check: @escaping (String) -> Bool) {
            self.prefix = String(prefix.prefix(Self.prefixLimit))
            self.takes = check
        }

        init(_ path: some StringProtocol) {
            let path = String(path)
            self.init(prefix: path) { $0 == path }
        }

        /// Those that a regular expression matches as a whole. One that cannot be read, or whose classes Java reads in another way, may match
        /// each path with its prefix.
        init(matching pattern: String) {
            let classes = pattern.split(separator: "[", omittingEmptySubsequences: false).dropFirst()
            let hasClassInClass = classes.dropLast().contains { !$0.contains("]") } || pattern.contains("&&")
            let prefix = Self.literalPrefix(pattern)
            let read = hasClassInClass ? nil : try? Pattern(pattern)
            self.init(prefix: prefix) { path in read.map { $0.matches(path) } ?? true }
        }

        /// Those of URLs that a regular expression may match with their query, which may be any.
        init(matchingURLs pattern: String) {
            let prefix = Self.literalPrefix(pattern)
            // The prefix may go on into the query.
            let rest = pattern.dropFirst(prefix.count)
            if let mark = prefix.firstIndex(of: "?") {
                self.init(prefix[..<mark])
            } else if pattern.hasPrefix(prefix), Self.isOptionalQuery(rest) {
                // `/pets(\?.*)?`
                self.init(prefix)
            } else {
                self.init(prefix: prefix) { _ in true }
            }
        }

        /// Whether a regular expression is one optional group that begins with the mark of a query, and nothing else.
        private static func isOptionalQuery(_ pattern: Substring) -> Bool {
            guard ["(\\?", "(?:\\?"].contains(where: pattern.hasPrefix), pattern.hasSuffix(")?") else { return false }
            // Another group could follow the one that has the mark, and a parenthesis may be escaped or in a class.
            return pattern.dropFirst().dropLast(2).allSatisfy { !"()[]".contains($0) }
        }

        /// The text with which all matches of a regular expression begin.
        private static func literalPrefix(_ pattern: String) -> String {
            var prefix: [Character] = []
            var rest = Array(pattern)[...]
            if rest.first == "^" { rest = rest.dropFirst() }
            // Alternatives may begin in any way.
            guard !rest.contains("|") else { return "" }
            while let character = rest.popFirst() {
                if character == "\\", let next = rest.first, !next.isLetter, !next.isNumber {
                    prefix.append(rest.removeFirst())
                } else if "\\.[](){}*+?^$".contains(character) {
                    // The character before a quantifier may be missing.
                    if "*?{".contains(character) { _ = prefix.popLast() }
                    break
                } else {
                    prefix.append(character)
                }
            }
            return String(prefix)
        }

        func contain(_ path: String) -> Bool { path.hasPrefix(self.prefix) && self.takes(path) }
    }
}

/// Finds the stubs without an exchange that may answer a path.
struct HiddenStubs {
    private let byPrefix: [String: [HiddenStub]]
    private var byPath: [String: [HiddenStub]] = [:]

    init(_ stubs: [HiddenStub]) { self.byPrefix = Dictionary(grouping: stubs, by: \.paths.prefix) }

    /// One that its tool prefers to another stub, and that may answer some of its requests.
    mutating func first(before stub: ImportedStub, path: String) -> HiddenStub? {
        self.rivals(of: stub, path: path).first { ($0.rank, -$0.added) < (stub.rank, -stub.added) }
    }

    /// One of another file that is preferred as much as another stub, but was added before it, and that may answer some of its requests.
    mutating func first(tiedWith stub: ImportedStub, path: String) -> HiddenStub? {
        self.rivals(of: stub, path: path).first { $0.rank == stub.rank && $0.added < stub.added && $0.file != stub.file }
    }

    private mutating func rivals(of stub: ImportedStub, path: String) -> [HiddenStub] {
        guard !self.byPrefix.isEmpty else { return [] }
        if self.byPath[path] == nil {
            // Hoverfly compares decoded paths.
            self.byPath[path] = Set([path, StubRequest.decoded(path: path)]).flatMap { path in
                let prefixes = [""] + path.prefix(HiddenStub.Paths.prefixLimit).indices.map { String(path[...$0]) }
                return prefixes.flatMap { self.byPrefix[$0] ?? [] }.filter { $0.paths.contain(path) }
            }
        }
        return self.byPath[path, default: []].filter { hidden in
            hidden.method == nil || stub.takesAnyMethod || hidden.method == stub.exchange.request.method
        }
    }
}
