internal import CassettePlayback

/// What becomes of a request.
enum RequestDecision: Sendable {
    case replay(index: Int)
    case forward(records: Bool)
    case refuse(TransportFailure)

    init(_ decision: Decision) {
        self =
            switch decision {
            case .replay(let index): .replay(index: index)
            case .forward(let record): .forward(records: record)
            case .refuse(let report): .refuse(TransportFailure(.noMatch(report), report.description))
            }
    }
}
