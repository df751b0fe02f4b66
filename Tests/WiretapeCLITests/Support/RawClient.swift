import Platform
import TapeTestSupport

/// A client without any knowledge of HTTP: sends bytes, and reads until the peer closes.
enum RawClient {
    static func exchange(port: Int, _ request: [UInt8], seconds: Double = 120) throws -> [UInt8] {
        let stream = streamSocket
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { throw TestProblem("no socket (\(String(cString: strerror(errno))))") }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let connected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
        guard connected == 0 else { throw TestProblem("cannot connect to port \(port) (\(String(cString: strerror(errno))))") }

        var sent = 0
        while sent < request.count {
            let count = request[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.noSignal) }
            guard count > 0 else { throw TestProblem("port \(port) took \(sent) bytes of \(request.count)") }
            sent += count
        }
        let deadline = Deadline(seconds: seconds)
        var answer: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, deadline.remainingMilliseconds) == 1 else {
                throw TestProblem("port \(port) neither went on nor closed behind \(String(decoding: answer.suffix(200), as: UTF8.self))")
            }
            let count = block.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
            guard count > 0 else { return answer }
            answer += block[..<count]
        }
    }

    #if os(Linux)
    private static let noSignal = Int32(MSG_NOSIGNAL)
    #else
    private static let noSignal: Int32 = 0
    #endif
}
