import Testing

@testable import TapeTLS

struct PeerPolicyTests {
    @Test func theHostIsValidatedUnlessThePolicySaysOtherwise() {
        #expect(PeerPolicy.defaultEvaluation().validatesHost)
        #expect(!PeerPolicy.defaultEvaluation(validatesHost: false).validatesHost)
        #expect(PeerPolicy.pinnedCertificates([]).validatesHost)
        #expect(!PeerPolicy.pinnedCertificates([], validatesHost: false).validatesHost)
        #expect(PeerPolicy.pinnedPublicKeys([]).validatesHost)
        #expect(!PeerPolicy.pinnedPublicKeys([], validatesHost: false).validatesHost)
    }

    @Test func theTwoThatLookAtNothingDoNotLookAtTheHost() {
        #expect(!PeerPolicy.disabled.validatesHost)
        #expect(!PeerPolicy.custom { _, _ in true }.validatesHost)
    }
}
