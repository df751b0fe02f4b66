import CassetteModel
import Foundation
import Testing

@testable import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite struct FailureKindURLErrorTests {
    /// As URLSession itself reports them: on Linux as run, on Apple's platforms as documented.
    private static let table: [(kind: Failure.Kind, apple: Int, linux: Int)] = [
        (.dns, -1003, -1003), (.refused, -1004, -1004), (.unreachable, -1009, -1004), (.reset, -1005, -1005), (.timeout, -1001, -1001),
        (.tls, -1200, -1), (.truncated, -1005, -1), (.cancelled, -999, -999), (.malformed, -1017, -1),
    ]

    @Test func everyKindHasTheCodeOfItsPlatform() {
        #expect(Set(Self.table.map(\.kind)) == Set(Failure.Kind.allCases))
        for row in Self.table {
            #expect(row.kind.urlErrorCode(on: .apple).rawValue == row.apple)
            #expect(row.kind.urlErrorCode(on: .linux).rawValue == row.linux)
        }
    }
}
