internal import CassetteFormat
internal import TapeBytes

extension BodyFacets {
    /// At most this many differences are listed.
    public static let differenceLimit = 100

    /// The differences of a live body from a recorded one, in the order of the live body and up to a limit; empty if they are equal.
    ///
    /// Both should hold their facets (see `isWhole`). A recorded body read with `RecordedDetail.contents` gives the most detail.
    public func differences(fromRecorded recorded: BodyFacets) -> [RequestDifference] {
        guard self != recorded else { return [] }
        guard self.kind == recorded.kind else {
            return [.bodyKind(here: self.kind.rawValue, recorded: recorded.kind.rawValue)]
        }
        var unequal = FacetDifference(live: self.facets, recorded: recorded.facets)
        if recorded.mayLack { unequal = unequal.withoutOptional(live: self.facets, recorded: recorded.facets) }
        unequal = unequal.withoutFitting
        let pairing = FacetPairing(hidesCodes: recorded.hasCodedMarks)
        var differences: [RequestDifference] = []
        if self.isWhole, recorded.isWhole {
            let arrays = ArrayDifferences(live: self.facets, recorded: recorded.facets, unequal: unequal)
            (differences, unequal) = (arrays.differences, arrays.rest)
        }
        var left = unequal.recorded
        for live in unequal.live where differences.count < Self.differenceLimit {
            let partner = FacetPairing.partner(of: live, among: left)
            differences += pairing.differences(live, partner.map { left.remove(at: $0) })
        }
        for recorded in left where differences.count < Self.differenceLimit { differences += pairing.differences(nil, recorded) }
        if differences.isEmpty, let facet = unequal.live.first(where: \.isContainer), facet.place == .json {
            // The same values are put together in another way.
            differences = [pairing.regrouped(facet)]
        }
        differences = FacetPairing.smallest(differences)
        return differences.isEmpty ? [.bodyRemainder] : differences
    }
}

extension BodyFacets {
    fileprivate var hasCodedMarks: Bool {
        self.hasMarks && self.facets.contains { $0.hasMarks && ($0.value + $0.name).withUnsafeBytes(CodedMarks.areIn) }
    }
}

/// The facets that only one of two bodies has, with their multiplicity and in the order of the bodies.
struct FacetDifference {
    var live: [BodyFacet]
    var recorded: [BodyFacet]

    init(live: [BodyFacet], recorded: [BodyFacet]) {
        var counts: [UInt64: Int] = [:]
        for facet in recorded { counts[facet.hash, default: 0] += 1 }
        self.live = live.filter { facet in
            guard let count = counts[facet.hash], count > 0 else { return true }
            counts[facet.hash] = count - 1
            return false
        }
        // Of equal facets, the last ones are left over.
        var left: [BodyFacet] = []
        for facet in recorded.reversed() {
            guard let count = counts[facet.hash], count > 0 else { continue }
            counts[facet.hash] = count - 1
            left.append(facet)
        }
        self.recorded = left.reversed()
    }

    /// Drops the facets of values that may be missing, if the other body has nothing at all of them.
    func withoutOptional(live: [BodyFacet], recorded: [BodyFacet]) -> FacetDifference {
        let (here, there) = (Set(live.flatMap(\.optional)), Set(recorded.flatMap(\.optional)))
        var rest = self
        rest.live.removeAll { !$0.optional.allSatisfy(there.contains) }
        rest.recorded.removeAll { !$0.optional.allSatisfy(here.contains) }
        return rest
    }

    /// Drops the recorded facets whose marks fit a live facet of the same name, along with those live facets.
    var withoutFitting: FacetDifference {
        var rest = self
        // A body that differs in this many places differs in more than its marks.
        guard self.recorded.contains(where: \.hasMarks), self.recorded.count <= BodyFacets.facetLimit else { return rest }
        rest.recorded.removeAll { recorded in
            guard recorded.hasMarks,
                let index = rest.live.firstIndex(where: { $0.place == recorded.place && $0.name == recorded.name && recorded.fits($0) })
            else { return false }
            rest.live.remove(at: index)
            return true
        }
        return rest
    }
}

