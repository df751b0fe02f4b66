package import Foundation
internal import Platform
internal import TapeBytes

/// An HTTP origin on the loopback interface whose answers are raw bytes, so that odd messages stay odd on the wire.
package final class LoopbackOrigin: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var target: String
        package var fields: [(name: String, value: String)]
        package var body: Data

        package func field(_ name: String) -> String? { self.fields.first { $0.name.lowercased() == name.lowercased() }?.value }
    }

    package enum Step: Sendable {
        case send([UInt8])
        /// The connection ends here.
        case close
        /// With a reset instead of a regular end.
        case reset
        /// Until the client has left.
        case hang

        package static func text(_ text: String) -> Step { .send(Array(text.utf8)) }
    }

    package struct Problem: Error { package var message: String }

    package let port: Int
    private let socket: Int32
    private let answer: @Sendable (Request) -> [Step]
    private let taken = Guarded<[Request]>([])
    private let isStopped = Guarded(false)

    package init(_ answer: @escaping @Sendable (Request) -> [Step]) throws {
        self.answer = answer
        let stream = streamSocket
        self.socket = Self.open(stream)
        guard self.socket >= 0 else { throw Problem(message: "no socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let socket = self.socket
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(socket, $0, size) == 0 && getsockname(socket, $0, &size) == 0 }
        }
        guard isBound, listen(socket, 128) == 0 else { throw Problem(message: "cannot listen") }
        self.port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(socket, nil, nil)
                guard connection >= 0, let self else {
                    // The thread that uses it closes it. After that, the number may belong to another connection.
                    if connection >= 0 { close(connection) }
                    close(socket)
                    return
                }
                Thread.detachNewThread { self.serve(connection) }
            }
        }
    }

    private static func open(_ type: Int32) -> Int32 {
        Platform.socket(AF_INET, type, 0)
    }

    deinit { self.stop() }

    /// Accepts no more connections.
    package func stop() {
        let wasStopped = self.isStopped.withLock { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        // The second time, the number may belong to another socket.
        if !wasStopped { shutdown(self.socket, Int32(SHUT_RDWR)) }
    }

    package var url: String { "http://127.0.0.1:\(self.port)" }

    /// In the order of arrival.
    package var requests: [Request] { self.taken.withLock { $0 } }

    private func serve(_ connection: Int32) {
        defer { close(connection) }
        var input = Input(connection: connection)
        while let request = input.request() {
            self.taken.withLock { $0.append(request) }
            for step in self.answer(request) {
                switch step {
                case .send(let bytes): guard Self.send(bytes, to: connection) else { return }
                case .close: return
                case .reset:
                    var linger = linger(l_onoff: 1, l_linger: 0)
                    setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
                    return
                case .hang:
                    var byte: UInt8 = 0
                    while recv(connection, &byte, 1, 0) > 0 {}
                    return
                }
            }
        }
    }

    private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { buffer in
                #if canImport(Darwin)
                Darwin.send(connection, buffer.baseAddress?.advanced(by: sent), bytes.count - sent, 0)
                #else
                Glibc.send(connection, buffer.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
                #endif
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Reads one request after another.
    private struct Input {
        let connection: Int32
        var bytes: [UInt8] = []

        mutating func more() -> Bool {
            var buffer = [UInt8](repeating: 0, count: 65536)
            let count = recv(self.connection, &buffer, buffer.count, 0)
            guard count > 0 else { return false }
            self.bytes += buffer[..<count]
            return true
        }

        mutating func line() -> String? {
            while true {
                if let end = self.bytes.firstIndex(of: 10) {
                    let line = String(decoding: self.bytes[..<end].filter { $0 != 13 }, as: UTF8.self)
                    self.bytes.removeFirst(end + 1)
                    return line
                }
                guard self.more() else { return nil }
            }
        }

        mutating func take(_ count: Int) -> Data? {
            while self.bytes.count < count { guard self.more() else { return nil } }
            let data = Data(self.bytes[..<count])
            self.bytes.removeFirst(count)
            return data
        }

        mutating func request() -> Request? {
            guard let first = self.line() else { return nil }
            let words = first.split(separator: " ")
            guard words.count == 3 else { return nil }
            var request = Request(method: String(words[0]), target: String(words[1]), fields: [], body: Data())
            while let line = self.line(), !line.isEmpty {
                let parts = line.split(separator: ":", maxSplits: 1)
                request.fields.append((String(parts[0]), parts.count > 1 ? parts[1].trimmingCharacters(in: .whitespaces) : ""))
            }
            if request.field("expect") == "100-continue",
                !LoopbackOrigin.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), to: self.connection)
            {
                return nil
            }
            if request.field("transfer-encoding") == "chunked" {
                while let line = self.line(), let size = Int(line, radix: 16), size > 0 {
                    request.body += self.take(size) ?? Data()
                    _ = self.line()
                }
                _ = self.line()
            } else if let length = request.field("content-length").flatMap({ Int($0) }) {
                guard let body = self.take(length) else { return nil }
                request.body = body
            }
            return request
        }
    }
}
