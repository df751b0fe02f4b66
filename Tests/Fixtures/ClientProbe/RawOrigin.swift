import Foundation
import Platform

/// A server in this process that answers one connection with the same bytes to any request.
final class RawOrigin: Sendable {
    static let trailers =
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Trailer\r\n\r\n5\r\nhello\r\n0\r\nX-Trailer: 1\r\n\r\n"

    let url: URL
    private let socket: Int32

    init(answering answer: String) throws {
        let stream = streamSocket
        let listener = Foundation.socket(AF_INET, stream, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) == 0 && listen(listener, 4) == 0 && getsockname(listener, address, &length) == 0
            }
        }
        guard status, let url = URL(string: "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/") else {
            throw ProbeError("no port to listen on: see how many sockets are open")
        }
        (self.url, self.socket) = (url, listener)
        Thread.detachNewThread {
            let connection = accept(listener, nil, nil)
            var request = [UInt8](repeating: 0, count: 4096)
            // On loopback, a small request arrives in one piece.
            _ = recv(connection, &request, request.count, 0)
            let bytes = Array(answer.utf8)
            #if canImport(Glibc)
            let (noSignal, output) = (Int32(MSG_NOSIGNAL), Int32(SHUT_WR))
            #else
            let (noSignal, output) = (Int32(0), Int32(SHUT_WR))
            #endif
            _ = send(connection, bytes, bytes.count, noSignal)
            shutdown(connection, output)
        }
    }

    deinit { close(self.socket) }
}
