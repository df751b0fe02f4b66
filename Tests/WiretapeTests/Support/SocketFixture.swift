import CassetteModel
import Foundation
import TapeTestSupport
@testable import Wiretape

/// Cassettes with WebSockets, as users write them by hand.
enum SocketFixture {
    static let url = "wss://pets.test/talk"

    /// A WebSocket from the lines of its messages.
    static func socket(
        id: Int = 1, url: String = "https://pets.test/talk", protocol chosen: String? = nil, outcome: String? = nil, _ messages: String...
    ) -> String {
        let subprotocol = chosen.map { ", \"Sec-WebSocket-Protocol: \($0)\"" } ?? ""
        return """
            {
              "id": \(id),
              "started": "2026-11-21T04:19:\(String(format: "%02d", id)).000000Z",
              "request": {
                "method": "GET", "url": "\(url)", "version": "HTTP/1.1",
                "headers": ["Host: pets.test", "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"\(subprotocol)]
              },
              "response": {
                "status": 101, "reason": "Switching Protocols", "version": "HTTP/1.1",
                "headers": ["Upgrade: websocket", "Connection: Upgrade"\(subprotocol)]
              },
              "webSocket": [\(messages.joined(separator: ",\n    "))],
              \(outcome.map { "\"outcome\": \($0), " } ?? "")"timing": { "send": 0, "wait": 0, "total": 1000 }
            }
            """
    }

    /// An opening request that was answered with a status.
    static func refusal(_ id: Int = 1, status: Int, body: String) -> String {
        """
        {
          "id": \(id),
          "started": "2026-11-21T04:19:\(String(format: "%02d", id)).000000Z",
          "request": { "method": "GET", "url": "https://pets.test/talk", "version": "HTTP/1.1", "headers": ["Upgrade: websocket"] },
          "response": {
            "status": \(status), "reason": "No", "version": "HTTP/1.1", "headers": ["Content-Type: text/plain"],
            "body": { "size": \(body.utf8.count), "text": "\(body)" }
          },
          "timing": { "total": 10 }
        }
        """
    }

    static func cassette(
        _ interactions: [String], in folder: TemporaryFolder, settings: Cassette.Settings = Cassette.Settings()
    ) throws -> Cassette {
        let path = folder.file("sockets.json")
        let text = "{\n\"wiretape\": 2, \"recorder\": \"by hand\",\n\"interactions\": [\n\(interactions.joined(separator: ",\n"))\n]}\n"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return try Cassette(path, settings: settings)
    }
}

extension HTTPSession.WebSocket {
    /// The texts of the messages up to the close, and the code.
    func rest() async throws -> [String] {
        var lines: [String] = []
        for try await message in self.messages { lines.append(message.text ?? "\(message.data.count) bytes") }
        return lines + ["close \(self.closeCode.map { "\($0)" } ?? "without a code")"]
    }
}

/// The error that an operation throws.
func socketError(_ operation: () async throws -> Void) async -> WiretapeError? {
    do {
        try await operation()
        return nil
    } catch {
        return error as? WiretapeError
    }
}
