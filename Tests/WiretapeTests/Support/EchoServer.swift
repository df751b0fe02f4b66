import CassetteModel
import Foundation
import Platform
import TapeBytes

/// A server on loopback that keeps the received bytes, and answers with an empty 200. It ends with the last reference to it.
///
/// It runs in this process: a child process would inherit the open files of others, and keep their readers waiting for the end.
final class EchoServer: Sendable {
    struct Arrived: Sendable {
        let method: String
        let target: String
        let fields: HeaderFields
        let bytes: [UInt8]

        func values(_ name: String) -> [String] {
            (0..<self.fields.count).filter { self.fields.name(at: $0).lowercased() == name.lowercased() }.map { self.fields.value(at: $0) }
        }
    }

    struct Problem: Error {}

    /// `http://127.0.0.1:PORT`
    let url: String
    private let listener: Int32
    private let arrivals: Guarded<[Arrived]>

    init() throws {
        let kind = streamSocket
        let listener = socket(AF_INET, kind, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 16) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound else { throw Problem() }
        let arrivals = Guarded<[Arrived]>([])
        self.listener = listener
        self.arrivals = arrivals
        self.url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
        Thread.detachNewThread {
            while case let connection = accept(listener, nil, nil), connection >= 0 {
                if let arrived = Self.read(connection) { arrivals.withLock { $0.append(arrived) } }
                let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8)
                _ = send(connection, answer, answer.count, 0)
                close(connection)
            }
            close(listener)
        }
    }

    /// The thread ends at its next accept.
    deinit { shutdown(self.listener, Int32(SHUT_RDWR)) }

    /// The request that the last command sent.
    func takeLast() throws -> Arrived {
        guard let last = self.arrivals.withLock({ $0.popLast() }) else { throw Problem() }
        return last
    }

    private static func read(_ connection: Int32) -> Arrived? {
        var bytes: [UInt8] = []
        func more() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = recv(connection, &buffer, buffer.count, 0)
            if count > 0 { bytes += buffer[..<count] }
            return count > 0
        }
        var end: Int?
        while end == nil {
            guard more() else { return nil }
            end = bytes.indices.first { bytes[$0...].starts(with: [13, 10, 13, 10]) }
        }
        guard let end else { return nil }
        let lines = String(decoding: bytes[..<end], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        let fields = HeaderFields(Array(lines.dropFirst()))
        let length = fields.first("content-length").flatMap { Int($0) } ?? 0
        while bytes.count < end + 4 + length { guard more() else { return nil } }
        guard words.count == 3 else { return nil }
        return Arrived(method: words[0], target: words[1], fields: fields, bytes: Array(bytes[(end + 4)...]))
    }
}
