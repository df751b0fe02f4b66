internal import CassetteModel

/// One stub as an exchange.
struct ImportedStub {
    /// When the stub answers, in a tool with states.
    struct State {
        /// The name of the scenario, or of the state in Hoverfly; nil if the stub depends on several.
        var scenario: String?
        /// Nil if the stub answers in each state.
        var required: String?
        /// Nil if the answer keeps the state.
        var next: String?
        /// The state at the beginning; nil if it is unknown.
        var initial: String?
    }

    /// The servers whose requests the stub answers. Nil for any scheme, host or port.
    struct Server {
        var scheme: String?
        var host: String?
        var port: Int?

        /// Whether the stub answers a request for a server.
        func includes(_ other: Server) -> Bool {
            (self.scheme == nil || self.scheme == other.scheme) && (self.host == nil || self.host == other.host)
                && (self.port == nil || self.port == other.port)
        }
    }

    /// With the conditions of the stub.
    var exchange: ImportedExchange
    /// Names the stub in messages.
    var name: String
    var place: SourceValue
    /// The file of the stub.
    var file: String
    /// The entry in its file.
    var entry: Int
    let context: ImportContext
    /// Whether a condition was left out, so that the exchange answers more requests than the stub.
    var isBroad: Bool
    /// Whether a condition was reduced to one value, so that the exchange answers fewer requests than the stub.
    var isNarrow: Bool
    /// Whether the stub answers requests with any method.
    var takesAnyMethod: Bool
    var server: Server
    /// The tool prefers stubs of a lower rank.
    var rank: Int
    var state: State?
    /// The position among the stubs, in the order in which they were added to the tool.
    var added = 0
    /// Whether it is not imported, because it cannot be told from another one.
    var isLeftOut = false
}
