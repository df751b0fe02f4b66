extension RawOrigin {
    /// An origin that answers everything on its first connection with 1, on its second with 2, and so on, until the peer closes.
    static func numbered(_ count: Int) throws -> RawOrigin {
        let scripts = (1...count).map { number -> Script in
            { connection in
                while let head = try? connection.read(through: "\r\n\r\n"), !head.isEmpty {
                    let body = "\(number)"
                    try connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                }
            }
        }
        return try RawOrigin(scripts: scripts)
    }
}
