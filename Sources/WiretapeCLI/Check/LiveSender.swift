internal import TapeTLS

/// Sends requests through a proxy of this process, one at a time, and reads each answer to its end; what it was is the recorder's business.
struct LiveSender {
    private static let blockSize = 64 << 10
    /// Of the answer to a CONNECT.
    private static let headLimit = 64 << 10

    let port: Int
    let seconds: Int

    func send(_ request: LiveRequest) throws {
        let socket = try LiveSocket(port: self.port, seconds: self.seconds)
        guard request.isSecure else {
            try socket.send(request.octets)
            return try Self.drain(socket)
        }
        try socket.send(Array("CONNECT \(request.authority) HTTP/1.1\r\nHost: \(request.authority)\r\n\r\n".utf8))
        try self.awaitTunnel(socket)
        try self.sendThroughTLS(request, socket)
    }

    private static func drain(_ socket: borrowing LiveSocket) throws {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: self.blockSize, alignment: 16)
        defer { block.deallocate() }
        while try socket.receive(into: block) > 0 {}
    }

    /// Octet by octet, so that none of what follows the head is taken.
    private func awaitTunnel(_ socket: borrowing LiveSocket) throws {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 1, alignment: 1)
        defer { block.deallocate() }
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard head.count < Self.headLimit, try socket.receive(into: block) == 1 else {
                throw LiveSocket.Failure(message: "no tunnel to the origin")
            }
            head.append(block[0])
        }
        guard head.starts(with: "HTTP/1.1 200".utf8) else {
            let line = String(decoding: head.prefix { $0 != 13 }, as: UTF8.self)
            throw LiveSocket.Failure(message: "no tunnel to the origin (\(line))")
        }
    }

    /// The other end is this process: what it shows needs no proof. The origin's certificate is judged by the proxy.
    private func sendThroughTLS(_ request: LiveRequest, _ socket: borrowing LiveSocket) throws {
        let context = try TLSClientContext(trustsSystem: false)
        let isName = request.host.contains { $0.isLetter } && !request.host.contains(":")
        let peer = TLSPeer(
            host: request.host, serverName: isName ? request.host : nil, protocols: ["http/1.1"], policy: .disabled)
        var connection = try TLSConnection(client: context, peer: peer)
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
        defer { block.deallocate() }
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.blockSize, alignment: 16)
        defer { room.deallocate() }
        var input = 0
        var isSent = false
        while true {
            let progress = connection.receive(UnsafeRawBufferPointer(rebasing: block[..<input])) { least, fill in
                if least <= room.count { return _ = fill(room) }
                let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: least, alignment: 16)
                defer { larger.deallocate() }
                _ = fill(larger)
            }
            if connection.isEstablished, !isSent {
                isSent = true
                var ciphertext: [UInt8] = []
                try Self.encrypt(request.octets, &connection, into: &ciphertext)
                try socket.send(ciphertext)
            }
            try socket.send(connection.takeOutput { Array($0) })
            switch progress {
            case .needsInput, .hello: break
            case .ended: return
            case .failed(let failure):
                if isSent, input == 0 { return }
                throw failure
            }
            input = try socket.receive(into: block)
            guard input > 0 else { return }
        }
    }

    private static func encrypt(_ octets: [UInt8], _ connection: inout TLSConnection, into ciphertext: inout [UInt8]) throws {
        var output = connection.takeOutput { Array($0) }
        let result = octets.withUnsafeBytes { octets -> Result<Void, TLSFailure> in
            do throws(TLSFailure) {
                try connection.send(octets) { wanted, fill in
                    let space = UnsafeMutableRawBufferPointer.allocate(byteCount: wanted, alignment: 16)
                    defer { space.deallocate() }
                    output += space.prefix(fill(space))
                }
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        ciphertext += output
        try result.get()
    }
}
