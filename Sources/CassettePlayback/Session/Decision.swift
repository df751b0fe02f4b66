/// What to do with one request.
public enum Decision: Sendable, Hashable {
    /// Answer with the recorded exchange at this index of the cassette, in order of request start; no upstream is dialled.
    case replay(index: Int)
    /// Pass it on to the origin, and record the exchange or not.
    case forward(record: Bool)
    /// Answer with an error that says why.
    case refuse(MissReport)
}
