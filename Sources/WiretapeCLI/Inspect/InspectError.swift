/// What `inspect` was asked for and cannot show.
struct InspectError: Error, Hashable, Sendable {
    var code: Code
    /// What is missing, of which exchange, and what to do next.
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// A kind of error; more kinds may come.
    struct Code: Hashable, Sendable {
        private enum Value { case noExchange, noBody, unfitForTerminal }
        private var value: Value

        static var noExchange: Self { Self(value: .noExchange) }
        static var noBody: Self { Self(value: .noBody) }
        /// A body that holds control characters, or is no text.
        static var unfitForTerminal: Self { Self(value: .unfitForTerminal) }
    }
}
