internal import CassetteModel
internal import TapeBytes

/// GraphQL requests as facets (GraphQL over HTTP): the operation's name and its variables, or the query's text if it has no name.
///
/// The name is in `operationName`, or in the query if that has a single operation. Two requests with the same name are equal, whatever
/// fields they select.
enum GraphQLFacets {
    /// Longer bodies are compared as JSON. No real query is that long, and the whole document is held in memory.
    static let sizeLimit = 4 << 20
    private static let members: Set<String> = ["query", "operationName", "variables", "extensions"]

    /// False, with nothing added, if the body is neither a GraphQL request nor a list of them.
    static func read(_ body: [UInt8], _ pointers: PointerSet, into collector: inout FacetCollector) -> Bool {
        guard body.count <= self.sizeLimit, let document = try? JSONDocument(body) else { return false }
        let root = JSONFacets.root(pointers)
        var found = collector.empty
        switch document.root.kind {
        case .object:
            guard self.read(document.root, root, pointers, into: &found) else { return false }
        case .array:
            var count = 0
            for element in document.root.elements {
                let base = JSONFacets.base(Array("\(count)".utf8), in: root, pointers)
                guard element.kind == .object, self.read(element, base, pointers, into: &found) else { return false }
                count += 1
            }
            guard count > 0 else { return false }
        case .string, .number, .true, .false, .null: return false
        }
        collector.add(found)
        return true
    }

    private static func read(
        _ request: JSONValue, _ base: JSONFacets.Base, _ pointers: PointerSet, into collector: inout FacetCollector
    ) -> Bool {
        var members: [String: JSONValue] = [:]
        for member in request.members {
            // A request with another member, or with a duplicate name, is not a GraphQL request.
            guard let name = member.name.string, self.members.contains(name), members.updateValue(member.value, forKey: name) == nil else {
                return false
            }
        }
        let query = members["query"].flatMap { $0.utf8 }
        let named = members["operationName"].flatMap { $0.utf8 } ?? []
        let operation = named.isEmpty ? query.flatMap { GraphQLOperationName.only(in: $0) } ?? [] : named
        let extensions = members["extensions"].flatMap { $0.kind == .object ? $0 : nil }
        guard query != nil || !operation.isEmpty || extensions?["persistedQuery"] != nil else { return false }
        if !operation.isEmpty {
            self.add(operation, "operationName", base, pointers, into: &collector)
        } else if let query {
            self.add(self.folded(query), "query", base, pointers, into: &collector)
        } else if let extensions {
            self.add(json: extensions.raw, "extensions", base, pointers, into: &collector)
        }
        if let variables = members["variables"], !self.isNothing(variables) {
            self.add(json: variables.raw, "variables", base, pointers, into: &collector)
        }
        return true
    }

    /// Absent variables, `null` and `{}` are equivalent.
    private static func isNothing(_ value: JSONValue) -> Bool {
        value.kind == .null || (value.kind == .object && value.members.first { _ in true } == nil)
    }

    private static func add(
        json: ArraySlice<UInt8>, _ name: String, _ base: JSONFacets.Base, _ pointers: PointerSet, into collector: inout FacetCollector
    ) {
        let base = JSONFacets.base(Array(name.utf8), in: base, pointers)
        _ = json.withUnsafeBytes { JSONFacets.read($0, at: base, pointers, into: &collector) }
    }

    /// Adds a string, spelled as JSON.
    private static func add(
        _ value: [UInt8], _ name: String, _ base: JSONFacets.Base, _ pointers: PointerSet, into collector: inout FacetCollector
    ) {
        var writer = JSONWriter()
        value.withUnsafeBytes { writer.string(utf8: $0) }
        self.add(json: writer.bytes[...], name, base, pointers, into: &collector)
    }

    /// Folds white space between words into one space (it is insignificant in GraphQL).
    static func folded(_ query: [UInt8]) -> [UInt8] {
        Array(query.split { $0 == 32 || $0 == 9 || $0 == 10 || $0 == 13 }.joined(separator: [32]))
    }

    // MARK: In a URL

    /// The query items of a URL that hold a request; the head key leaves them out.
    static func read(url: String, _ plan: BodyPlan, into collector: inout FacetCollector) {
        let bytes = Array(url.utf8)
        let end = bytes.firstIndex(of: UInt8(ascii: "#")) ?? bytes.count
        guard let mark = bytes[..<end].firstIndex(of: UInt8(ascii: "?")) else { return }
        var items: [(name: String, value: [UInt8])] = []
        for item in bytes[mark..<end].dropFirst().split(separator: UInt8(ascii: "&")) {
            let name = FormFacets.decoded(item.prefix { $0 != UInt8(ascii: "=") })
            guard let word = HeadPlan.graphQLItems.first(where: { $0.utf8.elementsEqual(name) }) else { continue }
            items.append((word, FormFacets.decoded(item.drop { $0 != UInt8(ascii: "=") }.dropFirst())))
        }
        if !items.contains(where: { $0.name == "operationName" && !$0.value.isEmpty }),
            let name = items.first(where: { $0.name == "query" }).flatMap({ GraphQLOperationName.only(in: $0.value) })
        {
            items.removeAll { $0.name == "operationName" }
            items.append(("operationName", name))
        }
        let hasOperation = items.contains { $0.name == "operationName" && !$0.value.isEmpty }
        for item in items where !plan.items.ignores(Array(item.name.utf8)) {
            guard !hasOperation || (item.name != "query" && item.name != "extensions") else { continue }
            self.add(item.name, item.value, plan.pointers, into: &collector)
        }
    }

