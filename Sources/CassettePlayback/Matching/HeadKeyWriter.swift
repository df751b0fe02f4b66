internal import CassetteModel

/// Writes the head key of rules other than the standard ones.
///
/// Works on a key of all things, with placeholders as marks; keeps, leaves out and replaces.
struct HeadKeyWriter {
    private let plan: HeadPlan
    private let bytes: UnsafeRawBufferPointer
    private let layout: RequestLayout
    private var output: [UInt8] = []

    /// `bytes` are a method, a space and a normalised URL.
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

    private mutating func append(_ range: Range<Int>, if isCompared: Bool) {
        if isCompared { self.output += self.bytes[range] } else { self.output.append(UInt8(ascii: "*")) }
    }

    private mutating func appendHost() {
        guard self.plan.host else { return self.output.append(UInt8(ascii: "*")) }
        if !self.layout.userInformation.isEmpty {
            self.output += self.bytes[self.layout.userInformation]
            self.output.append(UInt8(ascii: "@"))
        }
        self.output += self.value(self.layout.host, self.plan.hostPatterns)
    }

    private mutating func appendPath() {
        guard self.plan.path else {
            self.output += [UInt8(ascii: "/"), UInt8(ascii: "*")]
            return
        }
        self.output += self.value(self.layout.path, self.plan.pathPatterns)
    }

    private func value(_ range: Range<Int>, _ patterns: [NumberedPattern]) -> [UInt8] {
        let value = UnsafeRawBufferPointer(rebasing: self.bytes[range])
        return NumberedPattern.stand(for: value, among: patterns) ?? Array(value)
    }

    // MARK: Query

    private mutating func appendQuery() {
        guard let query = self.layout.query else { return }
        let isOrdered: Bool
        switch self.plan.query {
        case .none: return
        case .ordered: isOrdered = true
        case .unordered: isOrdered = false
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
        // A query of ignored items alone is none.
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

    /// The item as it is compared; nil where it is left out.
    private func item(_ item: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard !self.plan.ignoredItems.isEmpty || !self.plan.itemPatterns.isEmpty else { return item }
        let equals = item.firstIndex(of: UInt8(ascii: "=")) ?? item.endIndex
        let name = FormFacets.decoded(item[..<equals])
        if self.plan.ignoredItems.contains(name) { return nil }
        guard !self.plan.itemPatterns.isEmpty, let patterns = self.plan.itemPatterns[String(decoding: name, as: UTF8.self)] else {
            return item
        }
        let value = FormFacets.decoded(item[equals...].dropFirst())
        guard let stand = value.withUnsafeBytes({ NumberedPattern.stand(for: $0, among: patterns) }) else { return item }
        return item[..<equals] + [UInt8(ascii: "=")] + stand
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
            if let patterns = self.plan.headerPatterns[name] {
                value = value.withUnsafeBytes { NumberedPattern.stand(for: $0, among: patterns) } ?? value
            }
            self.output.append(10)
            self.output += name.utf8
            self.output += [UInt8(ascii: ":"), 32]
            // A line feed divides fields; none can have one (RFC 9110, 5.5).
            self.output += value.map { $0 == 10 ? 32 : $0 }
        }
    }

    private static func isNamed(_ found: ArraySlice<UInt8>, _ lowercase: String) -> Bool {
        found.count == lowercase.utf8.count && zip(found, lowercase.utf8).allSatisfy { ($0 >= 65 && $0 <= 90 ? $0 | 32 : $0) == $1 }
    }

    /// A boundary is new in every request.
    private static func withoutBoundary(_ value: [UInt8]) -> [UInt8] {
        guard let boundary = MultipartType(value)?.boundary else { return value }
        return BoundaryMark(boundary).replaced(in: value)
    }
}
