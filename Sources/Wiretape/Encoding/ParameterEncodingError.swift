/// Why parameters did not get into a request.
public struct ParameterEncodingError: Error, Sendable, CustomStringConvertible {
    public var code: Code
    /// What went wrong with which parameter, and what to do next. Never has a value.
    public var message: String
    /// What an encoder or a caller's closure threw.
    public var underlying: (any Error)?

    init(_ code: Code, _ message: String, underlying: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlying = underlying
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case missingURL, notAnObject, unsupportedValue, tooDeep, notEncodable }

        private var value: Value

        /// A request without a URL has no place for a query.
        public static var missingURL: Self { Self(value: .missingURL) }
        /// A form has names: a number, a text or a list alone has none.
        public static var notAnObject: Self { Self(value: .notAnObject) }
        /// A value of a type that the encoding cannot say.
        public static var unsupportedValue: Self { Self(value: .unsupportedValue) }
        /// Values within values without end.
        public static var tooDeep: Self { Self(value: .tooDeep) }
        /// An encoder refused: see `underlying`.
        public static var notEncodable: Self { Self(value: .notEncodable) }

        public var description: String { "\(self.value)" }
    }
}
