import Foundation
import TapeTestSupport
import Testing
@testable import Wiretape

@Suite struct PlatformReadingTests {
    private let folder: TemporaryFolder

    init() throws { self.folder = try TemporaryFolder() }

    @Test func anAuthorityIsTrustedWhereTheRootsHaveIt() throws {
        let authority = "-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n"
        let other = "-----BEGIN CERTIFICATE-----\nREVG\n-----END CERTIFICATE-----\n"
        let environment = ["WIRETAPE_CA_DIR": self.folder.path]
        let roots = self.folder.path + "/roots.pem"
        try Data((other + authority).utf8).write(to: URL(fileURLWithPath: roots))
        #expect(PlatformReading.trustsAuthority(environment, roots: [roots]) == nil)
        try Data(authority.utf8).write(to: URL(fileURLWithPath: self.folder.path + "/ca-cert.pem"))
        #expect(PlatformReading.trustsAuthority(environment, roots: [roots]) == true)
        try Data(other.utf8).write(to: URL(fileURLWithPath: roots))
        #expect(PlatformReading.trustsAuthority(environment, roots: [roots]) == false)
        #expect(PlatformReading.trustsAuthority(environment, roots: [roots + ".none"]) == nil)
    }

    @Test func theReleaseIsNoOlderThanTheManifestAsksFor() {
        #expect(PlatformReading.release >= SwiftRelease(6, 1))
    }
}
