internal import CassetteModel
internal import CassettePlayback
internal import CassetteRedaction
internal import CassetteRun
internal import LocalHTTP
internal import TapeBytes

extension LocalAnswer {
    static let tooManyConnections = LocalAnswer(
        status: 503, reason: "Service Unavailable", code: "connections",
        message: "the control API has reached its connection limit: close some connections.")

    static let stopping = LocalAnswer(
        status: 503, reason: "Service Unavailable", code: "stopping",
        message: "wiretape is stopping: try again after it has been restarted.")
}

extension LocalGate.Server {
    static let control = LocalGate.Server(
        name: "control API", example: "/sessions", tokenAdvice: "with the token from --token-file or WIRETAPE_TOKEN")
}

/// Answers that report errors.
extension LocalAnswer {
    init(_ error: any Error) {
        switch error {
        case let error as LocalAnswer: self = error
        case let error as SessionError: self.init(error)
        case let error as CassetteError: self.init(error)
        case let error as MatchRuleError:
            self.init(status: 400, reason: "Bad Request", code: "rules", message: error.message)
        case let error as SettingSyntaxError:
            self.init(status: 400, reason: "Bad Request", code: "rules", message: error.message)
        case let error as RunPlan.Expired:
            self.init(status: 422, reason: "Unprocessable Content", code: "expired", message: error.message)
        default:
            self.init(
                status: 500, reason: "Internal Server Error", code: "failed",
                message: "the session could not be opened (\(error)): try again, or without a port of its own.")
        }
    }

    private init(_ error: SessionError) {
        switch error.code.value {
        case .invalid: self.init(status: 400, reason: "Bad Request", code: "invalid", message: error.message)
        case .notFound: self.init(status: 404, reason: "Not Found", code: "not-found", message: error.message)
        case .nameTaken: self.init(status: 409, reason: "Conflict", code: "name-taken", message: error.message)
        case .cassetteInUse: self.init(status: 409, reason: "Conflict", code: "cassette-in-use", message: error.message)
        case .tooMany: self.init(status: 503, reason: "Service Unavailable", code: "too-many", message: error.message)
        case .stopping: self.init(status: 503, reason: "Service Unavailable", code: "stopping", message: error.message)
        }
    }

    /// The cassette does not suit the order: 409 for a state that may pass, 422 for one that a person has to correct.
    private init(_ error: CassetteError) {
        switch error.code {
        case .unsafePath: self.init(status: 400, reason: "Bad Request", code: "cassette-name", message: error.message)
        case .inUse: self.init(status: 409, reason: "Conflict", code: "cassette-in-use", message: error.message)
        case .notFound: self.init(status: 422, reason: "Unprocessable Content", code: "no-cassette", message: error.message)
        case .noSpace: self.init(status: 507, reason: "Insufficient Storage", code: "disk-full", message: error.message)
        default: self.init(status: 422, reason: "Unprocessable Content", code: "cassette", message: error.message)
        }
    }
}
