import COpenSSL
@testable import TapeTLS
import Testing

@Suite struct CertificateErrorTests {
    @Test func saysItsMessage() {
        let error = CertificateError(.expired, "the authority \"CN=A\" has expired; make a new one")
        #expect("\(error)" == "the authority \"CN=A\" has expired; make a new one")
        #expect("\(error.code)" == "expired")
        #expect(error.code != .damaged)
    }

    @Test func aFailureOfTheLibraryCarriesItsReasons() throws {
        ErrorQueue.clear()
        let bio = try MemoryBIO()
        _ = PEM_read_bio_X509(bio.pointer, nil, nil, nil)
        let error = CertificateError.library("sign a certificate")
        #expect(error.code == .library)
        #expect(error.message.hasPrefix("OpenSSL cannot sign a certificate: no start line; "))
        #expect(CertificateError.library("sign").message.hasPrefix("OpenSSL cannot sign: it gives no reason; "))
    }
}

@Suite struct ErrorQueueTests {
    private func leaveNoStartLine() {
        guard let bio = BIO_new(BIO_s_mem()) else { return }
        _ = PEM_read_bio_X509(bio, nil, nil, nil)
        BIO_free(bio)
    }

    private func leaveWrongTag() {
        var start: UnsafePointer<UInt8>?
        let bytes: [UInt8] = [0x02, 0x01, 0x05]
        bytes.withUnsafeBufferPointer {
            start = $0.baseAddress
            _ = d2i_X509(nil, &start, 3)
        }
    }

    @Test func drainsTheOldestFirstAndLeavesNothing() throws {
        ErrorQueue.clear()
        self.leaveNoStartLine()
        self.leaveWrongTag()
        let reasons = ErrorQueue.drain()
        #expect(reasons.first == "no start line")
        #expect(reasons.contains("wrong tag"))
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func clearingLeavesNothing() {
        self.leaveNoStartLine()
        ErrorQueue.clear()
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func aLongQueueStaysShort() {
        ErrorQueue.clear()
        for _ in 0..<100 { self.leaveWrongTag() }
        #expect((1...16).contains(ErrorQueue.drain().count))
        #expect(ErrorQueue.drain().isEmpty)
    }

    @Test func anErrorWithoutTextHasItsNumber() {
        ErrorQueue.clear()
        ERR_new()
        withVaList([]) { ERR_vset_error(200, 4000, nil, $0) }
        #expect(ErrorQueue.drain() == ["error:64000FA0:lib(200)::reason(4000)"])
    }
}
