/// A redirect that is not followed, whoever would like to.
public struct RedirectError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// Which answer pointed where, and what to do next.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case badLocation, unsupportedScheme, tooManyRedirects }

        private var value: Value

        /// The Location is no URL reference, names no host, or there are two that differ.
        public static var badLocation: Self { Self(value: .badLocation) }
        /// It leads out of HTTP.
        public static var unsupportedScheme: Self { Self(value: .unsupportedScheme) }
        public static var tooManyRedirects: Self { Self(value: .tooManyRedirects) }

        public var description: String { "\(self.value)" }
    }
}
