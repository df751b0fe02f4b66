/// A kind of thing for which a replay is not clean.
public enum VerdictFlaw: String, Sendable, Hashable, CaseIterable {
    /// A request was refused because nothing that was left answers it.
    case miss
    /// A recorded exchange has answered nothing.
    case unused
    /// A request came before or after its turn.
    case order
    /// A recorded answer could not be given.
    case unserved
    /// A part of the cassette is damaged, and what it held cannot answer.
    case damage
}
