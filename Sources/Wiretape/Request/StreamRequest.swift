/// A request whose answer is handed on as it comes: memory holds no more than readers leave unread, up to a limit.
// SAFETY: see Request; nothing but a constant is stored here.
public final class StreamRequest: Request, @unchecked Sendable {
    let hub: StreamHub

    init(core: SessionCore, source: RequestSource, interceptor: (any RequestInterceptor)?) {
        self.hub = StreamHub()
        super.init(core: core, source: source, interceptor: interceptor, sink: .stream(self.hub))
    }
}
