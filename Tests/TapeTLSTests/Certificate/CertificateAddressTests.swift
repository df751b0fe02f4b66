import Testing
@testable import TapeTLS

@Suite struct CertificateAddressTests {
    @Test func readsAndWritesLiterals() {
        #expect(CertificateAddress("192.0.2.1")?.bytes == [192, 0, 2, 1])
        #expect(CertificateAddress("[::1]")?.bytes == [UInt8](repeating: 0, count: 15) + [1])
        #expect(CertificateAddress("2001:DB8:0:0::1")?.description == "2001:db8::1")
        #expect(CertificateAddress([127, 0, 0, 1])?.description == "127.0.0.1")
    }

    @Test(arguments: ["", "1", "1.2.3", "1.2.3.4.5", "256.1.1.1", "[]", "[", "1.2.3.4\0", "::1%lo", "example.test", "01.2.3.4"])
    func whatIsNoLiteralIsNone(text: String) {
        #expect(CertificateAddress(text) == nil)
    }

    @Test func otherLengthsAreNoAddresses() {
        for count in [0, 3, 5, 8, 15, 17, 32] { #expect(CertificateAddress([UInt8](repeating: 1, count: count)) == nil) }
    }
}
