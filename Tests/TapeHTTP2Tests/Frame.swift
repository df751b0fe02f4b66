import NIOCore
import TapeHTTP2

/// Frames written by hand, as an attacker would write them.
enum Frame {
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    static func make(_ type: UInt8, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: [UInt8] = []) -> [UInt8] {
        let length = payload.count
        return [UInt8(length >> 16), UInt8(length >> 8 & 0xff), UInt8(length & 0xff), type, flags]
            + (0..<4).map { UInt8(stream >> (24 - 8 * $0) & 0xff) } + payload
    }

    static let settings = make(4)
    /// GET https://a/ with the static table and literals (RFC 7541).
    static func headers(_ stream: UInt32, ends: Bool = true, _ more: [UInt8] = []) -> [UInt8] {
        make(1, flags: ends ? 5 : 4, stream: stream, [0x82, 0x87, 0x84, 0x41, 0x01, UInt8(ascii: "a")] + more)
    }

    static func literal(_ name: String, _ value: String) -> [UInt8] {
        [0x00, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(value.utf8.count)] + Array(value.utf8)
    }

    /// The code of the connection's final GOAWAY, and the codes of its resets by stream.
    static func ends(_ connection: HTTP2Connection) throws -> (goAway: UInt8?, resets: [UInt8: UInt8]) {
        var bytes = try connection.takeOutput().bytes
        var goAway: UInt8?
        var resets: [UInt8: UInt8] = [:]
        while let header = bytes.readBytes(length: 9) {
            let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
            guard let payload = bytes.readBytes(length: length) else { break }
            if header[3] == 7 { goAway = payload[7] }
            if header[3] == 3 { resets[header[8]] = payload[3] }
        }
        return (goAway, resets)
    }
}
