import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct TransportFailureSessionErrorTests {
    private static let url = URL(string: "http://here.test/") ?? URL(fileURLWithPath: "/")

    @Test func aFailureOfTheNetworkIsAURLError() throws {
        let error = TransportFailure(.network(.refused), "nobody listens").sessionError(for: Self.url)
        let url = try #require(error as? URLError)
        #expect(url.code == .cannotConnectToHost)
        #expect(url.localizedDescription == "nobody listens")
        #expect((error as NSError).domain == NSURLErrorDomain)
        #expect((error as NSError).userInfo[NSURLErrorFailingURLErrorKey] as? URL == Self.url)
    }

    /// Whoever retries what may pass must not retry a miss.
    @Test(arguments: [
        (TransportFailure.Kind.noMatch(MissReport(request: "GET /", mode: .none, reason: .notRecorded)), 1),
        (.unserved(UnservedAnswer(index: 1, problem: "no file")), 2), (.unsupported, 3), (.body, 4),
    ]) func allOthersHaveADomainOfTheirOwn(kind: TransportFailure.Kind, code: Int) throws {
        let error = TransportFailure(kind, "what is wrong").sessionError(for: Self.url) as NSError
        #expect(error.domain == TransportFailure.errorDomain)
        #expect(error.code == code)
        #expect(error.localizedDescription == "what is wrong")
        #expect("\(error)".contains("what is wrong"))
        #expect(try #require(TransportFailure(error)).kind == kind)
    }

    @Test func theFailureComesBackOutOfTheError() throws {
        let failure = TransportFailure(.network(.timeout), "too long")
        #expect(TransportFailure(failure)?.message == "too long")
        #expect(TransportFailure(failure.sessionError(for: nil))?.kind == .network(.timeout))
        #expect(TransportFailure(URLError(.timedOut)) == nil)
        #expect(TransportFailure(NSError(domain: "other", code: 1)) == nil)
    }
}
