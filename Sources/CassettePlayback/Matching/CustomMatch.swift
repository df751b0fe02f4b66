/// A rule of the API's user, asked last: a closure that compares two requests.
///
/// Runs for each recorded request that all other rules find equal, on any thread, and must give the same answer every time.
public struct CustomMatch: Sendable {
    /// For reports.
    public let name: String
    /// Nil where the requests are equal, else a sentence on why not.
    public let difference: @Sendable (_ recorded: MatchedRequest, _ live: MatchedRequest) -> String?

    public init(_ name: String, _ difference: @escaping @Sendable (_ recorded: MatchedRequest, _ live: MatchedRequest) -> String?) {
        self.name = name
        self.difference = difference
    }
}