/// Pairs the facets of two bodies, and describes how the two of a pair differ.
struct FacetPairing {
    /// Whether possible secrets in base64 or hex are hidden from shown live values, because the recorded body has such redactions.
    let hidesCodes: Bool

    /// The longest value shown in a difference, in bytes of text.
    static let textLimit = 120

    /// The recorded facet to compare a live one with: one of the same name, preferably with the same filename and type.
    static func partner(of live: BodyFacet, among recorded: [BodyFacet]) -> Int? {
        var best: (index: Int, rank: Int)?
        for (index, other) in recorded.enumerated()
        where other.place == live.place && other.within == live.within
            && (other.name == live.name || Self.isNameless(other) && Self.isNameless(live))
        {
            let rank = (other.filename == live.filename ? 2 : 0) + (other.type == live.type ? 1 : 0) + (other.name == live.name ? 4 : 0)
            if rank > best?.rank ?? -1 { best = (index, rank) }
        }
        return best?.index
    }

    private static func isNameless(_ facet: BodyFacet) -> Bool { facet.place == .formField && facet.type == FormFacets.nameless }

    /// Either may be nil, but not both.
    func differences(_ live: BodyFacet?, _ recorded: BodyFacet?) -> [RequestDifference] {
        guard let facet = live ?? recorded else { return [] }
        guard !facet.within.isEmpty else { return self.ownDifferences(facet, live, recorded) }
        // Without the bar at its end.
        let container = Self.text(facet.within.dropLast())
        return self.ownDifferences(facet, live, recorded).map { .within(container, $0) }
    }

    private func ownDifferences(_ facet: BodyFacet, _ live: BodyFacet?, _ recorded: BodyFacet?) -> [RequestDifference] {
        let name = Self.text(recorded == nil && self.hidesCodes ? LiveSecrets.withoutCodes(facet.name) : facet.name)
        let shown = live.map { self.shown($0, recorded) }
        func value(_ facet: BodyFacet) -> String { Self.value(facet) }
        switch facet.place {
        case .json where live?.isContainer == true && recorded?.isContainer == true: return []
        case .json where facet.isContainer:
            func text(_ facet: BodyFacet) -> String { Self.value(facet).replacing("\\\"", with: "\"") }
            return [.json(pointer: name, here: live.map(text), recorded: recorded.map(text))]
        case .json:
            if let shown, let recorded, let parted = TextParting(shown.value, recorded.value) {
                let difference = RequestDifference.json(
                    pointer: name, here: Self.quoted(parted.here, like: shown), recorded: Self.quoted(parted.recorded, like: recorded))
                return [.parted(offset: parted.offset, difference)]
            }
            return [.json(pointer: name, here: shown.map(Self.json), recorded: recorded.map(Self.json))]
        case .xml: return [.xml(path: name, here: shown.map(Self.xml), recorded: recorded.map(Self.xml))]
        case .grpc: return [Self.grpc(name, shown, recorded)]
        case .formField where live?.isContainer == true && recorded?.isContainer == true:
            // The facets of its content show the difference.
            return []
        case .formField where [live, recorded].allSatisfy({ $0.map(Self.isNameless) ?? true }) && live?.name != recorded?.name:
            let here = live.map { self.hidesCodes ? LiveSecrets.withoutCodes($0.name) : $0.name }
            return [.formField(name: "", here: here.map(Self.text), recorded: recorded.map { Self.text($0.name) })]
        case .formField:
            if let shown, let recorded, let parted = TextParting(shown.value, recorded.value) {
                return [.parted(offset: parted.offset, .formField(name: name, here: parted.here, recorded: parted.recorded))]
            }
            return [.formField(name: name, here: shown.map(value), recorded: recorded.map(value))]
        case .queryItem: return [.innerQueryItem(name: name, here: shown.map(value), recorded: recorded.map(value))]
        case .header: return [.header(name: name, here: shown.map(value), recorded: recorded.map(value))]
        case .unclosed: return [.closingDelimiter(isHere: live == nil)]
        case .whole: return [self.whole(live, recorded)]
        case .part: return self.part(live, recorded).map { .part(name: name, $0) } + self.partFields(live, recorded)
        }
    }

