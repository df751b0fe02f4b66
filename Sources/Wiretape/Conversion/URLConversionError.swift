/// What is wrong with a URL that a request was to go to.
public struct URLConversionError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What is wrong with which URL, and what to do next.
    public var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case notAURL, noScheme, noHost, invalidHost, invalidPort, invalidPercent, invalidCharacter }

        private var value: Value

        public static var notAURL: Self { Self(value: .notAURL) }
        /// No `https:` in front.
        public static var noScheme: Self { Self(value: .noScheme) }
        public static var noHost: Self { Self(value: .noHost) }
        public static var invalidHost: Self { Self(value: .invalidHost) }
        public static var invalidPort: Self { Self(value: .invalidPort) }
        /// A percent sign that no two hex digits follow.
        public static var invalidPercent: Self { Self(value: .invalidPercent) }
        /// A control character.
        public static var invalidCharacter: Self { Self(value: .invalidCharacter) }

        public var description: String { "\(self.value)" }
    }
}
