import Foundation
import TapeTrust
import Testing

@testable import Wiretape

@Suite struct ServerTrustPinsTests {
    @Test func keysAndCertificatesOfAFile() throws {
        let file = try Self.file()
        guard
            case .pinnedCertificates(let certificates, validatesChain: true, validatesHost: false) = ServerTrust.pinnedCertificates(
                in: file, validatesHost: false)
        else {
            Issue.record("not pinned")
            return
        }
        #expect(certificates == [SampleCertificate.ec])
        guard
            case .pinnedPublicKeys(let keys, validatesChain: false, validatesHost: true) = ServerTrust.pinnedKeys(
                in: file, validatesChain: false)
        else {
            Issue.record("not pinned")
            return
        }
        #expect(keys.compactMap { PublicKeyPin(digest: $0)?.description } == [SampleCertificate.ecPin])
        guard case .defaultEvaluation(validatesHost: true) = ServerTrust.default else {
            Issue.record("another default")
            return
        }
    }

    private static func file() throws -> CertificateFile {
        let url = FileManager.default.temporaryDirectory.appending(path: "wiretape-\(UUID().uuidString).der")
        try Data(SampleCertificate.ec).write(to: url)
        defer { try? FileManager.default.removeItem(at: url) }
        return try CertificateFile(contentsOf: url)
    }
}
