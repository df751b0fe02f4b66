/// What `inspect` was asked for and cannot show.
struct InspectError: Error, Hashable, Sendable {
    enum Code: Sendable {
        case noExchange, noBody, noPart
        /// A body that holds control characters, or is no text.
        case unfitForTerminal
        /// A file or a folder for what is extracted.
        case unwritable
        /// A request that no command line can send again.
        case noCommand
    }

    var code: Code
    /// What is missing, of which exchange, and what to do next.
    var message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
