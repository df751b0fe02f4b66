import CassetteModel
import CassettePlayback
import CassetteStore
import Foundation
import Testing
@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct TransportFailureTests {
    @Test func aCancelledRequestIsANetworkFailureOfThatKind() {
        let failure = TransportFailure.cancelled()
        #expect(failure.kind == .network(.cancelled))
        #expect(failure.message == "the request was cancelled")
    }
}

@Suite struct FailureKindURLErrorTests {
    /// The codes that URLSession itself reports: measured on Linux, documented on Apple's platforms.
    private static let table: [(kind: Failure.Kind, apple: Int, linux: Int)] = [
        (.dns, -1003, -1003), (.refused, -1004, -1004), (.unreachable, -1009, -1004), (.reset, -1005, -1005), (.timeout, -1001, -1001),
        (.tls, -1200, -1), (.truncated, -1005, -1), (.cancelled, -999, -999), (.malformed, -1017, -1),
        (.unprocessed, -1005, -1005),
    ]

    @Test func everyKindHasTheCodeOfItsPlatform() {
        #expect(Set(Self.table.map(\.kind)) == Set(Failure.Kind.allCases))
        for row in Self.table {
            #expect(row.kind.urlErrorCode(on: .apple).rawValue == row.apple)
            #expect(row.kind.urlErrorCode(on: .linux).rawValue == row.linux)
        }
    }
}

@Suite struct FailureTableTests {
    @Test(arguments: [
        (-999, false, false, Failure.Kind.cancelled, Failure.Kind.cancelled), (-1001, false, false, .timeout, .timeout),
        (-1003, false, false, .dns, .dns), (-1004, false, false, .refused, .refused), (-1005, false, false, .reset, .reset),
        (-1005, true, false, .reset, .truncated), (-1, true, false, .truncated, .truncated), (-1, false, true, .tls, .malformed),
        (-1, false, false, .malformed, .malformed), (-1202, false, true, .tls, .tls), (-1011, false, false, .reset, .malformed),
        (-1002, false, false, .malformed, .malformed), (-1009, false, false, .unreachable, .unreachable),
    ])
    func eachPlatformHasItsCodes(code: Int, isAnswered: Bool, isSecure: Bool, linux: Failure.Kind, apple: Failure.Kind) {
        #expect(FailureTable.linux.kind(of: code, isAnswered: isAnswered, isSecure: isSecure) == linux)
        #expect(FailureTable.apple.kind(of: code, isAnswered: isAnswered, isSecure: isSecure) == apple)
    }

    @Test func thePlatformHasOneOfThem() {
        #if canImport(FoundationNetworking)
        #expect(FailureTable.current.kind(of: -1011, isAnswered: false, isSecure: false) == .reset)
        #else
        #expect(FailureTable.current.kind(of: -1011, isAnswered: false, isSecure: false) == .malformed)
        #endif
    }
}

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

    /// Code that retries temporary failures must not retry a miss.
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

@Suite struct TransportFailureWordTests {
    @Test func eachKindHasAWord() {
        #expect(Failure.Kind.allCases.map { TransportFailure.Kind.network($0).word } == Failure.Kind.allCases.map(\.rawValue))
        #expect(TransportFailure.Kind.unsupported.word == "unsupported")
        #expect(TransportFailure.Kind.body.word == "body")
    }
}
