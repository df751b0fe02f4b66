import NIOConcurrencyHelpers
import NIOCore
import TapeCore
import TapeRecorder

@testable import TapeProxy

/// The context of a proxy without sockets, for handlers on embedded channels.
enum EmbeddedProxy {
    static func context(_ loop: any EventLoop, recorder: Recorder? = nil) throws -> ProxyContext {
        try ProxyContext(
            shared: ProxyLoop(
                loop: loop, limits: ProxyLimits(), tls: nil,
                dialer: UpstreamDialer(loop: loop, limits: ProxyLimits(), resolver: NameResolver()), disk: .shared),
            configuration: ProxyConfiguration(),
            session: CassetteSession(mode: .passthrough), recorder: recorder, library: nil,
            counts: NIOLockedValueBox(ProxyCounts()))
    }
}
