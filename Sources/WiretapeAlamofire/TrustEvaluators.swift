public import Foundation
public import TapeTrust
public import Wiretape

/// A policy of `ServerTrust` under the name of one of Alamofire's evaluators.
public protocol ServerTrustEvaluating: Sendable {
    var serverTrust: ServerTrust { get }
}

/// The system's evaluation.
public struct DefaultTrustEvaluator: ServerTrustEvaluating {
    public let serverTrust: ServerTrust

    public init(validateHost: Bool = true) { self.serverTrust = .defaultEvaluation(validatesHost: validateHost) }
}

/// Trusts servers that present one of these certificates.
public struct PinnedCertificatesTrustEvaluator: ServerTrustEvaluating {
    public let serverTrust: ServerTrust

    /// - Parameter certificates: in DER; by default those of the main bundle, in files with the endings cer, crt and der. With none, no server
    ///   is trusted.
    public init(
        certificates: [Data] = Bundle.main.pinnedCertificates, acceptSelfSignedCertificates: Bool = false,
        performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.serverTrust = .pinnedCertificates(
            certificates.map { [UInt8]($0) }, validatesChain: performDefaultValidation && !acceptSelfSignedCertificates,
            validatesHost: validateHost)
    }
}

/// Trusts servers whose certificates have one of these keys.
public struct PublicKeysTrustEvaluator: ServerTrustEvaluating {
    public let serverTrust: ServerTrust

    /// - Parameter certificates: the certificates with the keys, in DER; by default those of the main bundle. With none, no server is
    ///   trusted.
    public init(
        certificates: [Data] = Bundle.main.pinnedCertificates, performDefaultValidation: Bool = true, validateHost: Bool = true
    ) {
        self.init(
            keys: certificates.compactMap { HTTPSession.publicKeyPin(ofCertificate: $0) },
            performDefaultValidation: performDefaultValidation,
            validateHost: validateHost)
    }

    public init(keys: [PublicKeyPin], performDefaultValidation: Bool = true, validateHost: Bool = true) {
        self.serverTrust = .pinnedPublicKeys(
            keys.map(\.digest), validatesChain: performDefaultValidation, validatesHost: validateHost)
    }
}

/// Trusts every server. Do not use it in a release.
public struct DisabledTrustEvaluator: ServerTrustEvaluating {
    public let serverTrust = ServerTrust.disabled

    public init() {}
}

extension HTTPSession.ServerTrustManager {
    /// Policies by host, with Alamofire's labels. A name that is not a host, such as a URL, matches none, so that its requests fail.
    public init(allHostsMustBeEvaluated: Bool = true, evaluators: [String: any ServerTrustEvaluating]) {
        let rules = evaluators.sorted { $0.key < $1.key }.compactMap { host, evaluator in
            (try? HostPattern(host)).map { Rule(hosts: $0, trust: evaluator.serverTrust) }
        }
        self.init(rules: rules, allHostsMustBeEvaluated: allHostsMustBeEvaluated || rules.count < evaluators.count)
    }
}

extension Bundle {
    /// The certificates in the bundle's folder of resources, in DER.
    public var pinnedCertificates: [Data] {
        ["cer", "crt", "der", "CER", "CRT", "DER"].flatMap { self.urls(forResourcesWithExtension: $0, subdirectory: nil) ?? [] }
            .compactMap { try? Data(contentsOf: $0 as URL) }
    }
}
