/// Why a request could not be authenticated, where no refresh has failed.
public struct AuthenticationError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Code
    /// What is missing or too much, and what to do next.
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    public var description: String { self.message }

    /// A kind of error; more kinds may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Value { case missingCredential, excessiveRefresh }

        private var value: Value

        /// There is nothing to authenticate with.
        public static var missingCredential: Self { Self(value: .missingCredential) }
        /// More refreshes than the window allows: the server refuses each new credential, or answers with expired ones.
        public static var excessiveRefresh: Self { Self(value: .excessiveRefresh) }

        public var description: String { "\(self.value)" }
    }
}
