import Foundation
import Platform

/// A port of this machine that accepts one connection, which a server's end answers.
final class LoopbackSocket {
    private struct Failed: Error {
        var call: String
        var number = errno
    }

    /// A peer that does not connect or continue fails the test instead of blocking it.
    private static let patience = timeval(tv_sec: 120, tv_usec: 0)

    let port: UInt16
    private let listener: Int32

    init() throws {
        let kind = streamSocket
        let listener = socket(AF_INET, kind, 0)
        self.listener = listener
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 1) == 0 && getsockname(listener, address, &size) == 0
            }
        }
        guard status else { throw Failed(call: "listen") }
        self.port = UInt16(bigEndian: address.sin_port)
        Self.limit(listener)
    }

    deinit { close(self.listener) }

    private static func limit(_ socket: Int32) {
        var patience = Self.patience
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Accepts one connection, and moves bytes between it and the end until either ends.
    func serve(_ end: TLSEnd) throws {
        let socket = accept(self.listener, nil, nil)
        guard socket >= 0 else { throw Failed(call: "accept") }
        defer { close(socket) }
        Self.limit(socket)
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Failed(call: "recv") }
            guard count > 0 else { return }
            end.receive(buffer.prefix(count))
            let output = end.output()
            // A peer that has already disconnected is no failure: MSG_NOSIGNAL prevents a signal.
            var sent = 0
            while sent < output.count {
                let count = output.withUnsafeBytes {
                    send(socket, $0.baseAddress?.advanced(by: sent), $0.count - sent, Self.noSignal)
                }
                guard count > 0 else { return }
                sent += count
            }
            if end.isEnded || end.failure != nil { return }
        }
    }

    #if canImport(Darwin)
    private static let noSignal: Int32 = 0
    #else
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #endif
}
