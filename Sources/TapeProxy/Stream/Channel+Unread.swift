internal import NIOCore
internal import Platform

extension Channel {
    /// Whether the kernel has bytes of the peer that were not read, or its end.
    ///
    /// - Parameter sawEnd: the end has been read.
    func hasUnread(sawEnd: Bool) -> Bool {
        #if os(Linux)
        guard let options = self as? any SocketOptionProvider else { return false }
        // SO_MEMINFO: the first of nine numbers is the size of what was received (linux/sock_diag.h).
        let memory: EventLoopFuture<SocketMemory> = options.unsafeGetSocketOption(level: .socket, name: .init(rawValue: 55))
        if let received = Self.value(of: memory)?.numbers.0, received > 0 { return true }
        guard !sawEnd else { return false }
        // TCP_INFO: the first byte is the state, of which 8 is CLOSE_WAIT.
        let state: EventLoopFuture<UInt8> = options.unsafeGetSocketOption(level: .tcp, name: .init(rawValue: 11))
        return Self.value(of: state) == 8
        #else
        return false
        #endif
    }

    #if os(Linux)
    /// On the channel's event loop, these futures are already complete.
    private static func value<Value>(of future: EventLoopFuture<Value>) -> Value? {
        var value: Value?
        future.assumeIsolated().whenSuccess { value = $0 }
        return value
    }
    #endif
}

#if os(Linux)
private struct SocketMemory {
    var numbers: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0, 0, 0, 0)
}
#endif
