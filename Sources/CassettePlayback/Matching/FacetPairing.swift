internal import CassetteFormat
internal import TapeBytes

/// Which facets of two bodies belong together, and in what two of them differ.
enum FacetPairing {
    /// A value in a difference is cut to so many octets of text.
    static let textLimit = 120

    /// The recorded facet that a live one is compared with: of the same name, and of the same filename or type where there are several.
    static func partner(of live: BodyFacet, among recorded: [BodyFacet]) -> Int? {
        var best: (index: Int, rank: Int)?
        for (index, other) in recorded.enumerated() where other.place == live.place && other.name == live.name {
            let rank = (other.filename == live.filename ? 2 : 0) + (other.type == live.type ? 1 : 0)
            if rank > best?.rank ?? -1 { best = (index, rank) }
        }
        return best?.index
    }

    /// One of them may be missing.
    static func differences(_ live: BodyFacet?, _ recorded: BodyFacet?) -> [RequestDifference] {
        guard let facet = live ?? recorded else { return [] }
        let name = self.text(facet.name)
        switch facet.place {
        case .json: return [.json(pointer: name, here: live.map(self.json), recorded: recorded.map(self.json))]
        case .formField: return [.formField(name: name, here: live.map(self.value), recorded: recorded.map(self.value))]
        case .queryItem: return [.graphQLItem(name: name, here: live.map(self.value), recorded: recorded.map(self.value))]
        case .unclosed: return [.closingDelimiter(isHere: live == nil)]
        case .whole: return [self.whole(live, recorded)]
        case .part: return self.part(live, recorded).map { .part(name: name, $0) }
        }
    }

    private static func text(_ octets: some Collection<UInt8>) -> String { PlainText.escape(octets, limit: self.textLimit) }

    private static func value(_ facet: BodyFacet) -> String { self.text(facet.value) }

    private static func json(_ facet: BodyFacet) -> String {
        facet.type.elementsEqual("string".utf8) ? "\"\(self.value(facet))\"" : self.value(facet)
    }

    private static func whole(_ live: BodyFacet?, _ recorded: BodyFacet?) -> RequestDifference {
        guard let live, let recorded else { return .bodyRemainder }
        let octets = OctetDifference(live.value, recorded.value, here: live.size, recorded: recorded.size)
        guard live.type.elementsEqual("text".utf8), recorded.type == live.type, let offset = octets.offset else { return .octets(octets) }
        let line = live.value.prefix(offset).count { $0 == 10 } + 1
        return .text(line: line, here: self.line(live.value, around: offset), recorded: self.line(recorded.value, around: offset))
    }

    /// The line that an offset lies in; of a long one, what is near.
    private static func line(_ text: [UInt8], around offset: Int) -> String {
        let place = min(offset, text.count)
        let start = text[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
        let end = text[place...].firstIndex(of: 10) ?? text.count
        let near = max(start, place - 40)
        return (near > start ? "…" : "") + self.text(text[near..<end])
    }

    private static func part(_ live: BodyFacet?, _ recorded: BodyFacet?) -> [PartDifference] {
        guard let live else { return recorded.map { [.removed(size: $0.size)] } ?? [] }
        guard let recorded else { return [.added(size: live.size)] }
        var differences: [PartDifference] = []
        if live.filename != recorded.filename {
            differences.append(.filename(here: live.filename.map(self.text), recorded: recorded.filename.map(self.text)))
        }
        if live.type != recorded.type { differences.append(.type(here: self.text(live.type), recorded: self.text(recorded.type))) }
        if live.size != recorded.size || live.value != recorded.value {
            differences.append(self.content(live, recorded))
        } else if differences.isEmpty {
            let isWhole = live.size == live.value.count
            differences.append(isWhole ? .place : .octets(OctetDifference(offset: nil, here: live.size, recorded: recorded.size)))
        }
        return differences
    }

    private static func content(_ live: BodyFacet, _ recorded: BodyFacet) -> PartDifference {
        let isText = [live, recorded].allSatisfy { facet in
            facet.size <= self.textLimit && facet.size == facet.value.count && facet.value.withUnsafeBytes { ReadableText.isReadable($0) }
        }
        if isText { return .text(here: self.value(live), recorded: self.value(recorded)) }
        return .octets(OctetDifference(live.value, recorded.value, here: live.size, recorded: recorded.size))
    }
}
