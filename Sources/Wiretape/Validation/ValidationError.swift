/// A response that came whole and is not what was wanted.
public struct ValidationError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// Of the response.
    public var status: Int
    /// What came, and what was wanted.
    public var message: String

    init(_ code: Code, status: Int, _ message: String) {
        self.code = code
        self.status = status
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case unacceptableStatus, missingContentType, unacceptableContentType }

        private var value: Value

        public static var unacceptableStatus: Self { Self(value: .unacceptableStatus) }
        /// A body without a Content-Type, where any type alone would not do.
        public static var missingContentType: Self { Self(value: .missingContentType) }
        public static var unacceptableContentType: Self { Self(value: .unacceptableContentType) }

        public var description: String { "\(self.value)" }
    }
}
