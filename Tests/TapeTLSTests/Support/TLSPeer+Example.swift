@testable import TapeTLS

extension TLSPeer {
    static let example = TLSPeer(host: "example.test", serverName: "example.test")

    static func example(
        host: String = "example.test", protocols: [String] = [], policy: PeerPolicy = .defaultEvaluation(), identity: ClientIdentity? = nil
    ) -> TLSPeer {
        TLSPeer(host: host, serverName: "example.test", protocols: protocols, policy: policy, identity: identity)
    }
}
