import Testing
@testable import CassetteModel
@testable import CassettePlayback
@testable import CassetteStore
@testable import TapeBytes

@Suite struct CassetteSessionUnaskedTests {
    @Test func withoutACassetteTheBodyIsNeeded() throws {
        let head = Array("POST http://h:80/".utf8)
        let pending = PendingRequest(
            method: "POST", url: "http://h/", headers: HeaderFields(), comparedHeaders: HeaderFields(), rules: .standard, redaction: nil,
            head: head, key: 0, digest: { PortableSHA256() })
        #expect(try CassetteSession(mode: .none).decideUnasked(pending) == nil)
    }

    @Test func anUnsentBodyIsNoBodyOfAny() {
        #expect(BodyFacets.unsent != .none)
        #expect(BodyFacets.unsent.count == 0)
    }
}
