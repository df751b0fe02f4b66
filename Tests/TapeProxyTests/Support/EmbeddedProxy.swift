import CassettePlayback
import CassetteStore
import NIOCore
import TapeRecorder

@testable import TapeProxy

/// The context of a proxy without sockets, for handlers on embedded channels.
enum EmbeddedProxy {
    static func context(_ loop: any EventLoop, recorder: (any ExchangeSink)? = nil) throws -> ProxyContext {
        try ProxyContext(
            shared: ProxyLoop(loop: loop, limits: ProxyLimits(), server: SharedServer(tls: nil), resolver: NameResolver(), disk: .shared),
            common: SharedSession(
                configuration: ProxyConfiguration(), session: CassetteSession(mode: .passthrough), recorder: recorder))
    }
}