    /// An element of an array in any order whose values are all in the recorded array, but in different elements.
    func regrouped(_ live: BodyFacet) -> RequestDifference {
        let difference = RequestDifference.json(
            pointer: Self.text(live.name), here: "another combination of recorded values", recorded: nil)
        return live.within.isEmpty ? difference : .within(Self.text(live.within.dropLast()), difference)
    }

    /// A live facet in which secrets are hidden where the recorded one has marks.
    private func shown(_ live: BodyFacet, _ recorded: BodyFacet?) -> BodyFacet {
        guard self.hidesCodes || recorded?.hasMarks == true else { return live }
        var shown = live
        shown.value = LiveSecrets.hidden(live.value, recorded: recorded?.value)
        shown.filename = live.filename.map { LiveSecrets.hidden($0, recorded: recorded?.filename) }
        if shown.value != live.value { shown.size = shown.value.count }
        return shown
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { PlainText.escape(bytes, limit: self.textLimit) }

    private static func value(_ facet: BodyFacet) -> String { self.text(facet.value) }

    private static func json(_ facet: BodyFacet) -> String {
        facet.type.elementsEqual("string".utf8) ? "\"\(self.value(facet))\"" : self.value(facet)
    }

    private static func quoted(_ text: String, like facet: BodyFacet) -> String {
        facet.type.elementsEqual("string".utf8) ? "\"\(text)\"" : text
    }

    /// An element's children are shown as they are, anything else in quotes.
    private static func xml(_ facet: BodyFacet) -> String {
        facet.type.starts(with: "children".utf8) ? self.value(facet) : "\"\(self.value(facet))\""
    }

    /// Without differences that others explain: an element that lacks a child has other children, too, and of a part that is missing, the
    /// content is.
    static func smallest(_ differences: [RequestDifference]) -> [RequestDifference] {
        var missing: Set<String> = []
        for difference in differences {
            switch difference {
            case .part(let name, .added), .part(let name, .removed), .part(let name, .bytes), .part(let name, .text):
                missing.insert("part:\(name)")
            case .formField(let name, _, _): missing.insert("form:\(name)")
            default: continue
            }
        }
        let rest = self.smallestInJSON(self.smallestInXML(differences))
        guard !missing.isEmpty else { return rest }
        return rest.filter { difference in
            guard case .within(let container, _) = difference else { return true }
            return !missing.contains(container)
        }
    }

    /// Without the values of an object or array that only one of the two has.
    private static func smallestInJSON(_ differences: [RequestDifference]) -> [RequestDifference] {
        var (added, removed): (Set<Substring>, Set<Substring>) = ([], [])
        for case .json(let pointer, let here, let recorded) in differences {
            if recorded == nil { added.insert(pointer[...]) } else if here == nil { removed.insert(pointer[...]) }
        }
        guard !added.isEmpty || !removed.isEmpty else { return differences }
        var seen: Set<String> = []
        return differences.reversed().filter { difference in
            guard case .json(let pointer, let here, let recorded) = difference, here == nil || recorded == nil else { return true }
            // An element of a sorted array comes with its text after its kind.
            guard seen.insert(pointer).inserted || !pointer.hasSuffix("/*") else { return false }
            let containers = recorded == nil ? added : removed
            return !pointer.indices.contains { $0 > pointer.startIndex && pointer[$0] == "/" && containers.contains(pointer[..<$0]) }
        }.reversed()
    }

    private static func smallestInXML(_ differences: [RequestDifference]) -> [RequestDifference] {
        let missing = Set(differences.compactMap { XMLDifference($0) }.filter { $0.here == nil || $0.recorded == nil }.map(\.path))
        guard !missing.isEmpty else { return differences }
        return differences.filter { XMLDifference($0)?.isExplained(by: missing) != true }
    }

    /// `name` is the number of the message, and the pointer in it.
    private static func grpc(_ name: String, _ live: BodyFacet?, _ recorded: BodyFacet?) -> RequestDifference {
        let digits = name.prefix { $0 != "/" }
        func text(_ facet: BodyFacet) -> String {
            switch facet.type {
            case Array("message".utf8): return "a message"
            case Array("string".utf8): return "\"\(self.value(facet))\""
            case Array("bytes".utf8) where !facet.value.withUnsafeBytes({ ReadableText.isReadable($0) }):
                let hex = Hex.encode(facet.value.prefix(16))
                return "\(ByteDifference.count(facet.size)) 0x\(hex)\(facet.size > 16 ? "…" : "")"
            default: return self.value(facet)
            }
        }
        return .grpc(
            message: Int(digits) ?? 0, field: String(name[digits.endIndex...]), here: live.map(text), recorded: recorded.map(text))
    }

    private func whole(_ live: BodyFacet?, _ recorded: BodyFacet?) -> RequestDifference {
        guard let live, let recorded else { return .bodyRemainder }
        let bytes = ByteDifference(live.value, recorded.value, here: live.size, recorded: recorded.size)
        guard live.type.elementsEqual("text".utf8), recorded.type == live.type, let offset = bytes.offset else { return .bytes(bytes) }
        guard recorded.hasMarks else {
            let line = live.value.prefix(offset).count { $0 == 10 } + 1
            return .text(line: line, here: Self.line(live.value, around: offset), recorded: Self.line(recorded.value, around: offset))
        }
        let lines = zip(Self.lines(live.value), Self.lines(recorded.value)).enumerated()
        let differing = lines.first { _, pair in
            !pair.1.withUnsafeBytes { recorded in pair.0.withUnsafeBytes { MatchMark.value(recorded, fits: $0) } }
        }
        guard let (index, (here, recorded)) = differing else { return .bytes(bytes) }
        return .text(
            line: index + 1, here: Self.text(LiveSecrets.hidden(Array(here), recorded: Array(recorded))), recorded: Self.text(recorded))
    }

    private static func lines(_ text: [UInt8]) -> [ArraySlice<UInt8>] { text.split(separator: 10, omittingEmptySubsequences: false) }

    /// The line that contains an offset; of a long line, the part near the offset.
    private static func line(_ text: [UInt8], around offset: Int) -> String {
        let place = min(offset, text.count)
        let start = text[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
        let end = text[place...].firstIndex(of: 10) ?? text.count
        let near = max(start, place - 40)
        return (near > start ? "…" : "") + self.text(text[near..<end])
    }

    /// The differing fields of a part, in the content of the part.
    private func partFields(_ live: BodyFacet?, _ recorded: BodyFacet?) -> [RequestDifference] {
        guard let live, let recorded, live.type != recorded.type else { return [] }
        func fields(_ facet: BodyFacet) -> [String: [UInt8]] {
            Dictionary(
                Self.lines(facet.type).dropFirst().map { line in
                    let name = line.prefix { $0 != UInt8(ascii: ":") }
                    return (String(decoding: name, as: UTF8.self), Array(line.dropFirst(name.count + 2)))
                }, uniquingKeysWith: { $0 + [UInt8(ascii: ","), 32] + $1 })
        }
        let (here, there) = (fields(live), fields(recorded))
        return Set(here.keys).union(there.keys).sorted().filter { here[$0] != there[$0] }.map { name in
            .within(
                "part:\(Self.text(live.name))",
                .header(
                    name: Self.text(Array(name.utf8)), here: here[name].map { Self.text(LiveSecrets.hidden($0, recorded: there[name])) },
                    recorded: there[name].map(Self.text)))
        }
    }

    private func part(_ live: BodyFacet?, _ recorded: BodyFacet?) -> [PartDifference] {
        guard let live else { return recorded.map { [.removed(size: $0.size)] } ?? [] }
        guard let recorded else { return [.added(size: live.size)] }
        var differences: [PartDifference] = []
        if live.filename != recorded.filename {
            differences.append(
                .filename(here: self.shown(live, recorded).filename.map(Self.text), recorded: recorded.filename.map(Self.text)))
        }
        let (type, recordedType) = (live.type.prefix { $0 != 10 }, recorded.type.prefix { $0 != 10 })
        if type != recordedType { differences.append(.type(here: Self.text(type), recorded: Self.text(recordedType))) }
        if live.isContainer, recorded.isContainer {
            // Facets of its content tell.
            return differences
        }
        if live.isContainer != recorded.isContainer {
            differences.append(.bytes(ByteDifference(offset: nil, here: live.size, recorded: recorded.size)))
        } else if live.size != recorded.size || live.value != recorded.value {
            differences.append(self.content(live, recorded))
        } else if differences.isEmpty, live.type == recorded.type {
            let isWhole = live.size == live.value.count
            differences.append(isWhole ? .place : .bytes(ByteDifference(offset: nil, here: live.size, recorded: recorded.size)))
        }
        return differences
    }

    private func content(_ live: BodyFacet, _ recorded: BodyFacet) -> PartDifference {
        let isText = [live, recorded].allSatisfy { facet in
            facet.size <= Self.textLimit && facet.size == facet.value.count && facet.value.withUnsafeBytes { ReadableText.isReadable($0) }
        }
        if isText { return .text(here: Self.value(self.shown(live, recorded)), recorded: Self.value(recorded)) }
        return .bytes(ByteDifference(live.value, recorded.value, here: live.size, recorded: recorded.size))
    }
}

/// Where two long texts part: the bytes around their first difference, instead of two equal beginnings.
struct TextParting {
    /// How many bytes before the difference are shown.
    private static let before = 40

    let offset: Int
    let here: String
    let recorded: String

    /// Nil if the texts are short enough to be shown whole, if they are equal, or if they part early.
    init?(_ live: [UInt8], _ recorded: [UInt8]) {
        guard max(live.count, recorded.count) > FacetPairing.textLimit, live != recorded else { return nil }
        let offset = zip(live, recorded).prefix { $0 == $1 }.count
        guard offset > Self.before else { return nil }
        var start = offset - Self.before
        // Not within a character.
        while start < offset, live[start] & 0xC0 == 0x80 { start += 1 }
        self.offset = offset
        self.here = "…" + PlainText.escape(live[start...], limit: FacetPairing.textLimit)
        self.recorded = "…" + PlainText.escape(recorded[start...], limit: FacetPairing.textLimit)
    }
}

/// A difference in XML, maybe in the content of parts and fields around it.
private struct XMLDifference {
    /// With the parts and fields before it.
    var path: String
    var here: String?
    var recorded: String?

    init?(_ difference: RequestDifference) {
        switch difference {
        case .xml(let path, let here, let recorded): (self.path, self.here, self.recorded) = (path, here, recorded)
        case .within(let container, let inner):
            guard let inner = XMLDifference(inner) else { return nil }
            (self.path, self.here, self.recorded) = ("\(container)|\(inner.path)", inner.here, inner.recorded)
        case _: return nil
        }
    }

    /// Whether an element has other children, and differs in nothing else than those that only one of the two has.
    func isExplained(by missing: Set<String>) -> Bool {
        guard let here = self.here, let recorded = self.recorded, let live = self.rest(here, missing),
            let kept = self.rest(recorded, missing)
        else { return false }
        return live == kept
    }

    /// The children of an element that are not missing, as they are shown: `<b/><c/>`. Nil if it has characters instead, or too many children
    /// to be shown.
    private func rest(_ shown: String, _ missing: Set<String>) -> [String]? {
        if shown == "\"\"" { return [] }
        guard shown.hasPrefix("<"), shown.hasSuffix("/>") else { return nil }
        var counts: [String: Int] = [:]
        return shown.dropFirst().dropLast(2).components("/><").filter { name in
            let number = counts[name, default: 0] + 1
            counts[name] = number
            return !missing.contains("\(self.path)/\(name)\(number > 1 ? "[\(number)]" : "")")
        }
    }
}

extension Substring {
    fileprivate func components(_ separator: String) -> [String] {
        var (parts, rest): ([String], Substring) = ([], self)
        while let range = rest.firstRange(of: separator) {
            parts.append(String(rest[..<range.lowerBound]))
            rest = rest[range.upperBound...]
        }
        return parts + [String(rest)]
    }
}
