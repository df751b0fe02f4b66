/// A head and the number of bytes it took, its closing empty line included.
public struct Parsed<Head: Sendable>: Sendable {
    public var head: Head
    public var consumed: Int
}

extension Parsed: Equatable where Head: Equatable {}
