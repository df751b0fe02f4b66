import Foundation
import Testing

@testable import Wiretape

/// One thing that HTTP does, as an origin does it and a client asks for it: sent in each of the ways there are.
struct Behaviour: Sendable, CustomTestStringConvertible {
    var name: String
    var method = "GET"
    var headers: [(String, String)] = []
    var body: RequestBody = .none
    /// Octets of the answer; `nil` for a port where nobody listens.
    var answer: [LoopbackOrigin.Step]?
    /// Names of response fields that are looked at.
    var looksAt: [String] = []
    /// The client gives up when so many events have come.
    var cancelsAfter: Int?

    /// What comes on every platform and in every way that `Expectations` says nothing else of.
    var lines: [String]

    var testDescription: String { self.name }
    var path: String { "/" + self.name.replacingOccurrences(of: " ", with: "-") }

    func request(to origin: String) -> TransportRequest {
        .make(self.method, origin + self.path, body: self.body, headers: self.headers)
    }
}
