/// What a receiver of events wants next.
public enum Demand: Sendable, Hashable {
    case more
    /// Nothing for now: memory or the user says so.
    case pause
}
