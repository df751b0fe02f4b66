internal import CassetteModel
internal import TapeBytes

/// A request in `application/http` as facets (RFC 9112, 10.2), as batches have them in their parts: its first line, the items of its query,
/// its header fields, and its content by its kind.
///
/// Fields that change with each request, or describe the client or the framing, are not compared.
struct HTTPFacets {
    private let plan: BodyPlan
    private let digest: () -> any ContentDigest

    init(_ plan: BodyPlan, digest: @escaping () -> any ContentDigest) {
        self.plan = plan
        self.digest = digest
    }

    /// False, with nothing added, if the bytes do not begin with a line of at least two words followed by fields.
    func read(_ bytes: [UInt8], into collector: inout FacetCollector) -> Bool {
        // Header fields are handled as text, so they must be valid UTF-8.
        let head = bytes.firstRange(of: [10, 13, 10])?.lowerBound ?? bytes.firstRange(of: [10, 10])?.lowerBound ?? bytes.count
        guard bytes[..<head].withUnsafeBytes({ UTF8Validator.isValid($0) }) else { return false }
        var offset = 0
        func line() -> ArraySlice<UInt8>? {
            guard offset < bytes.count else { return nil }
            let end = bytes[offset...].firstIndex(of: 10) ?? bytes.count
            defer { offset = end + 1 }
            return bytes[offset..<end].last == 13 ? bytes[offset..<end - 1] : bytes[offset..<end]
        }
        guard let first = line(), first.split(separator: 32).count > 1 else { return false }
        var lines: [String] = []
        while let field = line(), !field.isEmpty {
            guard let colon = field.firstIndex(of: UInt8(ascii: ":")), colon > field.startIndex,
                field[..<colon].allSatisfy({ $0 > 32 && $0 < 127 })
            else { return false }
            lines.append(String(decoding: field, as: UTF8.self))
        }
        var found = collector.empty
        self.addFirstLine(Array(first), into: &found)
        let headers = HeaderFields(lines)
        for index in 0..<headers.count { self.add(headers, at: index, into: &found) }
        self.addContent(Self.content(bytes.dropFirst(offset), headers), headers, into: &found)
        collector.add(found)
        return true
    }

    /// Adds the line without the items of its query, which are compared by their decoded names and values, in any order of the names.
    private func addFirstLine(_ line: [UInt8], into collector: inout FacetCollector) {
        guard !line.starts(with: "HTTP/".utf8), let mark = line.firstIndex(of: UInt8(ascii: "?")) else {
            return self.add(line, FacetHash.root, .line, .whole, name: "first-line", type: "text", into: &collector)
        }
        let end = line[mark...].firstIndex(of: 32) ?? line.endIndex
        self.add(Array(line[..<mark] + line[end...]), FacetHash.root, .line, .whole, name: "first-line", type: "text", into: &collector)
        let query = Array("?".utf8).withUnsafeBytes { FacetHash.path(FacetHash.root, $0) }
        var counts: [[UInt8]: Int] = [:]
        for item in line[(mark + 1)..<end].split(separator: UInt8(ascii: "&")) {
            let encoded = item.prefix { $0 != UInt8(ascii: "=") }
            // An item without an equals sign, as in `?1732720000000`, is a value without a name.
            let isNameless = encoded.count == item.count
            let name = isNameless ? [] : FormFacets.decoded(encoded)
            let value = FormFacets.decoded(isNameless ? item : item.dropFirst(encoded.count + 1))
            guard !self.plan.items.ignores(name), !isNameless || !self.plan.items.ignores(value) else { continue }
            let rules = self.plan.items[name]
            let path = name.withUnsafeBytes { FacetHash.path(query, $0, ordinal: counts[name, default: 0]) }
            counts[name, default: 0] += 1
            self.add(
                rules?.compared(value) ?? value, path, isNameless ? .leaf : .field, .queryItem, name: String(decoding: name, as: UTF8.self),
                type: "", into: &collector)
        }
    }

    /// The content without trailing line ends, which belong to the batch.
    private static func content(_ rest: ArraySlice<UInt8>, _ headers: HeaderFields) -> [UInt8] {
        guard let index = headers.firstIndex(of: "content-length"), let length = Int(headers.value(at: index)), length >= 0,
            length <= rest.count, rest.dropFirst(length).allSatisfy({ $0 == 10 || $0 == 13 })
        else { return Array(rest) }
        return Array(rest.prefix(length))
    }

    private func add(_ headers: HeaderFields, at index: Int, into collector: inout FacetCollector) {
        let name = headers.name(at: index).lowercased()
        switch RequestFieldNames.role(of: name) {
        // Nothing else names the host.
        case .ignored where name == "host": break
        case .neverDecides, .ignored: return
        case .selecting, .other: break
        }
        guard !self.plan.headers.ignores(Array(name.utf8)), name != "content-length" else { return }
        let path = Array(name.utf8).withUnsafeBytes { FacetHash.path(FacetHash.root, $0) }
        self.add(Array(headers.valueBytes(at: index)), path, .header, .header, name: name, type: "", into: &collector)
    }

    private func addContent(_ content: [UInt8], _ headers: HeaderFields, into collector: inout FacetCollector) {
        guard !content.isEmpty else { return }
        var kind = BodyFacets.Kind.bytes
        // A message within a message is bytes, since each level is read by a call of its own.
        let field = headers.firstIndex(of: "content-type").map(headers.valueBytes)
        let isMessage = MediaType(field).essence == "application/http"
        if !isMessage, let read = ContentFacets(self.plan, headers: headers, digest: self.digest).structured(content, collector.empty) {
            kind = read.kind
            collector.add(read.facets)
        } else {
            var facet = ByteFacet(digest: self.digest(), keeping: self.plan.valueLimit)
            content.withUnsafeBytes { facet.push($0) }
            let hash = facet.finish().withUnsafeBytes { FacetHash.value(FacetHash.root, .bytes, $0) }
            facet.beginning.withUnsafeBytes {
                collector.add(hash, .whole, name: [], value: $0, size: facet.size, hasMarks: facet.hasMarks)
            }
        }
        self.add(Array(kind.rawValue.utf8), FacetHash.root, .container, .whole, name: "kind", type: "text", into: &collector)
    }

    private func add(
        _ value: [UInt8], _ path: UInt64, _ tag: FacetHash.Tag, _ place: BodyFacet.Place, name: String, type: String,
        into collector: inout FacetCollector
    ) {
        let marked = value.withUnsafeBytes { MatchMark.replaced(in: $0) }
        (marked ?? value).withUnsafeBytes {
            collector.add(
                FacetHash.value(path, tag, $0), place, name: Array(name.utf8), value: $0, type: Array(type.utf8), hasMarks: marked != nil)
        }
    }
}
