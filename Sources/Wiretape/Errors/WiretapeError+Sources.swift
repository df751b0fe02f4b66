internal import CassetteModel

extension WiretapeError {
    init(_ failure: TransportFailure) {
        self.init(Self.code(of: failure.kind), failure.message, underlying: failure)
    }

    private static func code(of kind: TransportFailure.Kind) -> Code {
        switch kind {
        case .network(.cancelled): .cancelled
        case .network(.timeout): .timedOut
        case .network: .network
        case .noMatch: .noMatch
        case .unserved: .unserved
        case .unsupported: .unsupported
        case .body: .requestBody
        }
    }

    /// Ours stay what they are; others are told what they happened to.
    init(_ error: any Error, as code: Code) {
        switch error {
        case let error as WiretapeError: self = error
        case let error as TransportFailure: self.init(error)
        case is CancellationError: self = .cancelled
        default: self.init(code, "\(error)", underlying: error)
        }
    }

    static var cancelled: WiretapeError { WiretapeError(TransportFailure.cancelled()) }
}
