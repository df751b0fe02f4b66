internal import COpenSSL
import Testing

@testable import TapeTLS

struct ConnectionStateTests {
    @Test func isFoundThroughTheConnectionItIsAttachedTo() throws {
        let context = try TLSClientContext(trustsSystem: false)
        let ssl = try #require(SSL_new(context.pointer))
        defer { SSL_free(ssl) }
        let state = ConnectionState(keyLog: nil)
        #expect(ConnectionState.of(ssl) == nil)
        state.attach(to: ssl)
        #expect(ConnectionState.of(ssl) === state)
    }

    @Test func noConnectionHasNoState() {
        #expect(ConnectionState.of(nil) == nil)
    }
}
