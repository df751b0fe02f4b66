internal import TapeBytes

/// A pattern with its place among the rules, which stands for all values that match it.
struct NumberedPattern: Sendable {
    let number: Int
    let pattern: Pattern

    static func all(_ patterns: [PlacePattern]) -> [(NumberedPattern, PlacePattern)] {
        patterns.enumerated().map { (NumberedPattern(number: $0.offset + 1, pattern: $0.element.pattern), $0.element) }
    }

    /// What is compared in place of a value that matches. Not a placeholder's spelling, nor a mark's.
    var stand: [UInt8] { Array("{{=\(self.number)}}".utf8) }

    /// The stand-in of the first pattern that matches the whole value.
    static func stand(for value: UnsafeRawBufferPointer, among patterns: [NumberedPattern]) -> [UInt8]? {
        patterns.first { $0.pattern.matches(value) }?.stand
    }
}
