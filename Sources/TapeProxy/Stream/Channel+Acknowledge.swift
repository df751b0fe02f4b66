internal import NIOCore
internal import Platform

extension Channel {
    /// Acknowledges received bytes at once. A peer that writes head and body separately may wait for the acknowledgement before it sends
    /// the body (RFC 9293, 3.7.4 and 3.8.6.3), and the kernel delays it by some 40 ms.
    func acknowledgeAtOnce() {
        #if os(Linux)
        try? self.syncOptions?.setOption(.tcpOption(.init(rawValue: TCP_QUICKACK)), value: 1)
        #endif
    }
}
