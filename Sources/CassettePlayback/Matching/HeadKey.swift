public import CassetteModel
internal import TapeBytes

extension MatchRules {
    /// The part of a request's key that comes from its head: `METHOD scheme://host:port/path?query` with the normalised URL and its query
    /// sorted, followed by a line feed and `name: value` for each compared field. Parts that are not compared become `*` or are left out;
    /// placeholders become marks (`MatchMark`).
    ///
    /// Passes the bytes without keeping them: no allocation below a kilobyte for the default rules.
    public func withHeadKey<Result>(
        method: UnsafeRawBufferPointer, url: UnsafeRawBufferPointer, headers: HeaderFields?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let prefix = method.count + 1
        // Copies only these two, since a copy of all the rules would retain a dozen references.
        let (head, isStandard) = (self.head, self.isStandardHead)
        return withUnsafeTemporaryAllocation(byteCount: prefix + url.count + 1, alignment: 1) { output in
            output.copyBytes(from: method)
            output[method.count] = UInt8(ascii: " ")
            let length = URLNormalizer.write(url, to: UnsafeMutableRawBufferPointer(rebasing: output[prefix...]))
            let marked = MatchMark.replacePlaceholders(in: UnsafeMutableRawBufferPointer(rebasing: output[..<(prefix + length)]))
            let key = UnsafeMutableRawBufferPointer(rebasing: output[..<marked])
            guard isStandard else {
                return HeadKeyWriter(head, UnsafeRawBufferPointer(key), methodEnd: method.count).key(headers).withUnsafeBytes(body)
            }
            let mark = ByteScan.index(of: UInt8(ascii: "?"), in: UnsafeRawBufferPointer(key), from: min(prefix, marked))
            if mark < marked { QuerySorter.sort(UnsafeMutableRawBufferPointer(rebasing: key[(mark + 1)...])) }
            return body(UnsafeRawBufferPointer(key))
        }
    }

    public func withHeadKey<Result>(
        method: String, url: String, headers: HeaderFields?, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        var method = method
        var url = url
        return method.withUTF8 { method in
            url.withUTF8 { url in
                self.withHeadKey(method: UnsafeRawBufferPointer(method), url: UnsafeRawBufferPointer(url), headers: headers, body)
            }
        }
    }
}

/// The parts of a request's head that go into its key, derived from the rules once.
final class HeadPlan: Sendable {
    enum Query: Sendable { case none, unordered, ordered }

    let method: Bool
    let scheme: Bool
    let host: Bool
    let port: Bool
    let path: Bool
    let query: Query
    /// By the decoded names of query items.
    let items: NamedRules
    let hostRules: ValueRules
    let pathRules: ValueRules
    /// Names in lower case, sorted.
    let headers: [String]
    /// By the names of header fields, in lower case.
    let fields: NamedRules

    /// Query items that a GraphQL request uses instead of a body (GraphQL over HTTP, "GET").
    static let graphQLItems = ["query", "variables", "operationName", "extensions"]

    init(rules: [MatchRule], _ places: PlaceRules) {
        self.method = rules.contains(.method)
        self.scheme = rules.contains(.scheme)
        self.host = rules.contains(.host)
        self.port = rules.contains(.port)
        self.path = rules.contains(.path)
        self.query = rules.contains(.query(ordered: true)) ? .ordered : rules.contains(.query(ordered: false)) ? .unordered : .none
        self.headers = rules.compactMap { if case .header(let name) = $0 { name } else { nil } }.sorted()
        var items = places.named { if case .queryItem(let name) = $0 { name } else { nil } }
        if rules.contains(.graphQL) { for name in Self.graphQLItems { items.ignore(name) } }
        self.items = items
        self.fields = places.named { if case .header(let name) = $0 { name } else { nil } }
        self.hostRules = places.only { $0 == .host }
        self.pathRules = places.only { $0 == .path }
    }

    var comparesQuery: Bool { if case .none = self.query { false } else { true } }

    /// Whether the key is only the method and the normalised URL with its query sorted.
    var isStandard: Bool {
        guard self.method, self.scheme, self.host, self.port, self.path, case .unordered = self.query else { return false }
        return self.items.isEmpty && self.hostRules.isEmpty && self.pathRules.isEmpty && self.headers.isEmpty
    }
}

/// Writes the head key for rules other than the default ones.
///
/// Starts from a full key with marks for placeholders, and copies, drops or replaces its parts.
struct HeadKeyWriter {
    private let plan: HeadPlan
    private let bytes: UnsafeRawBufferPointer
    private let layout: RequestLayout
    private var output: [UInt8] = []

    /// `bytes` must be a method, a space and a normalised URL.
    init(_ plan: HeadPlan, _ bytes: UnsafeRawBufferPointer, methodEnd: Int) {
        self.plan = plan
        self.bytes = bytes
        self.layout = RequestLayout(bytes)
        self.output.reserveCapacity(bytes.count + 256)
    }

