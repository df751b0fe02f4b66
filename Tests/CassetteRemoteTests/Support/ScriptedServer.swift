import Dispatch
import Platform
import TapeBytes
import TapeTestSupport

/// A server that reads the head of each request and answers with bytes that a test has written, one answer for each connection.
///
/// The last answer is repeated. Closes each connection after its answer.
final class ScriptedServer: Sendable {
    let port: UInt16
    private let listener: Int32
    private let heads = Guarded<[String]>([])

    /// The heads of the requests so far.
    var requests: [String] { self.heads.withLock { $0 } }

    /// - Parameter answers: each in pieces; an endless one repeats its last piece until the client leaves.
    init(_ answers: [(pieces: [String], isEndless: Bool)]) throws {
        let listener = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // SAFETY: sockaddr_in is a sockaddr of the family AF_INET.
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                var length = size
                return bind(listener, pointer, size) == 0 && listen(listener, 16) == 0 && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else { throw TestProblem("the server cannot listen") }
        self.port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        let heads = self.heads
        let isStarted = DedicatedThread.start {
            defer { close(listener) }
            var next = 0
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                heads.withLock { $0.append(Self.readHead(connection)) }
                let answer = answers[min(next, answers.count - 1)]
                next += 1
                Self.write(answer.pieces.joined(), to: connection)
                if answer.isEndless, let last = answer.pieces.last { while Self.write(last, to: connection) {} }
                close(connection)
            }
        }
        guard isStarted else { throw TestProblem("no thread for the server") }
    }

    // The thread closes it: otherwise, its number could be another server's already.
    deinit { shutdown(self.listener, Int32(2)) }

    private static func readHead(_ connection: Int32) -> String {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]), read(connection, &byte, 1) == 1 { bytes.append(byte) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @discardableResult
    private static func write(_ text: String, to connection: Int32) -> Bool {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            // MSG_NOSIGNAL: a client that has left must not end the tests.
            let count = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, Int32(0x4000)) }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
