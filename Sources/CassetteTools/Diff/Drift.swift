/// How much a difference means to a client of an API, least first.
public enum Drift: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Another value of the same type.
    case value
    /// A field, a member, a part or an exchange that was not there before.
    case added
    /// Another type of value, another status, or another way to end.
    case type
    /// A field, a member, a part or an exchange that is no longer there, or what could not be compared.
    case removed

    public static func < (left: Drift, right: Drift) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .value: 0
        case .added: 1
        case .type: 2
        case .removed: 3
        }
    }
}
