@testable import TapeTLS

/// The first message of a client, for tests that send it piece by piece.
enum RecordedHello {
    static func bytes(_ client: TLSClient, serverName: String? = "example.test", protocols: [String] = ["http/1.1"]) throws -> [UInt8] {
        var connection = try client.connection(serverName: serverName, protocols: protocols)
        _ = connection.receive(UnsafeRawBufferPointer(start: nil, count: 0)) { _, _ in }
        return connection.takeOutput { Array($0) }
    }
}
