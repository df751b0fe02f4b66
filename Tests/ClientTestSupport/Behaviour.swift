package import CassetteModel
package import Foundation
package import Wiretape

/// One thing that HTTP does, as an origin does it and a client asks for it: sent in each of the ways there are.
package struct Behaviour: Sendable, CustomStringConvertible {
    package enum Body: Sendable {
        case none
        case data(Data)
        case file(Data)
        /// Of a length that nobody says.
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
        /// No answer that is one: what it does in its place, and what a client takes it for.
        case fails([LoopbackOrigin.Step], Failure.Kind)
        /// Nobody listens.
        case isAway
    }

    package var name: String
    package var method = "GET"
    /// The path and the query; nil for a path made of the name.
    package var target: String?
    package var headers: [(String, String)] = []
    package var body = Body.none
    package var origin: Origin
    /// Names of response fields that are looked at.
    package var looksAt: [String] = []
    /// Whether it is told how much of the request's body has gone out.
    package var looksAtProgress = false
    /// The client gives up when so many events have come.
    package var cancelsAfter: Int?
    /// A session of others asks with a download task.
    package var isDownload = false

    /// What comes on every platform and in every way that `Expectations` says nothing else of.
    package var lines: [String]

    package var description: String { self.name }

    package static func named(_ name: String) -> Behaviour? { self.all.first { $0.name == name } }

    package var path: String { self.target ?? "/" + self.name.replacingOccurrences(of: " ", with: "-") }

    /// What the origin does on the wire; nil where there is none.
    package var steps: [LoopbackOrigin.Step]? {
        switch self.origin {
        case .answers(let answer): answer.steps
        case .fails(let steps, _): steps
        case .isAway: nil
        }
    }

    /// What a stub does in the origin's place.
    package var stub: StubResponse {
        switch self.origin {
        case .answers(let answer): answer.stub
        case .fails(_, let kind): .failure(kind)
        case .isAway: .failure(.refused)
        }
    }
}
