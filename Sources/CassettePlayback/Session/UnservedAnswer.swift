/// A recorded answer that could not be given, or not as it was recorded.
public struct UnservedAnswer: Sendable, Hashable, CustomStringConvertible {
    /// The exchange, in order of request start from 0; nil where the cassette could not be read to choose one.
    public var index: Int?
    /// Why: with the file, and the next step.
    public var problem: String

    public init(index: Int?, problem: String) {
        self.index = index
        self.problem = problem
    }

    public var description: String {
        guard let index else { return "no exchange could be chosen: \(self.problem)" }
        return "exchange \(index + 1) could not be replayed: \(self.problem)"
    }
}
