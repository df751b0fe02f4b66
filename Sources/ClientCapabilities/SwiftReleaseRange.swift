/// The releases of Swift that something holds for.
public struct SwiftReleaseRange: Sendable, Hashable, CustomStringConvertible {
    /// The first; nil for all before `end`.
    public var start: SwiftRelease?
    /// The first that it holds for no more; nil where none is known.
    public var end: SwiftRelease?

    public init(from start: SwiftRelease? = nil, before end: SwiftRelease? = nil) {
        self.start = start
        self.end = end
    }

    public static let all = Self()

    /// - Parameter release: nil for one that is not known, which may be any.
    public func contains(_ release: SwiftRelease?) -> Bool {
        guard let release else { return true }
        return self.start.map { release >= $0 } ?? true && self.end.map { release < $0 } ?? true
    }

    public var description: String {
        switch (self.start, self.end) {
        case (nil, nil): "all known releases of Swift"
        case (let start?, nil): "Swift \(start) and later"
        case (nil, let end?): "Swift before \(end)"
        case (let start?, let end?): "Swift \(start) up to \(end), which is without it"
        }
    }
}
