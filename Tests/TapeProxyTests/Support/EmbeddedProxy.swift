import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import TapeCore

@testable import TapeProxy

/// The context of a proxy without sockets, for handlers on embedded channels.
enum EmbeddedProxy {
    static func context(_ loop: any EventLoop, recorder: Recorder? = nil) throws -> ProxyContext {
        try ProxyContext(
            loop: loop, configuration: ProxyConfiguration(), credentials: nil,
            session: try Session(mode: .passthrough), recorder: recorder, library: nil,
            dialer: UpstreamDialer(loop: loop, limits: ProxyLimits(), threads: .singleton), threads: .singleton,
            counts: NIOLockedValueBox(ProxyCounts()))
    }
}