    consuming func key(_ headers: HeaderFields?) -> [UInt8] {
        self.append(self.layout.method, if: self.plan.method)
        self.output.append(UInt8(ascii: " "))
        if !self.layout.scheme.isEmpty {
            self.append(self.layout.scheme, if: self.plan.scheme)
            self.output += [UInt8(ascii: ":"), UInt8(ascii: "/"), UInt8(ascii: "/")]
            self.appendHost()
            if self.plan.port, !self.layout.port.isEmpty {
                self.output.append(UInt8(ascii: ":"))
                self.output += self.bytes[self.layout.port]
            }
        }
        self.appendPath()
        self.appendQuery()
        if let headers { self.appendFields(headers) }
        return self.output
    }

    /// The path, and the query in its order, for a URL that is not normalised.
    consuming func target(withQuery: Bool) -> [UInt8] {
        if self.plan.path, self.layout.path.isEmpty { self.output.append(UInt8(ascii: "/")) } else { self.appendPath() }
        if withQuery { self.appendQuery(inOrder: true) }
        return self.output
    }

    private mutating func append(_ range: Range<Int>, if isCompared: Bool) {
        if isCompared { self.output += self.bytes[range] } else { self.output.append(UInt8(ascii: "*")) }
    }

    private mutating func appendHost() {
        guard self.plan.host else { return self.output.append(UInt8(ascii: "*")) }
        if !self.layout.userInformation.isEmpty {
            self.output += self.bytes[self.layout.userInformation]
            self.output.append(UInt8(ascii: "@"))
        }
        self.output += self.value(self.layout.host, self.plan.hostRules)
    }

    private mutating func appendPath() {
        guard self.plan.path else {
            self.output += [UInt8(ascii: "/"), UInt8(ascii: "*")]
            return
        }
        self.output += self.value(self.layout.path, self.plan.pathRules)
    }

    private func value(_ range: Range<Int>, _ rules: ValueRules) -> [UInt8] {
        let value = Array(self.bytes[range])
        switch value.withUnsafeBytes({ rules.outcome(for: $0) }) {
        case .asIs: return value
        case .substitute(let value): return value
        case .rewritten(let value): return Self.contained(value)
        }
    }

    /// Percent-encodes what would end the part of a URL that a rule has rewritten, so that it is not taken for another part.
    private static func contained(_ value: [UInt8]) -> [UInt8] {
        value.flatMap { byte -> [UInt8] in
            switch byte {
            case UInt8(ascii: "?"), UInt8(ascii: "#"), 0...32, 127: self.escaped([byte])
            default: [byte]
            }
        }
    }

    // MARK: Query

    private mutating func appendQuery(inOrder: Bool = false) {
        guard let query = self.layout.query else { return }
        let isOrdered: Bool
        switch self.plan.query {
        case .none: return
        case .ordered: isOrdered = true
        case .unordered: isOrdered = inOrder
        }
        var items: [ArraySlice<UInt8>] = []
        var hasDropped = false
        for item in Array(self.bytes[query]).split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            guard let item = self.item(item) else {
                hasDropped = true
                continue
            }
            items.append(item)
        }
        // A query of ignored items only is equivalent to no query.
        guard !items.isEmpty || !hasDropped else { return }
        self.output.append(UInt8(ascii: "?"))
        let start = self.output.count
        for (index, item) in items.enumerated() {
            if index > 0 { self.output.append(UInt8(ascii: "&")) }
            self.output += item
        }
        guard !isOrdered else { return }
        self.output.withUnsafeMutableBytes { QuerySorter.sort(UnsafeMutableRawBufferPointer(rebasing: $0[start...])) }
    }

    /// The item as it is compared; nil if it is ignored.
    private func item(_ item: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !self.plan.items.isEmpty else { return item }
        let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
        let name = FormFacets.decoded(item[..<equals])
        let isNameless = equals == item.endIndex
        if self.plan.items.ignores(name) || isNameless && self.plan.items.ignores([]) { return nil }
        if isNameless, let rules = self.plan.items[[]] {
            switch name.withUnsafeBytes({ rules.outcome(for: $0) }) {
            case .asIs: break
            case .substitute(let value): return value[...]
            case .rewritten(let value): return Self.escaped(value)[...]
            }
        }
        guard let rules = self.plan.items[name] else { return item }
        switch FormFacets.decoded(item[equals...].dropFirst()).withUnsafeBytes({ rules.outcome(for: $0) }) {
        case .asIs: return item
        case .substitute(let value): return item[..<equals] + [UInt8(ascii: "=")] + value
        case .rewritten(let value): return item[..<equals] + [UInt8(ascii: "=")] + Self.escaped(value)
        }
    }

    /// Percent-encodes everything but unreserved characters (RFC 3986, 2.3) and marks.
    static func escaped(_ value: [UInt8]) -> [UInt8] {
        value.flatMap { byte -> [UInt8] in
            switch byte {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"),
                UInt8(ascii: "{"), UInt8(ascii: "}"):
                [byte]
            default: Array("%\(byte < 16 ? "0" : "")\(String(byte, radix: 16, uppercase: true))".utf8)
            }
        }
    }

    // MARK: Fields

    private mutating func appendFields(_ headers: HeaderFields) {
        for name in self.plan.headers {
            var value: [UInt8]?
            for index in 0..<headers.count where Self.isNamed(headers.nameBytes(at: index), name) {
                if value != nil { value?.append(contentsOf: [UInt8(ascii: ","), 32]) }
                value = (value ?? []) + headers.valueBytes(at: index)
            }
            guard var value else { continue }
            if name == "content-type" { value = Self.withoutBoundary(value) }
            if let marked = value.withUnsafeBytes({ MatchMark.replaced(in: $0) }) { value = marked }
            if let rules = self.plan.fields[Array(name.utf8)] { value = rules.compared(value) ?? value }
            self.output.append(10)
            self.output += name.utf8
            self.output += [UInt8(ascii: ":"), 32]
            // A line feed separates fields; no value can contain one (RFC 9110, 5.5).
            self.output += value.map { $0 == 10 ? 32 : $0 }
        }
    }

    private static func isNamed(_ found: ArraySlice<UInt8>, _ lowercase: String) -> Bool {
        found.count == lowercase.utf8.count && zip(found, lowercase.utf8).allSatisfy { ($0 >= 65 && $0 <= 90 ? $0 | 32 : $0) == $1 }
    }

    /// Without the boundary, which is different in every request.
    static func withoutBoundary(_ value: [UInt8]) -> [UInt8] {
        guard let boundary = MultipartType(value)?.boundary else { return value }
        return BoundaryMark(boundary).replaced(in: value)
    }
}

