import CassetteModel
import Testing

@testable import Wiretape

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
