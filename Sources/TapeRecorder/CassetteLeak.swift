public import CassetteRedaction

/// A redacted secret that is still in a cassette or in a file beside it. Says where, and never what it is.
public struct CassetteLeak: Sendable, Hashable, CustomStringConvertible {
    /// The number of the exchange; nil for what stands in front of the first one.
    public var exchange: Int?
    /// `line 120`, or the file beside the cassette with an offset in it.
    public var place: String
    public var placeholder: Placeholder
    public var spelling: Leak.Spelling

    public init(exchange: Int?, place: String, placeholder: Placeholder, spelling: Leak.Spelling) {
        self.exchange = exchange
        self.place = place
        self.placeholder = placeholder
        self.spelling = spelling
    }

    public var description: String {
        let whose = self.exchange.map { "exchange \($0)" } ?? "the cassette's beginning"
        return "\(whose), \(self.place): what \(self.placeholder) stands for (\(self.spelling.rawValue))"
    }
}
