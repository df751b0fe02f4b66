import TapeTLS
import TapeTrust
import Testing
@testable import TapeProxy

@Suite struct PeerPolicyServerTrustTests {
    @Test(arguments: [true, false]) func theDefaultKeepsWhetherTheHostCounts(validatesHost: Bool) throws {
        guard case .defaultEvaluation(validatesHost) = PeerPolicy(.defaultEvaluation(validatesHost: validatesHost)) else {
            throw RawError("another policy")
        }
    }

    @Test(arguments: [(true, false), (false, true), (true, true), (false, false)])
    func pinsKeepWhatIsChecked(chain: Bool, host: Bool) throws {
        let certificates = PeerPolicy(.pinnedCertificates([[1], [2]], validatesChain: chain, validatesHost: host))
        guard case .pinnedCertificates([[1], [2]], chain, host) = certificates else { throw RawError("another policy") }
        let keys = PeerPolicy(.pinnedPublicKeys([[3]], validatesChain: chain, validatesHost: host))
        guard case .pinnedPublicKeys([[3]], chain, host) = keys else { throw RawError("another policy") }
    }

    @Test func noEvaluationStaysNone() throws {
        guard case .disabled = PeerPolicy(.disabled) else { throw RawError("another policy") }
    }

    @Test func aCustomEvaluationIsTheSameFunction() throws {
        guard case .custom(let evaluate) = PeerPolicy(.custom { chain, host in chain == [[7]] && host == "h" }) else {
            throw RawError("another policy")
        }
        #expect(evaluate([[7]], "h"))
        #expect(!evaluate([[7]], "i"))
        #expect(!evaluate([], "h"))
    }
}