    private static func add(_ name: String, _ value: [UInt8], _ pointers: PointerSet, into collector: inout FacetCollector) {
        // Distinct from the members of a body with the same names.
        let root = JSONFacets.Base(path: FacetHash.path(FacetHash.root, "?"), rules: pointers.all)
        if name == "variables" || name == "extensions" {
            let base = JSONFacets.base(Array(name.utf8), in: root, pointers)
            if value.withUnsafeBytes({ JSONFacets.read($0, at: base, pointers, into: &collector) }) { return }
        }
        var text = name == "query" ? self.folded(value) : value
        let marked = text.withUnsafeBytes { MatchMark.replaced(in: $0) }
        text = marked ?? text
        let path = FacetHash.path(root.path, name)
        text.withUnsafeBytes {
            collector.add(FacetHash.value(path, .field, $0), .queryItem, name: Array(name.utf8), value: $0, hasMarks: marked != nil)
        }
    }
}

extension FacetHash {
    fileprivate static func path(_ parent: UInt64, _ name: String) -> UInt64 {
        Array(name.utf8).withUnsafeBytes { self.path(parent, $0) }
    }
}

/// Finds the name of a GraphQL document's operation, if it has exactly one and that has a name (GraphQL, October 2021, 2.2 and 2.3).
///
/// Reads words, strings, comments and brackets, and validates nothing else.
struct GraphQLOperationName {
    private let query: [UInt8]
    private var offset = 0

    /// Nil if there are no operations or several, or if the only one has no name.
    static func only(in query: [UInt8]) -> [UInt8]? {
        var reader = GraphQLOperationName(query: query)
        return reader.read()
    }

    private init(query: [UInt8]) {
        self.query = query
    }

    private mutating func read() -> [UInt8]? {
        var depth = 0
        var operations = 0
        var name: [UInt8]?
        // Whether the reader is between the beginning of a definition and its selection set.
        var isInDefinition = false
        while let byte = self.skip() {
            switch byte {
            case UInt8(ascii: "{"):
                if depth == 0 {
                    if !isInDefinition { operations += 1 }
                    isInDefinition = false
                }
                depth += 1
            case UInt8(ascii: "("), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: ")"), UInt8(ascii: "]"): depth -= 1
            case _ where Self.isNamePart(byte):
                let word = self.word()
                guard depth == 0, !isInDefinition else { continue }
                isInDefinition = true
                guard ["query", "mutation", "subscription"].contains(word) else { continue }
                operations += 1
                if let next = self.skip(), Self.isNamePart(next) { name = Array(self.word().utf8) }
                continue
            case _: break
            }
            self.offset += 1
        }
        return operations == 1 ? name : nil
    }

    /// Skips strings, comments and separators; returns the next byte, or nil at the end.
    private mutating func skip() -> UInt8? {
        while self.offset < self.query.count {
            switch self.query[self.offset] {
            case UInt8(ascii: "#"):
                while self.offset < self.query.count, self.query[self.offset] != 10, self.query[self.offset] != 13 { self.offset += 1 }
            case UInt8(ascii: "\""): self.skipString()
            case 0...32, UInt8(ascii: ","): self.offset += 1
            case let byte: return byte
            }
        }
        return nil
    }

    /// A string ends at its quote, a block string at three quotes (2.9.4).
    private mutating func skipString() {
        let isBlock = self.isNext("\"\"\"")
        self.offset += isBlock ? 3 : 1
        while self.offset < self.query.count {
            if isBlock {
                if self.isNext("\"\"\"") {
                    self.offset += 3
                    return
                }
                self.offset += self.isNext("\\\"\"\"") ? 4 : 1
            } else {
                if self.query[self.offset] == UInt8(ascii: "\"") {
                    self.offset += 1
                    return
                }
                self.offset += self.query[self.offset] == UInt8(ascii: "\\") ? 2 : 1
            }
        }
    }

    private func isNext(_ text: StaticString) -> Bool {
        self.query.count - self.offset >= text.utf8CodeUnitCount
            && (0..<text.utf8CodeUnitCount).allSatisfy { self.query[self.offset + $0] == text.utf8Start[$0] }
    }

    private mutating func word() -> String {
        let start = self.offset
        while self.offset < self.query.count, Self.isNamePart(self.query[self.offset]) { self.offset += 1 }
        return String(decoding: self.query[start..<self.offset], as: UTF8.self)
    }

    private static func isNamePart(_ byte: UInt8) -> Bool { FormSpelling.isAlphanumeric(byte) || byte == UInt8(ascii: "_") }
}
