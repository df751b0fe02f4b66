/// A match rule that cannot be understood.
public struct MatchRuleError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What is wrong with which rule, and what to write.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case unknownRule, unknownPlace, badPattern, tooMany, badJSON }

        private var value: Value

        public static var unknownRule: Self { Self(value: .unknownRule) }
        public static var unknownPlace: Self { Self(value: .unknownPlace) }
        /// Not a regular expression, or one for a place that has no single value.
        public static var badPattern: Self { Self(value: .badPattern) }
        public static var tooMany: Self { Self(value: .tooMany) }
        /// The rules' JSON has another shape.
        public static var badJSON: Self { Self(value: .badJSON) }

        public var description: String { "\(self.value)" }
    }
}
