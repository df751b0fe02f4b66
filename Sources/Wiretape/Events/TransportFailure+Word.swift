extension TransportFailure.Kind {
    /// One word for logs and tables: names nothing of the request.
    var word: String {
        switch self {
        case .network(let kind): kind.rawValue
        case .noMatch: "noMatch"
        case .unserved: "unserved"
        case .unsupported: "unsupported"
        case .body: "body"
        }
    }
}
