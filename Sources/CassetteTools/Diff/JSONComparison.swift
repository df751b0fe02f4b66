internal import TapeBytes

/// Compares two JSON texts by pointer (RFC 6901): objects in any order, numbers by value, strings by content.
///
/// Equal elements at both ends of arrays are skipped first, so that an added element is a single change.
struct JSONComparison {
    struct Change: Sendable, Hashable {
        var pointer: String
        /// The value's text as in the file.
        var old: String?
        var new: String?
        var drift: Drift

        /// Whether only the numbers of placeholders differ, in values that were not truncated.
        var isOfPlaceholdersAlone: Bool {
            guard let old, let new, max(old.utf8.count, new.utf8.count) < JSONComparison.textLimit else { return false }
            return PlaceholderNumbers.leftOut(old) == PlaceholderNumbers.leftOut(new)
        }
    }

    /// How many bytes of a value are kept.
    private static let textLimit = 4_096
    /// At most this many changes are reported; texts with more have little in common.
    static let limit = 50

    private(set) var changes: [Change] = []
    /// Whether there are more changes.
    private(set) var isCut = false

    init(_ old: JSONValue, _ new: JSONValue) { self.compare(old, new, at: "") }

    private mutating func compare(_ old: JSONValue, _ new: JSONValue, at pointer: String) {
        guard !self.isCut else { return }
        switch (old.kind, new.kind) {
        case (.object, .object): self.compareObjects(old, new, at: pointer)
        case (.array, .array): self.compareArrays(Array(old.elements), Array(new.elements), at: pointer)
        default: if !Self.areEqual(old, new) { self.note(pointer, old, new) }
        }
    }

    private mutating func compareObjects(_ old: JSONValue, _ new: JSONValue, at pointer: String) {
        var rest: [String: [JSONValue]] = [:]
        for member in new.members { rest[Self.name(member.name), default: []].append(member.value) }
        for member in old.members {
            let name = Self.name(member.name)
            let inner = pointer + "/" + Self.escaped(name)
            if let value = rest[name]?.first {
                rest[name]?.removeFirst()
                self.compare(member.value, value, at: inner)
            } else {
                self.note(inner, member.value, nil)
            }
        }
        for member in new.members {
            let name = Self.name(member.name)
            guard let value = rest[name]?.first else { continue }
            rest[name]?.removeFirst()
            self.note(pointer + "/" + Self.escaped(name), nil, value)
        }
    }

    private mutating func compareArrays(_ old: [JSONValue], _ new: [JSONValue], at pointer: String) {
        if old.count == new.count {
            for index in old.indices { self.compare(old[index], new[index], at: "\(pointer)/\(index)") }
            return
        }
        let shorter = min(old.count, new.count)
        var (start, end) = (0, 0)
        while start < shorter, Self.areEqual(old[start], new[start]) { start += 1 }
        while end < shorter - start, Self.areEqual(old[old.count - 1 - end], new[new.count - 1 - end]) { end += 1 }
        for index in start..<max(old.count, new.count) - end {
            let pointer = "\(pointer)/\(index)"
            switch (index < old.count - end, index < new.count - end) {
            case (true, true): self.compare(old[index], new[index], at: pointer)
            case (true, false): self.note(pointer, old[index], nil)
            case (false, true): self.note(pointer, nil, new[index])
            case (false, false): break
            }
        }
    }

    private mutating func note(_ pointer: String, _ old: JSONValue?, _ new: JSONValue?) {
        guard self.changes.count < Self.limit else {
            self.isCut = true
            return
        }
        let drift: Drift =
            if let old, let new { Self.haveEqualTypes(old, new) ? .value : .type } else { new == nil ? .removed : .added }
        self.changes.append(Change(pointer: pointer, old: old.map(Self.text), new: new.map(Self.text), drift: drift))
    }

    private static func haveEqualTypes(_ old: JSONValue, _ new: JSONValue) -> Bool {
        switch (old.kind, new.kind) {
        case (.true, .false), (.false, .true): true
        case let (one, other): one == other
        }
    }

    private static func areEqual(_ old: JSONValue, _ new: JSONValue) -> Bool {
        guard old.kind == new.kind else { return false }
        if old.raw == new.raw { return true }
        switch old.kind {
        case .array:
            let (old, new) = (Array(old.elements), Array(new.elements))
            return old.count == new.count && zip(old, new).allSatisfy { self.areEqual($0, $1) }
        case .object: return self.haveEqualMembers(old, new)
        case .string:
            guard let old = old.utf8, let new = new.utf8 else { return false }
            return old == new
        case .number: return self.isShort(old) && self.isShort(new) && old.double == new.double
        case .true, .false, .null: return true
        }
    }

    /// Members with the same name are compared in order.
    private static func haveEqualMembers(_ old: JSONValue, _ new: JSONValue) -> Bool {
        var rest: [String: [JSONValue]] = [:]
        for member in new.members { rest[self.name(member.name), default: []].append(member.value) }
        for member in old.members {
            let name = self.name(member.name)
            guard let value = rest[name]?.first, self.areEqual(member.value, value) else { return false }
            rest[name]?.removeFirst()
        }
        return rest.values.allSatisfy(\.isEmpty)
    }

    /// A double can distinguish numbers of up to fifteen digits.
    private static func isShort(_ number: JSONValue) -> Bool { number.raw.count(where: { (48...57).contains($0) }) <= 15 }

    /// A name that cannot be decoded is compared by its spelling.
    private static func name(_ value: JSONValue) -> String { value.string ?? String(decoding: value.raw, as: UTF8.self) }

    private static func escaped(_ name: String) -> String {
        name.contains { $0 == "~" || $0 == "/" } ? name.replacing("~", with: "~0").replacing("/", with: "~1") : name
    }

    /// The beginning, as much as is shown.
    private static func text(_ value: JSONValue) -> String { String(decoding: value.raw.prefix(self.textLimit), as: UTF8.self) }
}
