internal import COpenSSL
import Testing

@testable import TapeTLS

struct ContextSettingsTests {
    private func made<R>(_ minimum: TLSVersion, _ body: (OpaquePointer) -> R) throws -> R {
        let context = try ContextSettings.make(TLS_method(), minimum: minimum, keyLog: nil)
        defer { SSL_CTX_free(context) }
        return body(context)
    }

    @Test(arguments: [TLSVersion.tls12, .tls13])
    func renegotiationAndCompressionAreOff(minimum: TLSVersion) throws {
        let options = try self.made(minimum) { SSL_CTX_get_options($0) }
        // SSL_OP_NO_RENEGOTIATION and SSL_OP_NO_COMPRESSION are macros that cast.
        #expect(options & (1 << 30) != 0)
        #expect(options & (1 << 17) != 0)
    }

    @Test func theLevelOfSecurityIsLoweredForDeprecatedVersionsAlone() throws {
        #expect(try self.made(.tls10) { SSL_CTX_get_security_level($0) } == 0)
        #expect(try self.made(.tls11) { SSL_CTX_get_security_level($0) } == 0)
        #expect(try self.made(.tls12) { SSL_CTX_get_security_level($0) } > 0)
        #expect(try self.made(.tls13) { SSL_CTX_get_security_level($0) } > 0)
    }

    @Test(arguments: TLSVersion.allCases)
    func theErrorQueueIsEmptyAfter(minimum: TLSVersion) throws {
        try self.made(minimum) { _ in #expect(ERR_peek_error() == 0) }
    }

    @Test func aMethodThatIsNoneFails() {
        let error = #expect(throws: TLSFailure.self) { _ = try ContextSettings.make(nil, minimum: .tls12, keyLog: nil) }
        #expect(error?.reasons.isEmpty == false)
        #expect(ERR_peek_error() == 0)
    }
}
