import Foundation
import TapeBytes
import TapeTestSupport
@testable import CassetteFormat
@testable import CassetteModel
@testable import CassetteStore

/// Conversations and their messages as text.
enum ConversationFixtures {
    static func head(_ id: Int, url: String = "http://pets.test/talk") -> Interaction {
        Interaction(
            id: id, started: Timestamp(microseconds: 1_795_262_400_000_000 + Int64(id)),
            request: RecordedRequest(method: "GET", url: url, headers: HeaderFields(["Host: pets.test", "Upgrade: websocket"])),
            response: RecordedResponse(
                status: 101, reason: Array("Switching Protocols".utf8), headers: HeaderFields(["Upgrade: websocket"])))
    }

    static func text(_ interaction: Interaction) -> [UInt8] { OpenConversation.text(of: interaction) }

    static func line(_ number: Int, padding: Int = 0) -> [UInt8] {
        let words = ["plain", "\\\"quoted\\\" ]}", "이름", "\\\\", "\\n    {\\n", "🐈"]
        let text = words[number % words.count] + String(repeating: "x", count: padding)
        return Array("{ \"at\": \(number), \"from\": \"\(number % 2 == 0 ? "client" : "server")\", \"text\": \"\(text)\" }\n".utf8)
    }

    static func lines(_ numbers: Range<Int>, padding: Int = 0) -> [UInt8] { numbers.flatMap { self.line($0, padding: padding) } }

    /// The messages of an exchange by their `at`, wherever they are stored; nil if one is not a message.
    static func messages(_ interaction: Interaction, beside path: String) throws -> [Int]? {
        let sidecar: Sidecar
        switch interaction.webSocket {
        case nil: return nil
        case .inline(let messages)?: return messages.map { Int($0.at) }
        case .file(let file, _)?: sidecar = file
        }
        let bytes = try BodyReader(cassettePath: path).read(sidecar, digest: PortableSHA256())
        return try bytes.split(separator: 0x0a).map { Array($0) }.compactMap { try JSONDocument($0).root["at"]?.int }
    }
}

extension TemporaryFolder {
    /// Copies all files in their current state to another folder.
    func copy(to path: String) throws {
        try? FileManager.default.removeItem(atPath: path)
        try FileManager.default.copyItem(atPath: self.path, toPath: path)
    }
}

extension BodyStore {
    func makeJournal(_ id: Int, _ path: String) throws -> ConversationJournal {
        try self.makeJournal(
            id: id, head: ConversationFixtures.text(ConversationFixtures.head(id)), form: .webSocket, cassettePath: path,
            digest: PortableSHA256())
    }
}
