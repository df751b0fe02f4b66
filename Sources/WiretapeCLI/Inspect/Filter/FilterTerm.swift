/// One condition of a filter, by the letters that mitmproxy gives it (docs.mitmproxy.org, Filter Expressions).
///
/// Has those that a cassette can answer.
enum FilterTerm: String, CaseIterable {
    case asset = "a"
    case all
    case body = "b"
    case requestBody = "bq"
    case responseBody = "bs"
    case status = "c"
    case domain = "d"
    case destination = "dst"
    case failed = "e"
    case header = "h"
    case requestHeader = "hq"
    case responseHeader = "hs"
    case http
    case method = "m"
    case unanswered = "q"
    case answered = "s"
    case type = "t"
    case requestType = "tq"
    case responseType = "ts"
    case url = "u"

    enum Argument { case none, pattern, number }

    var argument: Argument {
        switch self {
        case .asset, .all, .failed, .http, .unanswered, .answered: .none
        case .status: .number
        case .body, .requestBody, .responseBody, .domain, .destination, .header, .requestHeader, .responseHeader, .method, .type,
            .requestType,
            .responseType, .url:
            .pattern
        }
    }

    /// For messages.
    static let known = Self.allCases.map { "~\($0.rawValue)" }.sorted().joined(separator: " ")
}
