internal import TapeBytes

/// What differs between a request and a recorded one, and how much that is.
struct RequestComparison: Sendable, Hashable {
    /// A part in a difference is cut to so many octets of text.
    static let textLimit = 120

    private(set) var differences: [RequestDifference] = []
    /// Weighs the differences: what a test is likelier to get wrong on purpose (method, host) counts more.
    private(set) var distance = 0

    init(_ request: RequestParts, _ recorded: RequestParts) {
        if request.method != recorded.method {
            self.add(.method(here: Self.text(request.method.bytes), recorded: Self.text(recorded.method.bytes)), weight: 3)
        }
        if request.scheme != recorded.scheme {
            self.add(.scheme(here: Self.text(request.scheme.bytes), recorded: Self.text(recorded.scheme.bytes)), weight: 1)
        }
        if request.userInformation != recorded.userInformation { self.add(.userInformation, weight: 1) }
        if request.host != recorded.host {
            self.add(.host(here: Self.text(request.host.bytes), recorded: Self.text(recorded.host.bytes)), weight: 6)
        }
        if request.port != recorded.port {
            self.add(.port(here: Self.text(request.port.bytes), recorded: Self.text(recorded.port.bytes)), weight: 2)
        }
        let edits = Self.edits(request.segments, recorded.segments)
        if edits > 0 {
            self.add(.path(here: Self.text(request.path), recorded: Self.text(recorded.path), edits: edits), weight: 4 * edits)
        }
        self.compareItems(request.items, recorded.items)
        self.compareFields(request.fields, recorded.fields)
        if self.differences.isEmpty { self.add(.remainder, weight: 1) }
    }

    private mutating func add(_ difference: RequestDifference, weight: Int) {
        self.differences.append(difference)
        self.distance += weight
    }

    /// Equal items cancel out wherever they stand; of the rest, items of the same name pair up in order.
    private mutating func compareItems(_ request: [RequestParts.Piece], _ recorded: [RequestParts.Piece]) {
        guard request != recorded else { return }
        var missing = recorded
        var added: [RequestParts.Piece] = []
        for item in request {
            if let index = missing.firstIndex(of: item) { missing.remove(at: index) } else { added.append(item) }
        }
        if missing.isEmpty, added.isEmpty { self.add(.queryOrder, weight: 1) }
        for item in added {
            if let index = missing.firstIndex(where: { $0.name == item.name }) {
                let other = missing.remove(at: index)
                self.add(.queryItemChanged(here: Self.text(item.bytes), recorded: Self.text(other.bytes)), weight: 2)
            } else {
                self.add(.queryItemAdded(Self.text(item.bytes)), weight: 2)
            }
        }
        for item in missing { self.add(.queryItemRemoved(Self.text(item.bytes)), weight: 2) }
    }

    private mutating func compareFields(_ request: [RequestParts.Piece], _ recorded: [RequestParts.Piece]) {
        guard request != recorded else { return }
        var missing = recorded.filter { !request.contains($0) }
        for field in request where !recorded.contains(field) {
            let index = missing.firstIndex { $0.fieldName == field.fieldName }
            let other = index.map { missing.remove(at: $0) }
            self.add(
                .header(
                    name: Self.text(field.fieldName), here: Self.text(field.fieldValue), recorded: other.map { Self.text($0.fieldValue) }),
                weight: 2)
        }
        for field in missing {
            self.add(.header(name: Self.text(field.fieldName), here: nil, recorded: Self.text(field.fieldValue)), weight: 2)
        }
    }

    /// Levenshtein's distance between lists of segments.
    private static func edits(_ left: [RequestParts.Piece], _ right: [RequestParts.Piece]) -> Int {
        guard left != right else { return 0 }
        var row = Array(0...right.count)
        for (leftIndex, segment) in left.enumerated() {
            var diagonal = row[0]
            row[0] = leftIndex + 1
            for (rightIndex, other) in right.enumerated() {
                let substituted = diagonal + (segment == other ? 0 : 1)
                diagonal = row[rightIndex + 1]
                row[rightIndex + 1] = min(substituted, diagonal + 1, row[rightIndex] + 1)
            }
        }
        return row[right.count]
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { PlainText.escape(bytes, limit: Self.textLimit) }
}
