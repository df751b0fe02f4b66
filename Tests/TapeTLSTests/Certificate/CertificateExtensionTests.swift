import Testing
@testable import TapeTLS

@Suite struct CertificateExtensionTests {
    @Test func namesAreTaggedByTheirKind() {
        let names = LeafNames(host: "a.test", upstream: ["192.0.2.1"])
        let item = CertificateExtension.alternativeNames(names, isCritical: true)
        #expect(item.value == [0x30, 0x0E, 0x82, 0x06] + Array("a.test".utf8) + [0x87, 0x04, 192, 0, 2, 1])
        #expect(item.isCritical)
    }

    @Test func keyIdentifiersAreTwentyOctets() {
        let item = CertificateExtension.keyIdentifier(Array(0..<32))
        #expect(item.value == [0x04, 20] + Array(0..<20))
        #expect(CertificateExtension.authorityKeyIdentifier([9, 8]).value == [0x30, 0x04, 0x80, 0x02, 9, 8])
    }

    @Test func constraintsFollowTheStandard() {
        #expect(CertificateExtension.authority.value == [0x30, 0x03, 0x01, 0x01, 0xFF])
        #expect(CertificateExtension.endEntity.value == [0x30, 0x00])
    }
}
