package import CassetteModel
package import Foundation
package import Wiretape

/// One HTTP behaviour: what an origin does and how a client asks for it. It is exercised in every way that exists.
package struct Behaviour: Sendable, CustomStringConvertible {
    package enum Body: Sendable {
        case none
        case data(Data)
        case file(Data)
        /// A stream whose length is not announced.
        case stream(Data)

        package var bytes: Data? {
            switch self {
            case .none: nil
            case .data(let data), .file(let data), .stream(let data): data
            }
        }
    }

    package enum Origin: Sendable {
        case answers(OriginAnswer)
        /// There is no valid answer: what the origin does instead, and how a client classifies it.
        case fails([LoopbackOrigin.Step], Failure.Kind)
        /// Nobody is listening.
        case isAway
    }

    package var name: String
    package var method = "GET"
    /// The path and the query; nil for a path made from the name.
    package var target: String?
    package var headers: [(String, String)] = []
    package var body = Body.none
    package var origin: Origin
    /// Names of the response fields that are compared.
    package var looksAt: [String] = []
    /// Whether the reported progress of the request's body is compared.
    package var looksAtProgress = false
    /// The client gives up after this many events.
    package var cancelsAfter: Int?
    /// A foreign session uses a download task.
    package var isDownload = false

    /// The expected lines on every platform and in every way, unless `Expectations` says otherwise.
    package var lines: [String]

    package var description: String { self.name }

    package static func named(_ name: String) -> Behaviour? { self.all.first { $0.name == name } }

    package var path: String { self.target ?? "/" + self.name.replacingOccurrences(of: " ", with: "-") }

    /// The origin's steps on the wire; nil if there is no origin.
    package var steps: [LoopbackOrigin.Step]? {
        switch self.origin {
        case .answers(let answer): answer.steps
        case .fails(let steps, _): steps
        case .isAway: nil
        }
    }

    /// The stub's answer in place of the origin's.
    package var stub: StubResponse {
        switch self.origin {
        case .answers(let answer): answer.stub
        case .fails(_, let kind): .failure(kind)
        case .isAway: .failure(.refused)
        }
    }
}
