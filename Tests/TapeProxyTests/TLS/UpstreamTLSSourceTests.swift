import TapeTLS
import Testing
@testable import TapeProxy

@Suite struct UpstreamTLSSourceTests {
    @Test func rootsAreReadOnce() throws {
        var configuration = ProxyConfiguration()
        let scene = try TLSScene()
        scene.configure(&configuration)
        let source = UpstreamTLSSource(configuration.tls)
        #expect(try source.get() === source.get())
        withExtendedLifetime(scene) {}
    }

    @Test func withoutTLSThereIsNone() {
        let failure = #expect(throws: TLSFailure.self) { try UpstreamTLSSource(nil).get() }
        #expect(failure?.cause == .other)
    }
}