/// The offsets of the parts of a head key: a method, a space, a normalised URL, and the header fields after it.
///
/// Any bytes have a layout: a missing part is an empty range.
struct RequestLayout: Sendable, Hashable {
    var method: Range<Int>
    var scheme: Range<Int>
    /// Without its `@`.
    var userInformation: Range<Int>
    var host: Range<Int>
    /// Empty if it is the scheme's default.
    var port: Range<Int>
    var path: Range<Int>
    /// Without its `?`; nil if there is none.
    var query: Range<Int>?
    /// Lines `name: value`, separated by line feeds.
    var fields: Range<Int>

    init(_ bytes: UnsafeRawBufferPointer) {
        let end = bytes.firstIndex(of: 10) ?? bytes.count
        self.fields = min(end + 1, bytes.count)..<bytes.count
        let methodEnd = bytes[..<end].firstIndex(of: UInt8(ascii: " ")) ?? end
        self.method = 0..<methodEnd
        let urlStart = min(methodEnd + 1, end)
        var pathEnd = urlStart
        while pathEnd < end, bytes[pathEnd] != UInt8(ascii: "?") { pathEnd += 1 }
        self.query = pathEnd < end ? pathEnd + 1..<end : nil

        var schemeEnd = urlStart
        while schemeEnd < pathEnd, bytes[schemeEnd] != UInt8(ascii: ":"), bytes[schemeEnd] != UInt8(ascii: "/") { schemeEnd += 1 }
        guard pathEnd - schemeEnd >= 3, bytes[schemeEnd] == UInt8(ascii: ":"), bytes[schemeEnd + 1] == UInt8(ascii: "/"),
            bytes[schemeEnd + 2] == UInt8(ascii: "/")
        else {
            let none = urlStart..<urlStart
            (self.scheme, self.userInformation, self.host, self.port, self.path) = (none, none, none, none, urlStart..<pathEnd)
            return
        }
        self.scheme = urlStart..<schemeEnd
        let authorityStart = schemeEnd + 3
        var authorityEnd = authorityStart
        var hostStart = authorityStart
        while authorityEnd < pathEnd, bytes[authorityEnd] != UInt8(ascii: "/") {
            if bytes[authorityEnd] == UInt8(ascii: "@") { hostStart = authorityEnd + 1 }
            authorityEnd += 1
        }
        var portStart = authorityEnd
        while portStart > hostStart, bytes[portStart - 1] >= UInt8(ascii: "0"), bytes[portStart - 1] <= UInt8(ascii: "9") {
            portStart -= 1
        }
        let hasPort = portStart > hostStart && bytes[portStart - 1] == UInt8(ascii: ":")
        self.userInformation = authorityStart..<max(authorityStart, hostStart - 1)
        self.host = hostStart..<(hasPort ? portStart - 1 : authorityEnd)
        self.port = hasPort ? portStart..<authorityEnd : authorityEnd..<authorityEnd
        self.path = authorityEnd..<pathEnd
    }
}
